package petri_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/guardrails-provider/guardrails-provider/policy/petri"
)

// naive explores sessions with the reference interpreter: every call and every
// result in every order, up to a number of calls.

func (s *refSession) copy() *refSession {
	c := &refSession{defs: s.defs, markings: map[string]refMarking{}, inactive: s.inactive}
	for k, v := range s.markings {
		c.markings[k] = v
	}
	c.pending = append([]refPending{}, s.pending...)
	return c
}

func refSessionOf(defs []petri.Definition) *refSession {
	s := &refSession{defs: defs, markings: map[string]refMarking{}, inactive: map[string]bool{}}
	for _, d := range defs {
		s.markings[d.Name], _ = refStart(d)
	}
	return s
}

// state describes a session but for the names of calls.
func (s *refSession) text(waits map[string]string) string {
	var parts []string
	for k, v := range s.markings {
		parts = append(parts, k+"{"+v.text()+"}")
	}
	byID := map[string]string{}
	for id, tool := range waits {
		byID[id] = tool
	}
	for _, e := range s.pending {
		byID[e.id] += fmt.Sprintf(" %s/%s/%s", e.net, e.transition, e.name)
	}
	for _, v := range byID {
		parts = append(parts, v)
	}
	sort.Strings(parts)
	return strings.Join(parts, "\n")
}

func passAll(string, string, string, int, refMarking) string { return "pass" }

// try calls a tool with everything approved.
func (s *refSession) try(tool, id string) (plan refPlan, ok bool) {
	plan = s.plan([]string{tool}, passAll)
	return plan, s.commit(plan, id, "operator") == "ok"
}

// refWatch follows an assertion, in words: it is told every call that is let
// through and every success, and reports the call that breaks it.
type refWatch struct {
	a        petri.Assertion
	yCalled  bool
	ySuccess bool
	count    int
}

func (w *refWatch) text() string { return fmt.Sprint(w.yCalled, w.ySuccess, w.count) }

func (w *refWatch) called(tool, approval string) (broken bool) {
	a := w.a
	there := w.yCalled
	if a.Succeeds {
		there = w.ySuccess
	}
	if tool == a.Tool {
		switch a.Kind {
		case petri.NeverKind, petri.PossibleKind:
			broken = true
		case petri.BeforeKind:
			broken = !there
		case petri.AfterKind:
			broken = there
		case petri.UnapprovedKind:
			broken = approval == "none" || a.Operator && approval != "operator"
		case petri.AtMostKind:
			if w.count++; w.count > a.Most {
				broken = true
			}
		}
	}
	if tool == a.Other {
		w.yCalled = true
		if !a.Succeeds {
			w.count = 0
		}
	}
	return broken
}

func (w *refWatch) succeeded(tool string) {
	if tool == w.a.Other {
		w.ySuccess = true
		w.yCalled = true
		w.count = 0
	}
}

type naiveNode struct {
	s     *refSession
	waits map[string]string // calls without a result
	watch refWatch
}

// naiveSearch returns the least number of calls with which a call is seen that
// the assertion looks for, 0 if there is none up to most.
func naiveSearch(defs []petri.Definition, a petri.Assertion, tools []string, most int, visit func(*refSession)) int {
	level := []naiveNode{{refSessionOf(defs), map[string]string{}, refWatch{a: a}}}
	seen := map[string]bool{}
	for depth := 1; depth <= most+1; depth++ {
		var next []naiveNode
		for i := 0; i < len(level); i++ { // results are free: they join the level
			node := level[i]
			key := node.s.text(node.waits) + node.watch.text()
			if seen[key] {
				continue
			}
			seen[key] = true
			if visit != nil {
				visit(node.s)
			}
			for id, tool := range node.waits {
				for _, success := range []bool{true, false} {
					s := node.s.copy()
					if !s.result(id, success) {
						continue
					}
					w := node.watch
					if success {
						w.succeeded(tool)
					}
					waits := map[string]string{}
					for k, v := range node.waits {
						if k != id {
							waits[k] = v
						}
					}
					level = append(level, naiveNode{s, waits, w})
				}
			}
			if depth > most {
				continue
			}
			for _, tool := range tools {
				s := node.s.copy()
				id := fmt.Sprintf("c%d", depth)
				plan, ok := s.try(tool, id)
				if !ok {
					continue
				}
				w := node.watch
				if w.called(tool, plan.approval) {
					return depth
				}
				waits := map[string]string{id: tool}
				for k, v := range node.waits {
					waits[k] = v
				}
				next = append(next, naiveNode{s, waits, w})
			}
		}
		level = next
	}
	return 0
}

