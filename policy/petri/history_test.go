package petri_test

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/guardrails-provider/guardrails-provider/policy/petri"
)

// chooser is where the choices of a random history come from.
type chooser interface {
	pick(label string, n int) int // 0 to n-1
}

type rapidChooser struct{ *rapid.T }

func (c rapidChooser) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(c.T, label) }

// byteChooser reads its choices from a small program; after its end all are 0.
type byteChooser struct{ data []byte }

func (c *byteChooser) pick(_ string, n int) int {
	if len(c.data) == 0 {
		return 0
	}
	x := int(c.data[0])
	c.data = c.data[1:]
	return x % n
}

var (
	allTools  = []string{"a", "b", "c", "d"}
	allPlaces = []string{"p", "q", "r", "s"}
)

func pickList(c chooser, label string, from []string, most int) (list []string) {
	for range c.pick(label, most+1) {
		list = append(list, from[c.pick(label, len(from))])
	}
	return list
}

func pickSet(c chooser, label string, from []string, most int) []string {
	list := pickList(c, label, from, most)
	slices.Sort(list)
	return slices.Compact(list)
}

func pickDefinition(c chooser, name string) petri.Definition {
	d := petri.Definition{Name: name, InitialMarking: map[string]int{}}
	d.Places = allPlaces[:1+c.pick("places", len(allPlaces))]
	d.Restricts = c.pick("restricts", 2) == 1
	if c.pick("free", 4) == 0 {
		d.FreeTools = pickSet(c, "freeTools", allTools, 2)
	}
	for _, p := range d.Places {
		switch k := c.pick("tokens", 12); {
		case k < 8:
			d.InitialMarking[p] = k / 3
		case k == 11 && c.pick("full", 8) == 7:
			d.InitialMarking[p] = petri.MaxTokens - 1
		case k == 10:
			d.InitialMarking[p] = 255
		}
	}
	for i := range c.pick("transitions", 6) {
		t := petri.Transition{Name: fmt.Sprintf("t%d", i)}
		t.Inputs = pickList(c, "inputs", d.Places, 3)
		t.Outputs = pickList(c, "outputs", d.Places, 3)
		switch c.pick("extra", 6) {
		case 0:
			t.Read = pickSet(c, "read", d.Places, 2)
		case 1:
			t.Inhibit = pickSet(c, "inhibit", d.Places, 2)
		case 2:
			t.Reset = pickSet(c, "reset", d.Places, 2)
		}
		if c.pick("structural", 4) > 0 {
			t.Tools = []string{allTools[c.pick("tool", len(allTools))]}
			if more := allTools[c.pick("tool", len(allTools))]; more != t.Tools[0] && c.pick("two", 3) == 0 {
				t.Tools = append(t.Tools, more)
			}
			switch c.pick("kind", 6) {
			case 0:
				t.Manual = true
			case 1:
				t.Manual, t.Operator = true, true
			case 2:
				t.Deferred = true
			case 3, 4:
				t.Deferred, t.Reserve = true, true
				t.Manual = c.pick("manual", 3) == 0
			}
		}
		if len(t.Tools) == 0 && len(t.Outputs) >= len(t.Inputs) && c.pick("endless", 8) != 7 {
			// Structural transitions that never come to rest are slow in the reference.
			t.Outputs = t.Outputs[:max(len(t.Inputs)-1, 0)]
		}
		d.Transitions = append(d.Transitions, t)
	}
	return d
}

// world runs the package and the reference side by side.
type world struct {
	tb       testing.TB
	c        chooser
	set      *petri.Set
	markings []petri.Marking
	inactive map[int]bool
	pending  []petri.Pending
	ref      *refSession
	calls    int
	log      []string
}

func (w *world) fatalf(format string, args ...any) {
	text := fmt.Sprintf(format, args...) + "\nhistory:\n" + strings.Join(w.log, "\n")
	if c, ok := w.c.(rapidChooser); ok {
		c.Fatalf("%s", text)
	}
	w.tb.Fatal(text)
}

func (w *world) view(i int) (petri.Marking, bool) { return w.markings[i], !w.inactive[i] }

// verdictOfGuard is an arbitrary function of everything a guard sees.
func verdictOfGuard(strict bool, net, transition, name string, position int, before map[string]int) string {
	if !strict {
		return "pass"
	}
	h := fnv.New32()
	fmt.Fprint(h, net, transition, name, position, refMarking(before).text())
	switch h.Sum32() % 8 {
	case 0:
		return "refuse"
	case 1:
		return "fail"
	}
	return "pass"
}

