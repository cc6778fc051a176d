package petri

import (
	"fmt"
	"slices"
)

// Status is what is known of something to be proved. The zero value is nothing.
type Status uint8

const (
	NotProved Status = iota // neither proved nor refuted within the limit
	Proved
	Refuted
)

// String returns "not proved", "proved" or "refuted".
func (s Status) String() string {
	switch s {
	case Proved:
		return "proved"
	case Refuted:
		return "refuted"
	}
	return "not proved"
}

// Proof is the outcome of an attempt to prove an assertion.
type Proof struct {
	Assertion Assertion
	Status    Status
	// Trace is a shortest history, by the number of its calls, that breaks the
	// assertion; of a proved "possible X" one that ends with X. No history breaks
	// a refuted "possible X": there just is none that ends with it.
	Trace  Trace
	States int      // visited
	Nets   []string // that had to be looked at
}

// String returns the outcome as a line of text.
func (p Proof) String() string {
	switch {
	case p.Status == NotProved:
		return fmt.Sprintf("%s: not proved within %d states", p.Assertion, p.States)
	case p.Assertion.Kind == PossibleKind && p.Status == Refuted:
		return fmt.Sprintf("%s: refuted: no sequence of calls lets it through", p.Assertion)
	case p.Assertion.Kind == PossibleKind:
		return fmt.Sprintf("%s: proved by %s", p.Assertion, p.Trace)
	case p.Status == Refuted:
		return fmt.Sprintf("%s: refuted by %s", p.Assertion, p.Trace)
	}
	return fmt.Sprintf("%s: proved (%d states)", p.Assertion, p.States)
}

// mostCounted is up to how many waiting calls of a kind are told apart while an
// assertion is searched. Beyond it there may be any number, which allows more
// histories than there are: a proof stays one, a counterexample is replayed.
const mostCounted = 4

// Prove tries to prove an assertion over all the nets, active and on their
// initial markings, guards passing and approvals given, visiting at most limit
// states.
//
// It does not build the product of all nets. A net that is left out only blocks
// less, so what holds without it holds with it. The search begins with no net;
// each counterexample is replayed on all of them, and a net that blocks the
// replay joins the product (counterexample-guided refinement, after Clarke et
// al. 2000). One that replays is a shortest. Unbounded places are first tried
// with their tokens rounded, which makes most products finite.
func (s *Set) Prove(a Assertion, limit int) Proof {
	proof := Proof{Assertion: a}
	var chosen []int
	for rounding := true; ; {
		search := s.attempt(a, chosen, rounding, limit-proof.States)
		proof.States += len(search.keys)
		rounded := search.rounded != nil
		if search.found < 0 && !search.full {
			proof.Status = verdictOf(a, false)
			break
		}
		real, blocker := false, -1
		if search.found >= 0 {
			if trace, ok := search.trace(search.path(search.found), search.last); ok {
				if real, blocker = s.replay(a, trace); real {
					proof.Status, proof.Trace = verdictOf(a, true), trace
					break
				}
			}
		}
		switch {
		case blocker >= 0 && !slices.Contains(chosen, blocker):
			chosen = append(chosen, blocker)
			slices.Sort(chosen)
			rounding = true
		case rounded && proof.States < limit:
			rounding = false // only rounding allowed it, or made it too large
		default:
			return s.named(proof, chosen)
		}
	}
	return s.named(proof, chosen)
}

func (s *Set) named(p Proof, nets []int) Proof {
	for _, i := range nets {
		p.Nets = append(p.Nets, s.nets[i].name)
	}
	return p
}

// attempt searches the product of some nets for what an assertion forbids.
func (s *Set) attempt(a Assertion, chosen []int, rounding bool, limit int) *search {
	nets := make([]*Net, len(chosen))
	for i, k := range chosen {
		nets[i] = s.nets[k]
	}
	sys := newSystem(nets, a.tools())
	sys.watch = a.watcher()
	sys.most = mostCounted
	for i, name := range sys.names {
		sys.watched[i] = a.awaits(name)
	}
	if rounding {
		useful := false
		rounded := make([][]bool, len(nets))
		for i, n := range nets {
			var ok bool
			rounded[i], ok = n.roundable()
			useful = useful || ok
		}
		if useful {
			sys.rounded = rounded
			limit = max(limit/2, 1) // the rest is for the search without
		}
	}
	search := newSearch(sys, limit)
	search.run()
	return search
}

// verdictOf says what it means that a history of the kind looked for exists, or not.
func verdictOf(a Assertion, exists bool) Status {
	if exists == (a.Kind == PossibleKind) {
		return Proved
	}
	return Refuted
}

// replay tries a history on all nets. Where it can't happen, or its end is no
// longer what the assertion looks for, blocker is a net that is the reason, -1
// if there is none.
func (s *Set) replay(a Assertion, t Trace) (real bool, blocker int) {
	markings := make(map[int]Marking)
	view := func(i int) (Marking, bool) {
		if m, ok := markings[i]; ok {
			return m, true
		}
		return s.Initial(i)
	}
	store := func(c Change) {
		for _, change := range c.Nets {
			markings[change.Net] = change.After
		}
	}
	var last *Plan
	waits := make(map[int][]Pending)
	watch, remembered := a.watcher(), 0
	for _, e := range t {
		if e.Kind != CallLetThrough {
			outcome, what := Failure, calling
			if e.Kind == CallSucceeded {
				outcome, what = Success, succeeding
			}
			change, err := s.Settle(waits[e.Call], outcome, view)
			if err != nil {
				return false, -1
			}
			store(change)
			if what == succeeding {
				remembered, _ = watch(remembered, e.Tool, what, NoApproval)
			}
			continue
		}
		plan, err := s.Plan(Call{Names: []string{e.Tool}}, view)
		if err != nil {
			return false, -1
		}
		change, err := plan.Commit(view, OperatorApproval)
		if err != nil {
			return false, plan.blocker()
		}
		store(change)
		last, waits[e.Call] = plan, change.Pending
		if remembered, real = watch(remembered, e.Tool, calling, plan.Approval()); real {
			return true, -1
		}
	}
	return false, last.approver()
}

// blocker returns the first net that does not let a plan through.
func (p *Plan) blocker() int {
	for i := range p.Opinions {
		if p.Opinions[i].Verdict < Gated {
			return p.Opinions[i].Net
		}
	}
	return -1
}

// approver returns a net that asks for the plan's approval.
func (p *Plan) approver() int {
	if p == nil || p.need == NoApproval {
		return -1
	}
	for i := range p.Opinions {
		if p.set.approval(&p.Opinions[i]) == p.need {
			return p.Opinions[i].Net
		}
	}
	return -1
}
