package petri_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/policy/petri"
)

func TestCompileNamesEveryMistake(t *testing.T) {
	_, err := petri.Compile(petri.Definition{
		Name: "bad", Places: []string{"a", "", "a", "b"}, TerminalPlaces: []string{"z", "b", "b"},
		FreeTools: []string{"", "ls", "ls"}, InitialMarking: map[string]int{"a": -1, "b": petri.MaxTokens + 1, "y": 1},
		Transitions: []petri.Transition{
			{Name: "t", Inputs: []string{"x"}, Outputs: []string{"a", "w"}, Read: []string{"v", "a", "a"}, Inhibit: []string{"u"}, Reset: []string{"s"}, Tools: []string{"", "x", "x"}},
			{Name: "t", Operator: true, Reserve: true, Tools: []string{"x"}},
			{Manual: true, Deferred: true},
		},
	})
	var ms petri.Mistakes
	if !errors.As(err, &ms) {
		t.Fatal(err)
	}
	want := strings.TrimSpace(`
places[1]: a place needs a name
places[2]: "a" is already places[0]
terminalPlaces[0]: there is no place "z": add it to places, or correct the name
terminalPlaces[2]: "b" is named twice; once is enough
freeTools[0]: a tool needs a name
freeTools[2]: "ls" is named twice; once is enough
initialMarking.a: -1 tokens; a place holds 0 to 1000000000
initialMarking.b: 1000000001 tokens; a place holds 0 to 1000000000
initialMarking.y: there is no place "y": add it to places, or correct the name
transitions[0].inputs[0]: there is no place "x": add it to places, or correct the name
transitions[0].outputs[1]: there is no place "w": add it to places, or correct the name
transitions[0].read[0]: there is no place "v": add it to places, or correct the name
transitions[0].read[2]: "a" is named twice; once is enough
transitions[0].inhibit[0]: there is no place "u": add it to places, or correct the name
transitions[0].reset[0]: there is no place "s": add it to places, or correct the name
transitions[0].tools[0]: a tool needs a name
transitions[0].tools[2]: "x" is named twice; once is enough
transitions[1].name: "t" is already transitions[0]
transitions[1]: the approval of an operator needs a manual transition
transitions[1]: reserve needs deferred: only a result gives the tokens back or spends them
transitions[2].name: a transition needs a name
transitions[2].tools: a manual transition needs tools: nothing else would ask for it
transitions[2].tools: a deferred transition needs tools: nothing else has a result`)
	if got := ms.Error(); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestCompileLimits(t *testing.T) {
	places := make([]string, petri.MaxPlaces+1)
	for i := range places {
		places[i] = fmt.Sprint(i)
	}
	for path, d := range map[string]petri.Definition{
		"places":                {Places: places},
		"transitions":           {Transitions: make([]petri.Transition, petri.MaxTransitions+1)},
		"transitions[0].inputs": {Places: []string{"p"}, Transitions: []petri.Transition{{Name: "t", Inputs: make([]string, petri.MaxArcs+1)}}},
	} {
		var ms petri.Mistakes
		if _, err := petri.Compile(d); !errors.As(err, &ms) || ms[0].Path != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	many := petri.Definition{Transitions: make([]petri.Transition, 500)}
	var ms petri.Mistakes
	if _, err := petri.Compile(many); !errors.As(err, &ms) || len(ms) != petri.MaxIssues+1 {
		t.Error(len(ms))
	}
	if n, err := petri.Compile(petri.Definition{}); err != nil || n.Classify(n.Initial(), "x").Verdict != petri.Abstain {
		t.Error("the zero definition has no opinion", err)
	}
}

func TestArcs(t *testing.T) {
	n := compile(t, petri.Definition{Name: "n", Places: []string{"a", "b", "c"}, InitialMarking: map[string]int{"a": 2},
		Transitions: []petri.Transition{
			{Name: "multi", Inputs: []string{"a", "a"}, Outputs: []string{"b", "b", "b"}, Tools: []string{"multi"}},
			{Name: "read", Read: []string{"b"}, Outputs: []string{"c"}, Tools: []string{"read"}},
			{Name: "inhibit", Inhibit: []string{"c"}, Outputs: []string{"c"}, Tools: []string{"inhibit"}},
			{Name: "reset", Reset: []string{"b"}, Outputs: []string{"b"}, Tools: []string{"reset"}},
		}})
	m := n.Initial()
	for _, step := range []struct{ fire, want string }{
		{"read", ""}, {"multi", "a:0, b:3, c:0"}, {"multi", ""}, {"read", "a:0, b:3, c:1"}, {"inhibit", ""}, {"reset", "a:0, b:1, c:1"},
	} {
		i, _ := n.TransitionIndex(step.fire)
		next, err := n.Fire(m, i)
		if got := n.Format(next); got != step.want || (err != nil) != (step.want == "") {
			t.Errorf("%s: %q, %v", step.fire, got, err)
		}
		if err == nil {
			m = next
		}
	}
}

func TestOverflowIsAnError(t *testing.T) {
	d := petri.Definition{Name: "n", Places: []string{"p"}, InitialMarking: map[string]int{"p": petri.MaxTokens},
		Transitions: []petri.Transition{{Name: "t", Outputs: []string{"p"}, Tools: []string{"t"}}}}
	s := newSession(t, d)
	if _, err := s.set.Net(0).Fire(s.markings[0], 0); !errors.Is(err, petri.ErrOverflow) {
		t.Error(err)
	}
	p := s.plan("t", "t")
	wantVerdict(t, p, petri.Failed)
	if !errors.Is(p.Opinions[0].Steps[0].Err, petri.ErrOverflow) {
		t.Error(p.Opinions)
	}
	s.want(0, "p:1000000000")
	d.Transitions[0].Tools = nil
	var ms petri.Mistakes
	if _, err := petri.Compile(d); !errors.As(err, &ms) || ms[0].Path != "initialMarking" {
		t.Error(err)
	}
}

func TestStructuralRounds(t *testing.T) {
	tr := func(name, in, out string) petri.Transition {
		return petri.Transition{Name: name, Inputs: strings.Fields(in), Outputs: strings.Fields(out)}
	}
	for _, c := range []struct {
		name, marking string
		ts            []petri.Transition
		want          string
	}{
		{"together", "a b", []petri.Transition{tr("1", "a", "c"), tr("2", "b", "d")}, "a:0, b:0, c:1, d:1"},
		{"chain", "a", []petri.Transition{tr("1", "a", "b"), tr("2", "b", "c"), tr("3", "c", "d")}, "a:0, b:0, c:0, d:1"},
		{"conflict", "a", []petri.Transition{tr("1", "a", "b"), tr("2", "a", "c")}, "a:1, b:0, c:0, d:0"},
		{"enough for both", "a a", []petri.Transition{tr("1", "a", "b"), tr("2", "a", "c")}, "a:0, b:1, c:1, d:0"},
		{"three on two tokens", "a a", []petri.Transition{tr("1", "a", "b"), tr("2", "a", "c"), tr("3", "a", "d")}, "a:2, b:0, c:0, d:0"},
		{"a loser elsewhere still disputes", "a b", []petri.Transition{tr("1", "a b", "c"), tr("2", "b", "d"), tr("3", "a", "d")}, "a:1, b:1, c:0, d:0"},
		{"others go on", "a d", []petri.Transition{tr("1", "a", "b"), tr("2", "a", "c"), tr("3", "d", "b")}, "a:1, b:1, c:0, d:0"},
		{"a cycle ends where it began", "a", []petri.Transition{tr("1", "a", "b"), tr("2", "b", "a")}, "a:1, b:0, c:0, d:0"},
		{"no end", "a", []petri.Transition{tr("1", "a", "a b")}, fmt.Sprintf("a:1, b:%d, c:0, d:0", petri.MaxRounds)},
	} {
		m := map[string]int{}
		for _, p := range strings.Fields(c.marking) {
			m[p]++
		}
		n := compile(t, petri.Definition{Name: "n", Places: []string{"a", "b", "c", "d"}, InitialMarking: m, Transitions: c.ts})
		if got := n.Format(n.Initial()); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestReserve(t *testing.T) {
	d := backupNet()
	d.Transitions[0].Reserve = true
	s := newSession(t, d)
	_ = s.call("backup")
	s.want(0, "ready:0, backedUp:0")
	p := s.plan("backup")
	wantVerdict(t, p, petri.Blocked)
	if got := p.Opinions[0].Steps[0].Reason; got != "backup has to wait for the result of a call to backup, which may hold the token in ready." {
		t.Error(got)
	}
	s.result("backup", petri.Failure)
	s.want(0, "ready:1, backedUp:0")
	_ = s.call("backup")
	s.result("backup", petri.Success)
	s.want(0, "ready:1, backedUp:1")
}

// A success whose transition is no longer enabled changes nothing but gives back
// what was reserved.
func TestLapsedReserveGivesBack(t *testing.T) {
	s := newSession(t, petri.Definition{Name: "n", Places: []string{"a", "lock", "done"}, InitialMarking: map[string]int{"a": 1},
		Transitions: []petri.Transition{
			{Name: "work", Inputs: []string{"a"}, Inhibit: []string{"lock"}, Outputs: []string{"done"}, Tools: []string{"work"}, Deferred: true, Reserve: true},
			{Name: "lock", Outputs: []string{"lock"}, Tools: []string{"lock"}},
		}})
	_ = s.call("work")
	_ = s.call("lock")
	c := s.result("work", petri.Success)
	s.want(0, "a:1, lock:1, done:0")
	if len(c.Lapsed) != 1 || len(c.Nets) != 1 || len(c.Nets[0].Fired) != 0 {
		t.Errorf("%+v", c)
	}
}

func TestReasons(t *testing.T) {
	in := func(names ...string) []string { return names }
	d := petri.Definition{Name: "n", Places: in("tested", "reviewed", "stage", "budget", "never", "frozen", "votes", "ended"),
		InitialMarking: map[string]int{"frozen": 1, "ended": 1},
		Transitions: []petri.Transition{
			{Name: "test", Outputs: in("tested"), Tools: in("test", "check"), Deferred: true},
			{Name: "review", Outputs: in("stage"), Tools: in("review")},
			{Name: "stage", Inputs: in("stage"), Outputs: in("reviewed")},
			{Name: "vote", Outputs: in("votes"), Tools: in("vote")},
			{Name: "thaw", Inputs: in("frozen"), Tools: in("thaw")},
			{Name: "deploy", Inputs: in("tested", "reviewed"), Tools: in("deploy")},
			{Name: "mkfs", Inputs: in("never"), Tools: in("mkfs")},
			{Name: "write", Inhibit: in("frozen"), Tools: in("write")},
			{Name: "late", Inhibit: in("ended"), Tools: in("late")},
			{Name: "merge", Inputs: in("votes", "votes", "votes"), Tools: in("merge")},
			{Name: "own", Inputs: in("never"), Tools: in("own"), Reason: "Ask somebody."},
			{Name: "either1", Inputs: in("tested"), Tools: in("either")},
			{Name: "either2", Read: in("votes"), Tools: in("either")},
		}}
	n := compile(t, d)
	for tool, want := range map[string]string{
		"deploy": "deploy requires a successful call to test or check and a call to review first.",
		"mkfs":   "mkfs is not allowed: no call puts a token in never.",
		"write":  "write has to wait until frozen is empty: a call to thaw takes from it.",
		"late":   "late is over: ended holds a token, and nothing takes it away.",
		"merge":  "merge requires 3 calls to vote first.",
		"own":    "Ask somebody.",
		"either": "either requires a successful call to test or check first. Or: either requires a call to vote first.",
	} {
		if got := n.Classify(n.Initial(), tool).Reason; got != want {
			t.Errorf("%s: %s", tool, got)
		}
	}
	limit := compile(t, petri.Definition{Name: "n", Places: in("budget"), InitialMarking: map[string]int{"budget": 1},
		Transitions: []petri.Transition{{Name: "push", Inputs: in("budget"), Tools: in("push")}}})
	m, _ := limit.Fire(limit.Initial(), 0)
	if got := limit.Classify(m, "push").Reason; got != "push is used up: the one token of budget is spent, and no call brings it back." {
		t.Error(got)
	}
	refill := compile(t, petri.Definition{Name: "n", Places: in("budget"),
		Transitions: []petri.Transition{{Name: "push", Inputs: in("budget"), Tools: in("push")},
			{Name: "test", Reset: in("budget"), Outputs: in("budget"), Tools: in("test"), Deferred: true}}})
	if got := refill.Classify(refill.Initial(), "push").Reason; got != "push requires a successful call to test first." {
		t.Error(got)
	}
}

func TestMarkings(t *testing.T) {
	n := compile(t, petri.Definition{Name: "n", Places: []string{"a", "b"}})
	var zero petri.Marking
	if !zero.IsZero() || n.Accepts(zero) || n.Tokens(zero) != nil || n.Format(zero) != "" {
		t.Error("the zero marking is one of no net")
	}
	if s := n.Classify(zero, "x"); s.Verdict != petri.Failed || !errors.Is(s.Err, petri.ErrMarking) {
		t.Error(s)
	}
	for _, k := range []int{0, 1, 255, 256, 65535, 65536, petri.MaxTokens} {
		m, err := n.MarkingOf(map[string]int{"b": k})
		if err != nil || n.Tokens(m)["b"] != k || n.Tokens(m)["a"] != 0 {
			t.Errorf("%d: %v, %v", k, n.Tokens(m), err)
		}
		data, _ := m.MarshalBinary()
		var again petri.Marking
		if err := again.UnmarshalBinary(data); err != nil || again != m {
			t.Errorf("%d: %v", k, err)
		}
	}
	for _, bad := range []string{"\x03abc", "\x02\x01", "\x02\x01\x00\x01\x00", "\x04\xff\xff\xff\xff", "\x00"} {
		var m petri.Marking
		if err := m.UnmarshalBinary([]byte(bad)); !errors.Is(err, petri.ErrMarking) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, bad := range []map[string]int{{"c": 1}, {"a": -1}, {"a": petri.MaxTokens + 1}} {
		if _, err := n.MarkingOf(bad); !errors.Is(err, petri.ErrMarking) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestPlanRefusesWhatItCantJudge(t *testing.T) {
	s := newSession(t, commitPush(), backupNet())
	if _, err := s.set.Plan(petri.Call{Names: make([]string, petri.MaxNames+1)}, s.view); !errors.Is(err, petri.ErrTooManyNames) {
		t.Error(err)
	}
	p, err := s.set.Plan(petri.Call{Names: []string{"delete"}}, func(int) (petri.Marking, bool) { return petri.Marking{}, true })
	if err != nil || p.Verdict() != petri.Failed || p.Grants() {
		t.Error(p, err)
	}
	if p, _ = s.set.Plan(petri.Call{}, s.view); p.Grants() || p.Verdict() != petri.Abstain {
		t.Error("a call without a name was granted")
	}
	if _, err := petri.NewSet(s.set.Net(0), s.set.Net(0)); err == nil {
		t.Error("two nets of one name")
	}
}

// A net that was switched on or off between plan and commit is a change of state.
func TestCommitSeesNetsComeAndGo(t *testing.T) {
	s := newSession(t, commitPush(), petri.Definition{Name: "other", Places: []string{"p"},
		Transitions: []petri.Transition{{Name: "t", Inputs: []string{"p"}, Tools: []string{"git-commit"}}}})
	s.inactive[1] = true
	p := s.plan("git-commit")
	s.inactive[1] = false
	if err := s.commit(p); !errors.Is(err, petri.ErrStateChanged) {
		t.Error(err)
	}
	s.inactive[0], s.inactive[1] = true, true
	if err := s.commit(p); !errors.Is(err, petri.ErrStateChanged) {
		t.Error(err)
	}
	s.want(0, "working:1, committed:0")
}

func TestSettleSurvivesReload(t *testing.T) {
	s := newSession(t, backupNet())
	held := []petri.Held{{Place: "ready", Tokens: 1}, {Place: "gone", Tokens: 1}}
	c, err := s.set.Settle([]petri.Pending{{Net: "gone"}, {Net: "backups", Transition: "gone", Held: held}}, petri.Success, s.view)
	if err != nil || len(c.Nets) != 1 || len(c.Lapsed) != 1 {
		t.Fatal(c, err)
	}
	s.store(c)
	s.want(0, "ready:2, backedUp:0")
}

// A step that fails leaves nothing behind for the steps after it.
func TestFailedStepLeavesNoTokens(t *testing.T) {
	s := newSession(t, petri.Definition{Name: "n", Places: []string{"q", "p"}, InitialMarking: map[string]int{"p": petri.MaxTokens},
		Transitions: []petri.Transition{
			{Name: "t", Outputs: []string{"q", "p"}, Tools: []string{"t"}},
			{Name: "u", Inputs: []string{"q"}, Tools: []string{"u"}},
		}})
	p := s.plan("t", "u")
	if steps := p.Opinions[0].Steps; steps[0].Verdict != petri.Failed || steps[1].Verdict != petri.Blocked {
		t.Errorf("%+v", steps)
	}
}

// Guards are asked only when the structure of every net lets the call through.
func TestGuardsComeAfterTheStructure(t *testing.T) {
	gated := petri.Definition{Name: "gated", Transitions: []petri.Transition{{Name: "t", Tools: []string{"t"}}}}
	for _, d := range []petri.Definition{
		{Name: "blocks", Places: []string{"p"}, Transitions: []petri.Transition{{Name: "t", Inputs: []string{"p"}, Tools: []string{"t"}}}},
		{Name: "fails", Places: []string{"p"}, InitialMarking: map[string]int{"p": petri.MaxTokens},
			Transitions: []petri.Transition{{Name: "t", Outputs: []string{"p"}, Tools: []string{"t"}}}},
	} {
		s := newSession(t, gated, d)
		p, err := s.set.Plan(petri.Call{Names: []string{"t"}, Guard: func(petri.Question) petri.Ruling {
			t.Errorf("asked although a net %s", d.Name)
			return petri.Ruling{Pass: true}
		}}, s.view)
		if err != nil || p.Verdict() >= petri.Gated {
			t.Error(p, err)
		}
	}
}

// What a guard says of a marking that has moved counts, not what it said before.
func TestCommitAsksTheGuardAgainWhereAMarkingMoved(t *testing.T) {
	s := newSession(t, petri.Definition{Name: "n", Places: []string{"p"}, InitialMarking: map[string]int{"p": 5},
		Transitions: []petri.Transition{{Name: "t", Inputs: []string{"p"}, Tools: []string{"t"}}}})
	guard := func(q petri.Question) petri.Ruling {
		return petri.Ruling{Pass: s.set.Net(0).Tokens(q.Marking)["p"] >= 4, Reason: "four at least"}
	}
	first, _ := s.set.Plan(petri.Call{Names: []string{"t"}, Guard: guard}, s.view)
	second, _ := s.set.Plan(petri.Call{Names: []string{"t"}, Guard: guard}, s.view)
	third, _ := s.set.Plan(petri.Call{Names: []string{"t"}, Guard: guard}, s.view)
	if err := s.commit(first); err != nil {
		t.Fatal(err)
	}
	if err := s.commit(second); err != nil { // the same transition, and the guard agrees
		t.Error(err)
	}
	if err := s.commit(third); !errors.Is(err, petri.ErrStateChanged) || !strings.Contains(err.Error(), "four at least") {
		t.Error(err)
	}
	s.want(0, "p:3")
}

// What was planned, guarded and approved is one transition; another that would
// cover the call by now is not it.
func TestCommitDoesNotSwitchTransitions(t *testing.T) {
	s := newSession(t, petri.Definition{Name: "n", Places: []string{"free", "paid"}, InitialMarking: map[string]int{"free": 1, "paid": 5},
		Transitions: []petri.Transition{
			{Name: "free", Inputs: []string{"free"}, Tools: []string{"t"}},
			{Name: "pay", Inputs: []string{"paid"}, Tools: []string{"t"}},
		}})
	first, second := s.plan("t"), s.plan("t")
	if err := s.commit(first); err != nil {
		t.Fatal(err)
	}
	if err := s.commit(second); !errors.Is(err, petri.ErrStateChanged) {
		t.Error(err)
	}
	s.want(0, "free:0, paid:5")
}

// A result that overflows a place is an error, and changes nothing at all.
func TestSettleOverflow(t *testing.T) {
	s := newSession(t, petri.Definition{Name: "n", Places: []string{"p", "q"}, InitialMarking: map[string]int{"p": petri.MaxTokens, "q": petri.MaxTokens},
		Transitions: []petri.Transition{
			{Name: "hold", Inputs: []string{"p"}, Outputs: []string{"p"}, Tools: []string{"hold"}, Deferred: true, Reserve: true},
			{Name: "refill", Outputs: []string{"p"}, Tools: []string{"refill"}},
			{Name: "more", Outputs: []string{"q"}, Tools: []string{"more"}, Deferred: true},
		}})
	for _, names := range []string{"hold", "refill", "more"} {
		if err := s.call(names); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range s.pending {
		for _, o := range []petri.Outcome{petri.Failure, petri.Success} {
			c, err := s.set.Settle([]petri.Pending{e}, o, s.view)
			if wrong := e.Name == "hold" || o == petri.Success; errors.Is(err, petri.ErrOverflow) != wrong || !c.Empty() {
				t.Errorf("%s: %v, %+v", e.Name, err, c)
			}
		}
	}
}
