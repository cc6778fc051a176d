package petri_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/policy/petri"
)

// A test for each thing that the library does from which nets over tools came.

func compile(t testing.TB, d petri.Definition) *petri.Net {
	t.Helper()
	n, err := petri.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func newSet(t testing.TB, defs ...petri.Definition) *petri.Set {
	t.Helper()
	var nets []*petri.Net
	for _, d := range defs {
		nets = append(nets, compile(t, d))
	}
	s, err := petri.NewSet(nets...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func toolApproval() petri.Definition {
	return petri.Definition{
		Name: "tool-approval", Places: []string{"idle", "ready"}, FreeTools: []string{"ls", "read", "grep", "find"},
		InitialMarking: map[string]int{"idle": 1},
		Transitions: []petri.Transition{
			{Name: "start", Inputs: []string{"idle"}, Outputs: []string{"ready"}},
			{Name: "execShell", Manual: true, Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: []string{"bash"}},
			{Name: "execWrite", Manual: true, Operator: true, Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: []string{"write", "edit"}},
		},
	}
}

func backupNet() petri.Definition {
	return petri.Definition{
		Name: "backups", Places: []string{"ready", "backedUp"}, InitialMarking: map[string]int{"ready": 1},
		Transitions: []petri.Transition{
			{Name: "backup", Inputs: []string{"ready"}, Outputs: []string{"ready", "backedUp"}, Tools: []string{"backup"}, Deferred: true},
			{Name: "delete", Inputs: []string{"ready", "backedUp"}, Outputs: []string{"ready"}, Tools: []string{"delete"}},
		},
	}
}

func commitPush() petri.Definition {
	return petri.Definition{
		Name: "git", Places: []string{"working", "committed"}, FreeTools: []string{"bash"}, InitialMarking: map[string]int{"working": 1},
		Transitions: []petri.Transition{
			{Name: "commit", Manual: true, Inputs: []string{"working"}, Outputs: []string{"committed"}, Tools: []string{"git-commit"}},
			{Name: "push", Manual: true, Inputs: []string{"committed"}, Outputs: []string{"working"}, Tools: []string{"git-push"}},
		},
	}
}

// session keeps markings the way a caller would.
type session struct {
	t        testing.TB
	set      *petri.Set
	markings []petri.Marking
	inactive map[int]bool
	pending  []petri.Pending
}

func newSession(t testing.TB, defs ...petri.Definition) *session {
	s := &session{t: t, set: newSet(t, defs...), inactive: map[int]bool{}}
	for i := range s.set.Len() {
		s.markings = append(s.markings, s.set.Net(i).Initial())
	}
	return s
}

func (s *session) view(i int) (petri.Marking, bool) { return s.markings[i], !s.inactive[i] }

func (s *session) plan(names ...string) *petri.Plan {
	s.t.Helper()
	p, err := s.set.Plan(petri.Call{ID: names[0], Names: names}, s.view)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *session) commit(p *petri.Plan) error {
	c, err := p.Commit(s.view, petri.OperatorApproval)
	s.store(c)
	return err
}

func (s *session) store(c petri.Change) {
	for _, n := range c.Nets {
		s.markings[n.Net] = n.After
	}
	s.pending = append(s.pending, c.Pending...)
}

func (s *session) call(names ...string) error { s.t.Helper(); return s.commit(s.plan(names...)) }

func (s *session) result(id string, o petri.Outcome) petri.Change {
	s.t.Helper()
	var mine []petri.Pending
	s.pending = slices.DeleteFunc(s.pending, func(e petri.Pending) bool {
		if e.ID == id {
			mine = append(mine, e)
		}
		return e.ID == id
	})
	c, err := s.set.Settle(mine, o, s.view)
	if err != nil {
		s.t.Fatal(err)
	}
	s.store(c)
	return c
}

func (s *session) want(net int, marking string) {
	s.t.Helper()
	if got := s.set.Net(net).Format(s.markings[net]); got != marking {
		s.t.Errorf("marking %q, want %q", got, marking)
	}
}

func wantVerdict(t *testing.T, p *petri.Plan, v petri.Verdict) {
	t.Helper()
	if p.Verdict() != v {
		t.Errorf("%v, want %v: %+v", p.Verdict(), v, p.Opinions)
	}
}

func TestSeedNetDefinition(t *testing.T) {
	n := compile(t, toolApproval())
	if n.Name() != "tool-approval" || n.Transitions() != 3 || !slices.Equal(n.Places(), []string{"idle", "ready"}) {
		t.Error(n.Name(), n.Transitions(), n.Places())
	}
}

func TestSeedAutoFiresAtOnce(t *testing.T) {
	s := newSession(t, petri.Definition{Name: "n", Places: []string{"a", "b"}, InitialMarking: map[string]int{"a": 1},
		Transitions: []petri.Transition{{Name: "go", Inputs: []string{"a"}, Outputs: []string{"b"}, Tools: []string{"go"}}}})
	p := s.plan("go")
	if p.Approval() != petri.NoApproval {
		t.Error(p.Approval())
	}
	if err := s.commit(p); err != nil {
		t.Error(err)
	}
	s.want(0, "a:0, b:1")
}

func TestSeedManualNeedsApproval(t *testing.T) {
	s := newSession(t, toolApproval())
	for tool, want := range map[string]petri.Approval{"bash": petri.AnyApproval, "write": petri.OperatorApproval, "ls": petri.NoApproval} {
		p := s.plan(tool)
		if p.Approval() != want {
			t.Errorf("%s: %v", tool, p.Approval())
		}
		for _, has := range []petri.Approval{petri.NoApproval, petri.AnyApproval, petri.OperatorApproval} {
			c, err := p.Commit(s.view, has)
			if (err == nil) != (has >= want) || err != nil && (!errors.Is(err, petri.ErrNotApproved) || !c.Empty()) {
				t.Errorf("%s with %v: %v", tool, has, err)
			}
		}
	}
}

func TestSeedFreeTools(t *testing.T) {
	s := newSession(t, toolApproval())
	p := s.plan("grep")
	wantVerdict(t, p, petri.Free)
	if !p.Grants() {
		t.Error("a free tool is granted")
	}
	d := toolApproval()
	d.FreeTools = []string{"bash"} // free outranks the transition
	p = newSession(t, d).plan("bash")
	wantVerdict(t, p, petri.Free)
}

// The mapping itself is the caller's; the net gets its result.
func TestSeedToolMappingByInput(t *testing.T) {
	s := newSession(t, commitPush())
	wantVerdict(t, s.plan("bash"), petri.Free)
	wantVerdict(t, s.plan("git-push"), petri.Blocked)
	wantVerdict(t, s.plan("git-commit"), petri.Gated)
	if err := s.call("git-commit", "git-push"); err != nil { // in order, as one step
		t.Error(err)
	}
	s.want(0, "working:1, committed:0")
	if err := s.call("git-push", "git-commit"); !errors.Is(err, petri.ErrNotAllowed) {
		t.Error(err)
	}
	s.want(0, "working:1, committed:0")
}

func TestSeedDeferredSuccess(t *testing.T) {
	s := newSession(t, backupNet())
	if err := s.call("backup"); err != nil {
		t.Fatal(err)
	}
	s.want(0, "ready:1, backedUp:0")
	wantVerdict(t, s.plan("delete"), petri.Blocked)
	s.result("backup", petri.Success)
	s.want(0, "ready:1, backedUp:1")
	if c := s.result("backup", petri.Success); !c.Empty() { // again: nothing
		t.Error(c)
	}
	s.want(0, "ready:1, backedUp:1")
	if err := s.call("delete"); err != nil {
		t.Error(err)
	}
}

func TestSeedDeferredFailure(t *testing.T) {
	s := newSession(t, backupNet())
	_ = s.call("backup")
	s.result("backup", petri.Failure)
	s.want(0, "ready:1, backedUp:0")
	s.result("backup", petri.Success) // too late
	s.want(0, "ready:1, backedUp:0")
}

func TestSeedSemanticValidation(t *testing.T) {
	s := newSession(t, backupNet())
	_ = s.call("backup")
	s.result("backup", petri.Success)
	asked := 0
	guard := func(q petri.Question) petri.Ruling {
		asked++
		if q.Name != "delete" || s.set.Net(q.Net).Transition(q.Transition).Name != "delete" || s.set.Net(q.Net).Tokens(q.Marking)["backedUp"] != 1 {
			t.Errorf("%+v", q)
		}
		return petri.Ruling{Reason: "Target '/b' not backed up"}
	}
	p, _ := s.set.Plan(petri.Call{Names: []string{"delete"}, Guard: guard}, s.view)
	wantVerdict(t, p, petri.Blocked)
	if asked != 1 || p.Opinions[0].Steps[0].Reason != "Target '/b' not backed up" {
		t.Error(asked, p.Opinions)
	}
	if err := s.commit(p); !errors.Is(err, petri.ErrNotAllowed) {
		t.Error(err)
	}
	s.want(0, "ready:1, backedUp:1")

	broken := errors.New("broken")
	p, _ = s.set.Plan(petri.Call{Names: []string{"delete"}, Guard: func(petri.Question) petri.Ruling { return petri.Ruling{Pass: true, Err: broken} }}, s.view)
	wantVerdict(t, p, petri.Failed)
	if !errors.Is(p.Opinions[0].Steps[0].Err, broken) {
		t.Error(p.Opinions)
	}
}

// What is recorded, and when, follows from what fired.
func TestSeedRecordedMetadata(t *testing.T) {
	s := newSession(t, backupNet())
	c, err := s.plan("backup").Commit(s.view, petri.NoApproval)
	if err != nil || len(c.Nets) != 0 || len(c.Pending) != 1 {
		t.Fatal(c, err)
	}
	s.store(c)
	c = s.result("backup", petri.Success)
	if len(c.Nets) != 1 || !slices.Equal(c.Nets[0].Fired, []petri.Firing{{Transition: 0, Name: "backup"}}) {
		t.Error(c)
	}
}

func TestSeedSingleNet(t *testing.T) {
	n := compile(t, toolApproval())
	if s := n.Classify(n.Initial(), "bash"); s.Verdict != petri.Gated || s.Transition != 1 {
		t.Error(s)
	}
	if _, err := n.Fire(n.Initial(), 0); !errors.Is(err, petri.ErrNotEnabled) {
		t.Error(err)
	}
}

func TestSeedSeveralNets(t *testing.T) {
	s := newSession(t, toolApproval(), petri.Definition{Name: "once", Places: []string{"left"}, InitialMarking: map[string]int{"left": 1},
		Transitions: []petri.Transition{{Name: "bash", Inputs: []string{"left"}, Tools: []string{"bash"}}}})
	if err := s.call("bash"); err != nil {
		t.Fatal(err)
	}
	p := s.plan("bash")
	wantVerdict(t, p, petri.Blocked)
	if p.Opinions[0].Verdict != petri.Gated || p.Opinions[1].Verdict != petri.Blocked {
		t.Error(p.Opinions)
	}
}

func TestSeedAddAndRemoveKeepsState(t *testing.T) {
	s := newSession(t, backupNet(), commitPush())
	_ = s.call("git-commit")
	s.inactive[1] = true
	wantVerdict(t, s.plan("git-commit"), petri.Abstain)
	s.want(1, "working:0, committed:1")
	s.inactive[1] = false
	wantVerdict(t, s.plan("git-push"), petri.Gated)
}

func TestSeedFourVerdictsAndComposition(t *testing.T) {
	net := func(name string, free bool, tool string, tokens int) petri.Definition {
		d := petri.Definition{Name: name, Places: []string{"p"}, InitialMarking: map[string]int{"p": tokens},
			Transitions: []petri.Transition{{Name: "t", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: []string{tool}}}}
		if free {
			d.FreeTools = []string{"x"}
		}
		return d
	}
	free, abstain, gated, blocked := net("free", true, "y", 1), net("abstain", false, "y", 1), net("gated", false, "x", 1), net("blocked", false, "x", 0)
	for _, c := range []struct {
		nets   []petri.Definition
		want   petri.Verdict
		grants bool
	}{
		{[]petri.Definition{free}, petri.Free, true},
		{[]petri.Definition{abstain}, petri.Abstain, false},
		{[]petri.Definition{gated}, petri.Gated, true},
		{[]petri.Definition{blocked}, petri.Blocked, false},
		{[]petri.Definition{free, abstain}, petri.Free, true},
		{[]petri.Definition{free, gated, abstain}, petri.Gated, true},
		{[]petri.Definition{free, gated, blocked}, petri.Blocked, false},
	} {
		p := newSession(t, c.nets...).plan("x")
		wantVerdict(t, p, c.want)
		if p.Grants() != c.grants {
			t.Errorf("%v grants: %v", p.Opinions, p.Grants())
		}
	}
	gated.Restricts = true
	if newSession(t, gated).plan("x").Grants() {
		t.Error("a net that restricts granted")
	}
	// A yes for one name is not a yes for another.
	if newSession(t, free).plan("x", "unknown").Grants() {
		t.Error("an unknown name was granted along")
	}
}

func TestSeedStatusText(t *testing.T) {
	n := compile(t, toolApproval())
	if got := n.Status(n.Initial(), true); got != "tool-approval (active): idle:0, ready:1" {
		t.Error(got)
	}
	if got := n.Status(n.Initial(), false); got != "tool-approval (inactive): idle:0, ready:1" {
		t.Error(got)
	}
}

// What a prompt needs: what is available, what is not and what would unlock it.
func TestSeedSystemPrompt(t *testing.T) {
	n := compile(t, backupNet())
	var lines []string
	for _, tool := range n.Tools() {
		s := n.Classify(n.Initial(), tool)
		lines = append(lines, tool+" "+s.Verdict.String()+" "+s.Reason)
	}
	if got := strings.Join(lines, "\n"); got != "backup gated \ndelete blocked delete requires a successful call to backup first." {
		t.Error(got)
	}
}

func TestSeedStructuralAdvance(t *testing.T) {
	n := compile(t, toolApproval())
	m, err := n.MarkingOf(map[string]int{"idle": 1})
	if err != nil {
		t.Fatal(err)
	}
	after, err := n.Advance(m)
	if err != nil || n.Format(after) != "idle:0, ready:1" || after != n.Initial() || n.Format(m) != "idle:1, ready:0" {
		t.Error(n.Format(after), err)
	}
}

func TestSeedMarkingFormat(t *testing.T) {
	n := compile(t, commitPush())
	if got := n.Format(n.Initial()); got != "working:1, committed:0" {
		t.Error(got)
	}
}

func TestSeedEnabledTransitions(t *testing.T) {
	n := compile(t, backupNet())
	if got := n.Enabled(n.Initial()); !slices.Equal(got, []int{0}) {
		t.Error(got)
	}
	if got := n.EnabledTools(n.Initial()); !slices.Equal(got, []string{"backup"}) {
		t.Error(got)
	}
}

func TestSeedResolvedTool(t *testing.T) {
	s := newSession(t, commitPush())
	p := s.plan("bash", "git-commit")
	if steps := p.Opinions[0].Steps; steps[0].Name != "bash" || steps[1].Name != "git-commit" || steps[1].Verdict != petri.Gated {
		t.Error(steps)
	}
}

func TestSeedNoSecondSpendingWhileAsked(t *testing.T) {
	s := newSession(t, commitPush(), petri.Definition{Name: "log", Places: []string{"n"},
		Transitions: []petri.Transition{{Name: "t", Outputs: []string{"n"}, Tools: []string{"git-commit"}}}})
	first, second := s.plan("git-commit"), s.plan("git-commit")
	if err := s.commit(first); err != nil {
		t.Fatal(err)
	}
	if err := s.commit(second); !errors.Is(err, petri.ErrStateChanged) {
		t.Error(err)
	}
	s.want(0, "working:0, committed:1")
	s.want(1, "n:1") // all or nothing: the other net did not fire either
}

// In shadow mode the caller commits as if everything were approved, and what
// would be blocked fires nothing.
func TestSeedShadowMode(t *testing.T) {
	s := newSession(t, commitPush())
	if err := s.call("git-push"); !errors.Is(err, petri.ErrNotAllowed) {
		t.Error(err)
	}
	s.want(0, "working:1, committed:0")
	if err := s.call("git-commit"); err != nil {
		t.Error(err)
	}
	s.want(0, "working:0, committed:1")
}

func TestSeedReplayOfHistory(t *testing.T) {
	history := func() string {
		s := newSession(t, backupNet(), commitPush())
		for _, step := range []string{"git-commit", "backup", "+backup", "git-push", "delete", "delete", "backup", "-backup", "git-commit"} {
			switch step[0] {
			case '+':
				s.result(step[1:], petri.Success)
			case '-':
				s.result(step[1:], petri.Failure)
			default:
				_ = s.call(step)
			}
		}
		return s.set.Net(0).Format(s.markings[0]) + "; " + s.set.Net(1).Format(s.markings[1])
	}
	first := history()
	if first != "ready:1, backedUp:0; working:0, committed:1" || history() != first {
		t.Error(first, history())
	}
}
