package petri_test

import (
	"fmt"
	"sort"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/policy/petri"
)

// The reference interpreter: written from POLICY.md alone, with maps and
// strings, slow and plain. It shares nothing with the package but the input
// types and the numbers of two limits.

type refMarking map[string]int

func (m refMarking) copy() refMarking {
	c := refMarking{}
	for k, v := range m {
		c[k] = v
	}
	return c
}

func (m refMarking) text() string {
	var parts []string
	for k, v := range m {
		parts = append(parts, fmt.Sprintf("%s=%d", k, v))
	}
	sort.Strings(parts)
	return strings.Join(parts, " ")
}

func count(list []string, name string) (n int) {
	for _, x := range list {
		if x == name {
			n++
		}
	}
	return n
}

func has(list []string, name string) bool { return count(list, name) > 0 }

func refEnabled(t petri.Transition, m refMarking) bool {
	for _, p := range t.Inputs {
		if m[p] < count(t.Inputs, p) {
			return false
		}
	}
	for _, p := range t.Read {
		if m[p] < 1 {
			return false
		}
	}
	for _, p := range t.Inhibit {
		if m[p] != 0 {
			return false
		}
	}
	return true
}

// refTogether fires transitions together: all take, all empty, all put.
func refTogether(ts []petri.Transition, old refMarking) (refMarking, bool) {
	m := old.copy()
	for _, t := range ts {
		for _, p := range t.Inputs {
			m[p]--
		}
	}
	for _, t := range ts {
		for _, p := range t.Reset {
			m[p] = 0
		}
	}
	for _, t := range ts {
		for _, p := range t.Outputs {
			m[p]++
		}
	}
	for _, k := range m {
		if k > petri.MaxTokens {
			return nil, false
		}
	}
	return m, true
}

func refAdvance(d petri.Definition, m refMarking) (refMarking, bool) {
	seen := map[string]bool{m.text(): true}
	for round := 0; round < petri.MaxRounds; round++ {
		var enabled []petri.Transition
		for _, t := range d.Transitions {
			if len(t.Tools) == 0 && !t.Manual && refEnabled(t, m) {
				enabled = append(enabled, t)
			}
		}
		var firing []petri.Transition
		for _, t := range enabled {
			enough := true
			for _, p := range t.Inputs {
				asked := 0
				for _, other := range enabled {
					asked += count(other.Inputs, p)
				}
				if m[p] < asked {
					enough = false
				}
			}
			if enough {
				firing = append(firing, t)
			}
		}
		if len(firing) == 0 {
			return m, true
		}
		next, ok := refTogether(firing, m)
		if !ok {
			return nil, false
		}
		m = next
		if seen[m.text()] {
			return m, true
		}
		seen[m.text()] = true
	}
	return m, true
}

func refFire(d petri.Definition, t petri.Transition, m refMarking) (refMarking, bool) {
	next, ok := refTogether([]petri.Transition{t}, m)
	if !ok {
		return nil, false
	}
	return refAdvance(d, next)
}

func refStart(d petri.Definition) (refMarking, bool) {
	m := refMarking{}
	for _, p := range d.Places {
		m[p] = d.InitialMarking[p]
	}
	return refAdvance(d, m)
}

// refStep is what a net says of a name.
type refStep struct {
	name, verdict, transition string
	before                    refMarking
}

var refStrictness = []string{"blocked", "failed", "gated", "free", "abstain"}

func refStricter(a, b string) string {
	for _, v := range refStrictness {
		if v == a || v == b {
			return v
		}
	}
	panic("no such verdict")
}

func refSpeaks(d petri.Definition, name string) bool {
	if has(d.FreeTools, name) {
		return true
	}
	for _, t := range d.Transitions {
		if has(t.Tools, name) {
			return true
		}
	}
	return false
}

// refJudge judges names in order, and returns the marking that letting the call
// through would leave.
func refJudge(d petri.Definition, m refMarking, names []string) (steps []refStep, after refMarking, verdict string) {
	verdict = "abstain"
	after = m
	for _, name := range names {
		s := refStep{name: name, verdict: "abstain", before: after}
		if has(d.FreeTools, name) {
			s.verdict = "free"
		} else if refSpeaks(d, name) {
			s.verdict = "blocked"
			for _, t := range d.Transitions {
				if !has(t.Tools, name) || !refEnabled(t, after) {
					continue
				}
				s.verdict, s.transition = "gated", t.Name
				if !t.Deferred {
					next, ok := refFire(d, t, after)
					if !ok {
						s.verdict = "failed"
					} else {
						after = next
					}
				} else if t.Reserve {
					after = after.copy()
					for _, p := range t.Inputs {
						after[p]--
					}
				}
				break
			}
		}
		steps = append(steps, s)
		verdict = refStricter(verdict, s.verdict)
	}
	if verdict != "gated" {
		after = m
	}
	return steps, after, verdict
}

type refPending struct {
	id, net, transition, name string
	held                      []string
}