func runHistory(tb testing.TB, c chooser) {
	w := &world{tb: tb, c: c, inactive: map[int]bool{}, ref: &refSession{markings: map[string]refMarking{}, inactive: map[string]bool{}}}
	var nets []*petri.Net
	for i := range 1 + c.pick("nets", 4) {
		d := pickDefinition(c, fmt.Sprintf("n%d", i))
		w.log = append(w.log, fmt.Sprintf("%+v", d))
		start, ok := refStart(d)
		n, err := petri.Compile(d)
		if ok != (err == nil) {
			w.fatalf("compile: %v, reference %v", err, ok)
		}
		if err != nil {
			return
		}
		nets = append(nets, n)
		w.markings = append(w.markings, n.Initial())
		w.ref.defs = append(w.ref.defs, d)
		w.ref.markings[d.Name] = start
	}
	var err error
	if w.set, err = petri.NewSet(nets...); err != nil {
		w.fatalf("%v", err)
	}
	w.compare("at the start")
	for range 3 + c.pick("length", 12) {
		w.act(1)
	}
}

func (w *world) act(depth int) {
	switch k := w.c.pick("act", 10); {
	case k < 6:
		w.call(depth)
	case k < 9:
		w.result()
	default:
		i := w.c.pick("toggle", w.set.Len())
		w.log = append(w.log, fmt.Sprintf("toggle %d", i))
		w.inactive[i] = !w.inactive[i]
		w.ref.inactive[w.set.Net(i).Name()] = w.inactive[i]
	}
}

func (w *world) call(depth int) {
	c := w.c
	var names []string
	for range 1 + c.pick("names", 4)/2 {
		names = append(names, append(allTools, "unknown")[c.pick("name", len(allTools)+1)])
	}
	strict := c.pick("guard", 3) == 0
	granted := petri.Approval(c.pick("approval", 3))
	w.calls++
	id := fmt.Sprintf("c%d", w.calls)
	w.log = append(w.log, fmt.Sprintf("call %s %v strict %v granted %v", id, names, strict, granted))
	guard := func(q petri.Question) petri.Ruling {
		n := w.set.Net(q.Net)
		switch verdictOfGuard(strict, n.Name(), n.Transition(q.Transition).Name, q.Name, q.Position, n.Tokens(q.Marking)) {
		case "refuse":
			return petri.Ruling{Reason: "no"}
		case "fail":
			return petri.Ruling{Pass: true, Err: errors.New("broken")}
		}
		return petri.Ruling{Pass: true}
	}
	before := slices.Clone(w.markings)
	plan, err := w.set.Plan(petri.Call{ID: id, Names: names, Guard: guard}, w.view)
	if err != nil {
		w.fatalf("plan: %v", err)
	}
	refPlan := w.ref.plan(names, func(net, transition, name string, position int, m refMarking) string {
		return verdictOfGuard(strict, net, transition, name, position, m)
	})
	w.comparePlans(plan, refPlan)
	if !slices.Equal(before, w.markings) {
		w.fatalf("planning changed a marking")
	}
	if depth > 0 && c.pick("meanwhile", 3) == 0 {
		w.log = append(w.log, "meanwhile:")
		w.act(depth - 1)
	}
	before = slices.Clone(w.markings)
	change, err := plan.Commit(w.view, granted)
	got := "ok"
	switch {
	case err == nil:
	case errors.Is(err, petri.ErrNotAllowed):
		got = "not allowed"
	case errors.Is(err, petri.ErrNotApproved):
		got = "not approved"
	case errors.Is(err, petri.ErrStateChanged):
		got = "changed"
	default:
		w.fatalf("commit: %v", err)
	}
	if want := w.ref.commit(refPlan, id, granted.String()); got != want {
		w.fatalf("commit: %s (%v), reference %s", got, err, want)
	}
	if err != nil && (!change.Empty() || change.Lapsed != nil) {
		w.fatalf("a refused commit wants a change: %+v", change)
	}
	if !slices.Equal(before, w.markings) {
		w.fatalf("committing changed a marking by itself")
	}
	w.store(change)
	w.pending = append(w.pending, change.Pending...)
	w.compare("after " + id)
}

func (w *world) store(change petri.Change) {
	for _, n := range change.Nets {
		if w.markings[n.Net] != n.Before {
			w.fatalf("a change of net %d rests on another marking", n.Net)
		}
		w.markings[n.Net] = n.After
	}
}

func (w *world) result() {
	if w.calls == 0 {
		return
	}
	id := fmt.Sprintf("c%d", 1+w.c.pick("call", w.calls))
	outcome := petri.Outcome(w.c.pick("outcome", 2))
	w.log = append(w.log, fmt.Sprintf("result %s %v", id, outcome))
	var mine, others []petri.Pending
	for _, e := range w.pending {
		if e.ID == id {
			mine = append(mine, e)
		} else {
			others = append(others, e)
		}
	}
	change, err := w.set.Settle(mine, outcome, w.view)
	if ok := w.ref.result(id, outcome == petri.Success); ok != (err == nil) {
		w.fatalf("result: %v, reference %v", err, ok)
	}
	if err != nil {
		if !change.Empty() {
			w.fatalf("a failed result wants a change")
		}
		return
	}
	fired := 0
	for _, n := range change.Nets {
		fired += len(n.Fired)
	}
	if outcome == petri.Success && fired+len(change.Lapsed) != len(mine) || outcome != petri.Success && fired+len(change.Lapsed) > 0 {
		w.fatalf("of %d entries %d fired, %d lapsed", len(mine), fired, len(change.Lapsed))
	}
	w.store(change)
	w.pending = others
	w.compare("after the result of " + id)
}