// replayTrace runs a trace in the reference; ok is false where a call of it is
// not let through. broken is true where the last event is what the assertion
// looks for, and nothing before was.
func replayTrace(defs []petri.Definition, t petri.Trace, a petri.Assertion) (s *refSession, ok, broken bool) {
	s = refSessionOf(defs)
	w := refWatch{a: a}
	for i, e := range t {
		id := fmt.Sprint(e.Call)
		switch e.Kind {
		case petri.CallLetThrough:
			plan, let := s.try(e.Tool, id)
			if !let {
				return s, false, false
			}
			if w.called(e.Tool, plan.approval) {
				return s, true, i == len(t)-1
			}
		case petri.CallSucceeded:
			if !s.result(id, true) {
				return s, false, false
			}
			w.succeeded(e.Tool)
		case petri.CallFailed:
			if !s.result(id, false) {
				return s, false, false
			}
		}
	}
	return s, true, false
}

func calls(t petri.Trace) (n int) {
	for _, e := range t {
		if e.Kind == petri.CallLetThrough {
			n++
		}
	}
	return n
}

// smallDefinition is a random definition without enormous markings.
func smallDefinition(c chooser, name string) petri.Definition {
	d := pickDefinition(c, name)
	for p, k := range d.InitialMarking {
		if k > 3 {
			d.InitialMarking[p] = 1
		}
	}
	if len(d.Transitions) > 4 {
		d.Transitions = d.Transitions[:4]
	}
	for i := range d.Transitions {
		// Structural transitions that run for ever take a thousand rounds each time.
		if t := &d.Transitions[i]; len(t.Tools) == 0 && len(t.Outputs) >= len(t.Inputs) {
			t.Outputs = t.Outputs[:max(len(t.Inputs)-1, 0)]
		}
	}
	return d
}

func pickAssertion(c chooser) petri.Assertion {
	a := petri.Assertion{Kind: petri.AssertionKind(c.pick("kind", 6)), Tool: allTools[c.pick("x", 3)]}
	other := allTools[c.pick("y", 3)]
	switch a.Kind {
	case petri.BeforeKind, petri.AfterKind:
		a.Other, a.Succeeds = other, c.pick("succeeds", 2) == 1
	case petri.UnapprovedKind:
		a.Operator = c.pick("operator", 2) == 1
	case petri.AtMostKind:
		a.Most = c.pick("most", 3)
		if other != a.Tool && c.pick("per", 2) == 1 {
			a.Other, a.Succeeds = other, c.pick("succeeds", 2) == 1
		}
	}
	return a
}

func TestProofsAgreeWithBruteForce(t *testing.T) {
	const depth, limit = 4, 3000
	figures := map[string]int{}
	rapid.Check(t, func(r *rapid.T) {
		c := rapidChooser{r}
		var defs []petri.Definition
		var nets []*petri.Net
		for i := range 1 + c.pick("nets", 3) {
			d := smallDefinition(c, fmt.Sprintf("n%d", i))
			n, err := petri.Compile(d)
			if err != nil {
				r.Skip(err)
			}
			defs, nets = append(defs, d), append(nets, n)
		}
		set, err := petri.NewSet(nets...)
		if err != nil {
			r.Fatal(err)
		}
		a := pickAssertion(c)
		proof := set.Prove(a, limit)
		found := naiveSearch(defs, a, allTools, depth, nil)
		exists := (proof.Status == petri.Refuted) == (a.Kind != petri.PossibleKind)
		figures[proof.Status.String()]++
		switch {
		case proof.Status == petri.NotProved:
		case exists:
			if found > 0 && calls(proof.Trace) != found || found == 0 && calls(proof.Trace) <= depth {
				r.Fatalf("%v: %v has %d calls, brute force needs %d\n%+v", a, proof.Trace, calls(proof.Trace), found, defs)
			}
			if _, ok, broken := replayTrace(defs, proof.Trace, a); !ok || !broken {
				r.Fatalf("%v: the counterexample %v does not replay (%v, %v)\n%+v", a, proof.Trace, ok, broken, defs)
			}
		case found > 0:
			r.Fatalf("%v: %v, brute force breaks it with %d calls\n%+v", a, proof.Status, found, defs)
		}
		exact, trace := set.ProveWithoutRounding(a, limit)
		if exact != petri.NotProved && proof.Status != petri.NotProved && (exact != proof.Status || calls(trace) != calls(proof.Trace)) {
			r.Fatalf("%v: %v by %v; over the whole product %v by %v\n%+v", a, proof.Status, proof.Trace, exact, trace, defs)
		}
	})
	t.Log(figures)
}