// refSession is the state of a session.
type refSession struct {
	defs     []petri.Definition
	markings map[string]refMarking
	inactive map[string]bool
	pending  []refPending
}

type refOpinion struct {
	net     string
	verdict string
	steps   []refStep
	before  refMarking
	after   refMarking
}

// refGuard answers "pass", "refuse" or "fail".
type refGuard func(net, transition, name string, position int, before refMarking) string

type refPlan struct {
	opinions []refOpinion
	verdict  string
	approval string
	names    []string
	guard    refGuard
}

func (s *refSession) def(net string) petri.Definition {
	for _, d := range s.defs {
		if d.Name == net {
			return d
		}
	}
	panic("no net " + net)
}

func refTransition(d petri.Definition, name string) petri.Transition {
	for _, t := range d.Transitions {
		if t.Name == name {
			return t
		}
	}
	panic("no transition " + name)
}

func (s *refSession) plan(names []string, guard refGuard) refPlan {
	p := refPlan{verdict: "abstain", approval: "none", names: names, guard: guard}
	for _, d := range s.defs {
		speaks := false
		for _, name := range names {
			speaks = speaks || refSpeaks(d, name)
		}
		if !speaks || s.inactive[d.Name] {
			continue
		}
		o := refOpinion{net: d.Name, before: s.markings[d.Name]}
		o.steps, o.after, o.verdict = refJudge(d, o.before, names)
		p.verdict = refStricter(p.verdict, o.verdict)
		p.opinions = append(p.opinions, o)
	}
	if p.verdict == "blocked" || p.verdict == "failed" {
		p.approval = p.need(s)
		return p
	}
	for i := range p.opinions {
		o := &p.opinions[i]
		for k := range o.steps {
			step := &o.steps[k]
			if step.verdict != "gated" {
				continue
			}
			switch guard(o.net, step.transition, step.name, k, step.before) {
			case "refuse":
				step.verdict = "blocked"
			case "fail":
				step.verdict = "failed"
			}
			o.verdict = refStricter(o.verdict, step.verdict)
		}
		if o.verdict != "gated" {
			o.after = o.before
		}
		p.verdict = refStricter(p.verdict, o.verdict)
	}
	p.approval = p.need(s)
	return p
}

func (p refPlan) need(s *refSession) string {
	need := "none"
	for _, o := range p.opinions {
		for _, step := range o.steps {
			if step.verdict != "gated" {
				continue
			}
			t := refTransition(s.def(o.net), step.transition)
			if t.Manual && need == "none" {
				need = "any"
			}
			if t.Operator {
				need = "operator"
			}
		}
	}
	return need
}

func (p refPlan) granted(s *refSession, position int) bool {
	for _, o := range p.opinions {
		v := o.steps[position].verdict
		if !s.def(o.net).Restricts && (v == "free" || v == "gated") {
			return true
		}
	}
	return false
}

// commit looks at every net again: "ok", "not allowed", "not approved", "changed".
func (s *refSession) commit(p refPlan, id, approval string) string {
	if p.verdict == "blocked" || p.verdict == "failed" {
		return "not allowed"
	}
	level := map[string]int{"none": 0, "any": 1, "operator": 2}
	if level[approval] < level[p.approval] {
		return "not approved"
	}
	now := s.plan(p.names, p.guard)
	if len(now.opinions) != len(p.opinions) {
		return "changed"
	}
	for i, o := range now.opinions {
		if o.net != p.opinions[i].net {
			return "changed"
		}
		for k, step := range o.steps {
			if was := p.opinions[i].steps[k]; step.verdict != was.verdict || step.transition != was.transition {
				return "changed"
			}
		}
	}
	for _, o := range now.opinions {
		s.markings[o.net] = o.after
		for _, step := range o.steps {
			if step.verdict != "gated" {
				continue
			}
			if t := refTransition(s.def(o.net), step.transition); t.Deferred {
				e := refPending{id: id, net: o.net, transition: t.Name, name: step.name}
				if t.Reserve {
					e.held = t.Inputs
				}
				s.pending = append(s.pending, e)
			}
		}
	}
	return "ok"
}

// result gives a call its result: false where tokens overflow, and then nothing
// has changed.
func (s *refSession) result(id string, success bool) bool {
	markings := map[string]refMarking{}
	for k, v := range s.markings {
		markings[k] = v
	}
	var left []refPending
	for _, e := range s.pending {
		if e.id != id {
			left = append(left, e)
			continue
		}
		d := s.def(e.net)
		m := markings[e.net].copy()
		for _, p := range e.held {
			m[p]++
			if m[p] > petri.MaxTokens {
				return false
			}
		}
		if t := refTransition(d, e.transition); success && refEnabled(t, m) {
			next, ok := refFire(d, t, m)
			if !ok {
				return false
			}
			m = next
		}
		markings[e.net] = m
	}
	s.markings, s.pending = markings, left
	return true
}
