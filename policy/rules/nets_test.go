package rules

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/policy/petri"
	"pgregory.net/rapid"
)

// simulator plays one net as POLICY.md says, and knows nothing else of nets.
type simulator struct {
	net     petri.Definition
	marking map[string]int
	pending []pending
}

// pending is a call that was let through and has no result yet.
type pending struct {
	tool       string
	transition *petri.Transition // nil: nothing to do at its result
}

func newSimulator(r Rule) *simulator {
	d := r.Net()
	s := &simulator{net: d, marking: map[string]int{}}
	maps.Copy(s.marking, d.InitialMarking)
	return s
}

func (s *simulator) enabled(t *petri.Transition) bool {
	needs := map[string]int{}
	for _, p := range t.Inputs {
		needs[p]++
	}
	for p, n := range needs {
		if s.marking[p] < n {
			return false
		}
	}
	return !slices.ContainsFunc(t.Read, func(p string) bool { return s.marking[p] == 0 }) &&
		!slices.ContainsFunc(t.Inhibit, func(p string) bool { return s.marking[p] > 0 })
}

func (s *simulator) fire(t *petri.Transition) {
	for _, p := range t.Inputs {
		s.marking[p]--
	}
	for _, p := range t.Reset {
		s.marking[p] = 0
	}
	for _, p := range t.Outputs {
		s.marking[p]++
	}
}

// check lets a call through or not. Every ask is approved; it says whether there
// was one.
func (s *simulator) check(tool string) (allowed, asked bool) {
	spoken := false
	for i := range s.net.Transitions {
		t := &s.net.Transitions[i]
		if !slices.Contains(t.Tools, tool) {
			continue
		}
		spoken = true
		if !s.enabled(t) {
			continue
		}
		p := pending{tool: tool}
		if t.Deferred {
			p.transition = t
		} else {
			s.fire(t)
		}
		s.pending = append(s.pending, p)
		return true, t.Manual
	}
	if !spoken {
		s.pending = append(s.pending, pending{tool: tool})
	}
	return !spoken, false
}

// result ends the i-th pending call.
func (s *simulator) result(i int, success bool) (tool string) {
	p := s.pending[i]
	s.pending = slices.Delete(s.pending, i, i+1)
	if success && p.transition != nil && s.enabled(p.transition) {
		s.fire(p.transition)
	}
	return p.tool
}

// meaning is what a rule says, in the words of POLICY.md and without nets.
type meaning struct {
	rule      Rule
	succeeded bool // the other tool, since the tool was last let through
	count     int  // let through, since the last refill
}

func (m *meaning) check(tool string) (allowed, asked bool) {
	if tool != m.rule.Tool {
		return true, false
	}
	switch m.rule.Kind {
	case KindRequire:
		allowed = m.succeeded
		m.succeeded = false
	case KindApproval:
		return true, true
	case KindLimitPerSession, KindLimitPerTool:
		if allowed = m.count < m.rule.Max; allowed {
			m.count++
		}
	}
	return allowed, false
}

func (m *meaning) result(tool string, success bool) {
	if success && tool == m.rule.Other {
		m.succeeded, m.count = true, 0
	}
}

// Over random histories, with calls pending at the same time, a net lets
// through exactly what its rule says.
func TestNetsMeanTheirRules(t *testing.T) {
	tools := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		r := Rule{Kind: Kind(rapid.IntRange(int(KindRequire), int(KindLimitPerTool)).Draw(t, "kind")), Tool: "b"}
		switch r.Kind {
		case KindLimitPerTool:
			r.Max = rapid.IntRange(1, 4).Draw(t, "max")
			fallthrough
		case KindRequire:
			r.Other = "a"
		case KindLimitPerSession:
			r.Max = rapid.IntRange(1, 4).Draw(t, "max")
		}
		s, m := newSimulator(r), &meaning{rule: r}
		for i := range rapid.IntRange(0, 60).Draw(t, "steps") {
			if len(s.pending) > 0 && rapid.Bool().Draw(t, "result") {
				success := rapid.Bool().Draw(t, "success")
				tool := s.result(rapid.IntRange(0, len(s.pending)-1).Draw(t, "which"), success)
				m.result(tool, success)
				continue
			}
			tool := rapid.SampledFrom(tools).Draw(t, "tool")
			allowed, asked := s.check(tool)
			wantAllowed, wantAsked := m.check(tool)
			if allowed != wantAllowed || asked != wantAsked {
				t.Fatalf("%v, step %d, %s: allowed %v, want %v; asked %v, want %v", r, i, tool, allowed, wantAllowed, asked, wantAsked)
			}
			for place, n := range s.marking {
				if n < 0 || n > max(1, r.Max) {
					t.Fatalf("%v: place %s holds %d tokens", r, place, n)
				}
			}
		}
	})
}