func (w *world) comparePlans(p *petri.Plan, r refPlan) {
	text := func(o petri.Opinion) string {
		n := w.set.Net(o.Net)
		s := n.Name() + " " + o.Verdict.String()
		for _, step := range o.Steps {
			t := ""
			if step.Transition >= 0 {
				t = n.Transition(step.Transition).Name
			}
			s += fmt.Sprintf("; %s %v %s on %s", step.Name, step.Verdict, t, refMarking(n.Tokens(step.Marking)).text())
			if (step.Verdict == petri.Blocked || step.Verdict == petri.Failed) && step.Reason == "" {
				w.fatalf("no reason for %v", step)
			}
		}
		return s + "; then " + refMarking(n.Tokens(o.After)).text()
	}
	refText := func(o refOpinion) string {
		s := o.net + " " + o.verdict
		for _, step := range o.steps {
			s += fmt.Sprintf("; %s %s %s on %s", step.name, step.verdict, step.transition, step.before.text())
		}
		return s + "; then " + o.after.text()
	}
	if len(p.Opinions) != len(r.opinions) {
		w.fatalf("%d opinions, reference %d", len(p.Opinions), len(r.opinions))
	}
	for i, o := range p.Opinions {
		if got, want := text(o), refText(r.opinions[i]); got != want {
			w.fatalf("opinion\n%s\nreference\n%s", got, want)
		}
	}
	if p.Verdict().String() != r.verdict || p.Approval().String() != r.approval {
		w.fatalf("%v, approval %v; reference %s, %s", p.Verdict(), p.Approval(), r.verdict, r.approval)
	}
	all := r.verdict != "blocked" && r.verdict != "failed"
	for i := range r.names {
		if p.Granted(i) != r.granted(w.ref, i) {
			w.fatalf("name %d granted: %v", i, p.Granted(i))
		}
		all = all && r.granted(w.ref, i)
	}
	if p.Grants() != all {
		w.fatalf("grants: %v, reference %v", p.Grants(), all)
	}
}

// compare holds markings and pending entries against the reference.
func (w *world) compare(when string) {
	for i, m := range w.markings {
		n := w.set.Net(i)
		if got, want := n.Tokens(m), w.ref.markings[n.Name()]; !maps.Equal(got, want) {
			w.fatalf("%s, net %s: %v, reference %v", when, n.Name(), got, want)
		}
		if again, err := n.MarkingOf(n.Tokens(m)); err != nil || again != m {
			w.fatalf("%s: the marking %s is not canonical: %v", when, n.Format(m), err)
		}
	}
	if len(w.pending) != len(w.ref.pending) {
		w.fatalf("%s: %d entries pending, reference %d", when, len(w.pending), len(w.ref.pending))
	}
	for i, e := range w.pending {
		r := w.ref.pending[i]
		held := 0
		for _, h := range e.Held {
			held += h.Tokens
			if h.Tokens != count(r.held, h.Place) {
				w.fatalf("%s: entry %+v, reference %+v", when, e, r)
			}
		}
		if e.ID != r.id || e.Net != r.net || e.Transition != r.transition || e.Name != r.name || held != len(r.held) {
			w.fatalf("%s: entry %+v, reference %+v", when, e, r)
		}
	}
}

// TestHistoriesAgreeWithReference takes GUARDRAILS_PETRI_HISTORIES random
// compositions and histories; 100,000 is the long run.
func TestHistoriesAgreeWithReference(t *testing.T) {
	checks := os.Getenv("GUARDRAILS_PETRI_HISTORIES")
	if checks == "" {
		if checks = "3000"; testing.Short() {
			checks = "300"
		}
	}
	f := flag.Lookup("rapid.checks")
	was := f.Value.String()
	if was == f.DefValue { // who set the flag meant it
		if err := f.Value.Set(checks); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Value.Set(was) }()
	}
	rapid.Check(t, func(r *rapid.T) { runHistory(t, rapidChooser{r}) })
}

func FuzzHistory(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x02\x01\x00\x03\x01\x02\x00\x03\x01\x00\x02\x01\x01\x00\x05\x02\x01\x00\x03\x01\x00\x02\x00"))
	f.Add([]byte("backup before delete, delete after backup, and so on until the net is at rest"))
	for i := range 8 {
		seed := make([]byte, 160)
		h := uint32(i + 1)
		for k := range seed {
			h = h*1664525 + 1013904223
			seed[k] = byte(h >> 24)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 2048 {
			return
		}
		runHistory(t, &byteChooser{data})
	})
}