func TestAnalysisAgreesWithBruteForce(t *testing.T) {
	const depth, limit = 4, 2000
	figures := map[string]int{}
	rapid.Check(t, func(r *rapid.T) {
		d := smallDefinition(rapidChooser{r}, "n")
		n, err := petri.Compile(d)
		if err != nil {
			r.Skip(err)
		}
		reached, ok, complete := petri.Reached(n, limit)
		if !ok {
			r.Fatalf("a history can't be told\n%+v", d)
		}
		report := n.Analyze(limit)
		if report.Complete != complete || complete && report.States != len(reached) {
			r.Fatalf("%d states, %v; %d, %v", report.States, report.Complete, len(reached), complete)
		}
		for m, trace := range reached {
			if trace == nil {
				continue
			}
			s, ok, _ := replayTrace([]petri.Definition{d}, trace, petri.Assertion{})
			if got, _ := n.MarkingOf(s.markings["n"]); !ok || got != m {
				r.Fatalf("%v leads to %v, not to %s\n%+v", trace, s.markings["n"], n.Format(m), d)
			}
		}
		none := petri.Assertion{Tool: "nobody calls this"}
		bounds, possible, covered := petri.Covered(n)
		naiveSearch([]petri.Definition{d}, none, allTools, depth, func(s *refSession) {
			m, _ := n.MarkingOf(s.markings["n"])
			if _, known := reached[m]; complete && !known {
				r.Fatalf("%v is reachable and was not found\n%+v", s.markings["n"], d)
			}
			for p, name := range n.Places() {
				k := s.markings["n"][name]
				if b := report.Bounds[p]; b.Status == petri.Proved && k > b.Most {
					r.Fatalf("%d tokens in %s, bound %d\n%+v", k, name, b.Most, d)
				}
				if bounds[p] >= 0 && k > bounds[p] {
					r.Fatalf("%d tokens in %s, coverability says %d\n%+v", k, name, bounds[p], d)
				}
			}
			for _, tool := range allTools {
				plan := s.plan([]string{tool}, passAll)
				if plan.verdict != "gated" {
					continue
				}
				name := plan.opinions[0].steps[0].transition
				i, _ := n.TransitionIndex(name)
				if covered && !possible[i] {
					r.Fatalf("%s is enabled in %v; coverability says never\n%+v", name, s.markings["n"], d)
				}
				// A deferred transition that is gated fires where its success follows.
				if slices.Contains(report.Dead, name) {
					r.Fatalf("%s fires in %v and is called dead\n%+v", name, s.markings["n"], d)
				}
			}
		})
		for _, b := range report.Bounds {
			figures[b.Status.String()]++
			if b.Status == petri.Refuted && len(b.Loop) > 0 {
				figures["loops"]++
				growing(r, d, b)
			}
			if complete && b.Status != petri.Proved {
				r.Fatalf("%s: %v, of a finite net", b.Place, b.Status)
			}
		}
		for _, dead := range report.Deadlocks {
			figures["deadlocks"]++
			s, ok, _ := replayTrace([]petri.Definition{d}, dead.Trace, petri.Assertion{})
			if got, _ := n.MarkingOf(s.markings["n"]); !ok || got != dead.Marking {
				r.Fatalf("deadlock after %v: %v\n%+v", dead.Trace, s.markings["n"], d)
			}
			for _, tool := range allTools {
				if v := s.plan([]string{tool}, passAll).verdict; v == "gated" {
					r.Fatalf("%s goes through in the deadlock %s\n%+v", tool, dead.Text, d)
				}
			}
		}
		if complete && report.DeadlockCount <= petri.MaxListed && !d.Restricts && len(d.TerminalPlaces) == 0 {
			stuck := 0
			for m := range reached {
				if len(gatedTools(n, m)) == 0 && settled(reached[m]) && len(callable(n)) > 0 {
					stuck++
				}
			}
			if stuck > report.DeadlockCount {
				r.Fatalf("%d markings are stuck, %d found\n%+v", stuck, report.DeadlockCount, d)
			}
		}
	})
	t.Log(figures)
}

func gatedTools(n *petri.Net, m petri.Marking) []string { return n.EnabledTools(m) }

func callable(n *petri.Net) (tools []string) {
	for _, tool := range n.Tools() {
		if !n.Free(tool) {
			tools = append(tools, tool)
		}
	}
	return tools
}

// settled reports whether every call of a history that has a result pending in
// its end was answered.
func settled(t petri.Trace) bool {
	answered := map[int]bool{}
	for _, e := range t {
		if e.Kind != petri.CallLetThrough {
			answered[e.Call] = true
		}
	}
	for _, e := range t {
		if !answered[e.Call] {
			return false
		}
	}
	return true
}

// growing repeats a loop in the reference and sees the place grow each time.
func growing(r *rapid.T, d petri.Definition, b petri.Bound) {
	t := slices.Clone(b.Prefix)
	last := -1
	for turn := range 12 {
		s, ok, _ := replayTrace([]petri.Definition{d}, t, petri.Assertion{Tool: "nobody calls this"})
		if k := s.markings["n"][b.Place]; !ok || k <= last {
			r.Fatalf("%s: turn %d of %v after %v: %v, %d tokens after %d\n%+v", b.Place, turn, b.Loop, b.Prefix, ok, k, last, d)
		} else {
			last = k
		}
		for _, e := range b.Loop {
			e.Call += 1000 * (turn + 1)
			t = append(t, e)
		}
	}
}