// The histories that are easy to get wrong. A call is a tool, its success tool+,
// its failure tool-; ! before it says that it must be held back.
func TestHistories(t *testing.T) {
	for _, c := range []struct {
		name, rule string
		steps      []string
	}{
		{"no success, no call", "require a before b", []string{"!b", "a", "!b", "a-", "!b"}},
		{"one success, one call", "require a before b", []string{"a", "a+", "b", "!b", "b+", "!b", "a", "a+", "b"}},
		{"two successes, one call", "require a before b", []string{"a", "a+", "a", "a+", "b", "!b"}},
		{"parallel successes, one call", "require a before b", []string{"a", "a", "a", "a+", "a+", "a+", "b", "!b"}},
		{"a success after the call counts, whenever it was checked", "require a before b", []string{"a", "a+", "a", "b", "!b", "a+", "b", "!b"}},
		{"the prerequisite is free", "require a before b", []string{"a", "a", "a+", "a", "a-", "a", "b", "a"}},
		{"a failed call still takes the success", "require a before b", []string{"a", "a+", "b", "b-", "!b"}},
		{"others are free", "require a before b", []string{"c", "c+", "!b"}},
		{"two rules of one tool are two nets", "require c before b", []string{"a", "a+", "!b"}},
		{"never", "block b", []string{"!b", "a", "a+", "!b"}},
		{"no refund", "limit b to 2 per session", []string{"b", "b-", "b", "!b", "b+", "!b"}},
		{"the budget is full at first", "limit b to 2 per a", []string{"b", "b", "!b"}},
		{"the first refill is free", "limit b to 1 per a", []string{"a", "a+", "b", "!b", "a", "!b", "a+", "b", "!b"}},
		{"refills don't add up", "limit b to 2 per a", []string{"a", "a", "a+", "a+", "b", "b", "!b"}},
		{"a refill fills what is left", "limit b to 3 per a", []string{"b", "a", "a+", "b", "b", "b", "!b"}},
		{"a failure refills nothing", "limit b to 1 per a", []string{"b", "a", "a-", "!b"}},
		{"a refill counts from its result", "limit b to 1 per a", []string{"a", "b", "!b", "a+", "b", "!b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, mistakes := Parse(c.rule)
			if len(mistakes) > 0 {
				t.Fatal(mistakes)
			}
			s := newSimulator(text.Rules[0])
			for i, step := range c.steps {
				tool, end := step[:1], step[len(step)-1]
				switch {
				case end == '+' || end == '-':
					at := slices.IndexFunc(s.pending, func(p pending) bool { return p.tool == tool })
					s.result(at, end == '+')
				case step[0] == '!':
					if allowed, _ := s.check(step[1:]); allowed {
						t.Errorf("step %d, %s: it is let through", i+1, step)
					}
				default:
					if allowed, _ := s.check(tool); !allowed {
						t.Errorf("step %d, %s: it is held back", i+1, step)
					}
				}
			}
		})
	}
}

func TestReasons(t *testing.T) {
	for rule, want := range map[string]string{
		"require test before deploy":           "deploy requires a successful call to test first.",
		"require human-approval before deploy": "deploy requires human approval.",
		"block mkfs":                           "mkfs is blocked by a rule.",
		"limit push to 3 per session":          "push is limited to 3 per session.",
		"limit push to 1 per test":             "push is limited to 1 per successful call to test.",
	} {
		text, _ := Parse(rule)
		r := text.Rules[0]
		n := r.Net()
		last := n.Transitions[len(n.Transitions)-1]
		if n.Name != rule || !n.Restricts || last.Reason != want || !slices.Equal(last.Tools, []string{r.Tool}) {
			t.Errorf("%s: %+v", rule, n)
		}
	}
}

func TestNets(t *testing.T) {
	one, _ := Parse("block a\nmap x.y z as w\nlimit b to 2 per a")
	two, _ := Parse("block c\nblock a")
	var got []string
	for _, n := range Nets(one, two) {
		got = append(got, n.Name)
	}
	if want := []string{"block a", "limit b to 2 per a", "block c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What is no rule lets nothing through.
func TestZeroRule(t *testing.T) {
	if allowed, _ := newSimulator(Rule{Tool: "a"}).check("a"); allowed {
		t.Error("the zero rule lets a call through")
	}
	if fmt.Sprint(Rule{}) != "no rule" {
		t.Error(Rule{})
	}
}
