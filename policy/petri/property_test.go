package petri_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/guardrails-provider/guardrails-provider/policy/petri"
)

// Tokens that are reserved are neither lost nor doubled: as long as every call
// fails, what a place holds and what is held of it add up to what was there.
func TestReserveConservesTokens(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := rapidChooser{r}
		d := pickDefinition(c, "n")
		for i := range d.Transitions {
			tr := &d.Transitions[i]
			if len(tr.Tools) == 0 {
				tr.Tools = []string{"a"}
			}
			tr.Deferred, tr.Reserve = true, true
		}
		s := newSession(t, d)
		n := s.set.Net(0)
		start := n.Tokens(n.Initial())
		for k := range 30 {
			if c.pick("act", 3) > 0 || k == 0 {
				names := []string{allTools[c.pick("tool", 4)], allTools[c.pick("tool", 4)]}
				p, err := s.set.Plan(petri.Call{ID: fmt.Sprint(k), Names: names[:1+c.pick("names", 2)]}, s.view)
				if err != nil {
					r.Fatal(err)
				}
				_ = s.commit(p)
			} else {
				s.result(fmt.Sprint(c.pick("call", k)), petri.Failure)
			}
			sum := n.Tokens(s.markings[0])
			for _, e := range s.pending {
				for _, h := range e.Held {
					sum[h.Place] += h.Tokens
				}
			}
			if !maps.Equal(sum, start) {
				r.Fatalf("%v became %v\n%+v", start, sum, d)
			}
		}
	})
}

// A marking is a value: whatever is fired, those from before stay as they were,
// and so do plans.
func TestMarkingsAndPlansNeverChange(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := rapidChooser{r}
		d := pickDefinition(c, "n")
		n, err := petri.Compile(d)
		if err != nil {
			r.Skip(err)
		}
		set, _ := petri.NewSet(n)
		m := n.Initial()
		type kept struct {
			m      petri.Marking
			tokens map[string]int
			plan   *petri.Plan
			text   string
		}
		var all []kept
		// What the net was compiled from and what it gave away is nobody's handle on it.
		for i := range d.Transitions {
			clear(d.Transitions[i].Inputs)
			clear(d.Transitions[i].Tools)
		}
		clear(d.InitialMarking)
		for range 10 {
			view := func(int) (petri.Marking, bool) { return m, true }
			p, err := set.Plan(petri.Call{Names: []string{allTools[c.pick("tool", 4)], allTools[c.pick("tool", 4)]}}, view)
			if err != nil {
				r.Fatal(err)
			}
			all = append(all, kept{m, n.Tokens(m), p, fmt.Sprintf("%+v", p.Opinions)})
			if change, err := p.Commit(view, petri.OperatorApproval); err == nil && len(change.Nets) > 0 {
				m = change.Nets[0].After
			}
			if i := c.pick("fire", 6); i < n.Transitions() {
				if next, err := n.Fire(m, i); err == nil {
					m = next
				}
			}
		}
		for _, k := range all {
			if !maps.Equal(n.Tokens(k.m), k.tokens) || fmt.Sprintf("%+v", k.plan.Opinions) != k.text {
				r.Fatalf("%v became %v", k.tokens, n.Tokens(k.m))
			}
		}
	})
}

// A net and a set may be used from many goroutines at once.
func TestConcurrentUse(t *testing.T) {
	set := newSet(t, toolApproval(), backupNet(), commitPush())
	before := set.Net(1).Places()
	done := make(chan bool)
	for range 8 {
		go func() {
			defer func() { done <- true }()
			for range 50 {
				p, err := set.Plan(petri.Call{Names: []string{"bash", "backup", "git-commit"}}, set.Initial)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := p.Commit(set.Initial, petri.OperatorApproval); err != nil {
					t.Error(err)
				}
				set.Prove(petri.Assertion{Kind: petri.BeforeKind, Tool: "delete", Other: "backup"}, 100)
				clear(set.Net(1).Places())
				set.Net(1).Analyze(50)
				_ = set.Net(1).SVG(set.Net(1).Initial())
			}
		}()
	}
	for range 8 {
		<-done
	}
	if !slices.Equal(set.Net(1).Places(), before) {
		t.Error("a caller changed the net")
	}
}
