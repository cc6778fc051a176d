package petri

import (
	"fmt"
	"slices"
	"strings"
)

// Report is what is known of one net on its own: guards pass, approvals are
// given, deferred calls succeed or fail at any time.
type Report struct {
	Net                        string
	Places, Transitions, Tools int
	States                     int  // markings that were reached
	Complete                   bool // these are all
	Bounds                     []Bound
	Dead                       []string // transitions that can never fire
	Undecided                  []string // transitions of which neither is known
	// Deadlocks are markings, outside the terminal places, in which no call can
	// change the net any more: the first MaxListed of DeadlockCount. Where not
	// Complete there may be others. A net that only restricts has none: that it
	// blocks for good is what it was written for.
	Deadlocks     []Deadlock
	DeadlockCount int
}

// Bound is how many tokens a place can hold.
type Bound struct {
	Place string
	// Status is Proved where the place never holds more than Most tokens, and
	// Refuted where it is unbounded: after Prefix, Loop can be repeated for ever,
	// and each turn adds tokens. Loop is empty where it can't be told without
	// calls that began before it: then Prefix ends with its first turn.
	Status       Status
	Most         int // that were seen, or proved
	Prefix, Loop Trace
}

// Deadlock is a marking in which the net is stuck, and a shortest way there.
type Deadlock struct {
	Marking Marking
	Text    string // the marking, formatted
	Trace   Trace
}

// Analyze explores the net from its initial marking, visiting at most limit
// states. What the exploration leaves open, coverability may still settle.
func (n *Net) Analyze(limit int) *Report {
	x := explorer{
		net: n, search: newSearch(newSystem([]*Net{n}, nil), limit),
		report:  &Report{Net: n.name, Places: len(n.places), Transitions: len(n.transitions), Tools: len(n.tools)},
		reached: make(map[Marking]bool), stuck: make(map[Marking]bool),
		bounds: make([]Bound, len(n.places)),
	}
	for p, name := range n.places {
		x.bounds[p] = Bound{Place: name}
	}
	x.search.tr.fired = make([]bool, len(n.transitions))
	x.search.visit = x.visit
	v := n.given.decode(nil)
	_ = n.advance(v, x.search.tr) // Compile has seen it succeed
	x.search.run()
	x.finish()
	return x.report
}

type explorer struct {
	net     *Net
	search  *search
	report  *Report
	reached map[Marking]bool
	stuck   map[Marking]bool
	bounds  []Bound
	cover   *cover
	open    int   // places that may be unbounded and have no witness yet
	early   []int // states visited before the tree was built
}

// coverAfter is how many states are visited before the coverability tree is
// built: most nets have fewer, and need none.
const coverAfter = 2_000

// goOn is how many more states are visited once it is known that there is no end
// of them.
const goOn = 20_000

func (x *explorer) visit(id int, st state, open bool) {
	m := st.markings[0]
	if !x.reached[m] {
		x.reached[m] = true
		for p := range x.bounds {
			x.bounds[p].Most = max(x.bounds[p].Most, m.at(p))
		}
	}
	if !open && !x.stuck[m] && x.deadlock(st) {
		x.stuck[m] = true
		x.report.DeadlockCount++
		if len(x.report.Deadlocks) < MaxListed {
			t, _ := x.search.trace(x.search.path(id), -1)
			x.report.Deadlocks = append(x.report.Deadlocks, Deadlock{m, x.net.Format(m), t})
		}
	}
	switch {
	case x.cover != nil && x.open > 0:
		x.witness(id)
	case x.cover == nil:
		if x.early = append(x.early, id); len(x.early) == coverAfter {
			x.build()
		}
	}
}

// build makes the coverability tree, and looks for the witnesses that were
// passed by.
func (x *explorer) build() {
	c := x.net.covered()
	x.cover = &c
	for _, bound := range c.bound {
		if bound == omega {
			x.open++
		}
	}
	for _, id := range x.early {
		if x.open > 0 {
			x.witness(id)
		}
	}
	x.early = nil
}

// deadlock reports whether a state without an open call is a deadlock.
func (x *explorer) deadlock(st state) bool {
	n := x.net
	if n.restricts || len(x.search.names) == 0 {
		return false
	}
	for _, w := range st.waiting {
		if w.calls > 0 {
			return false // its result will still change something
		}
	}
	for _, p := range n.terminal {
		if st.markings[0].at(p) > 0 {
			return false
		}
	}
	return true
}

func (x *explorer) witness(id int) {
	prefix, loop, grows, closed := x.search.unboundedBy(id)
	if grows == nil {
		return
	}
	for _, p := range grows {
		b := &x.bounds[p]
		if b.Status == Refuted {
			continue
		}
		b.Status = Refuted
		if x.open--; x.open == 0 {
			// All that is left to find are deadlocks and transitions not yet seen to
			// fire; there is no end to the search, so it goes on for a while only.
			x.search.limit = min(x.search.limit, len(x.search.keys)+goOn)
		}
		b.Prefix, _ = x.search.trace(prefix, -1)
		if b.Loop, closed = x.search.loopTrace(loop, closed); !closed {
			b.Prefix, _ = x.search.trace(append(slices.Clone(prefix), loop[1:]...), -1)
		}
	}
}

func (s *search) loopTrace(loop []int, closed bool) (Trace, bool) {
	if !closed {
		return nil, false
	}
	return s.trace(loop, -1)
}

func (x *explorer) finish() {
	r := x.report
	r.States, r.Complete = len(x.reached), !x.search.full
	if !r.Complete && x.cover == nil {
		x.build()
	}
	for i := range x.net.transitions {
		name := x.net.transitions[i].name
		switch fired := x.search.tr.fired[i]; {
		case fired:
		case r.Complete || x.cover.complete && !x.cover.possible[i]:
			r.Dead = append(r.Dead, name)
		default:
			r.Undecided = append(r.Undecided, name)
		}
	}
	for p := range x.bounds {
		b := &x.bounds[p]
		if r.Complete {
			b.Status = Proved
		} else if x.cover.bound[p] != omega {
			b.Status, b.Most = Proved, x.cover.bound[p]
		}
	}
	r.Bounds = x.bounds
}

// String returns the report as lines of text.
func (r *Report) String() string {
	var b strings.Builder
	more := ""
	if !r.Complete {
		more = " and more"
	}
	fmt.Fprintf(&b, "net %s: %d places, %d transitions, %d tools, %d states%s\n", r.Net, r.Places, r.Transitions, r.Tools, r.States, more)
	for _, bound := range r.Bounds {
		switch {
		case bound.Status == NotProved:
			fmt.Fprintf(&b, "  %s: bounded or not: not proved\n", bound.Place)
		case bound.Status == Proved:
		case len(bound.Loop) == 0:
			fmt.Fprintf(&b, "  %s: unbounded: %s, and so on\n", bound.Place, bound.Prefix)
		case len(bound.Prefix) == 0:
			fmt.Fprintf(&b, "  %s: unbounded: repeat %s\n", bound.Place, bound.Loop)
		default:
			fmt.Fprintf(&b, "  %s: unbounded: after %s, repeat %s\n", bound.Place, bound.Prefix, bound.Loop)
		}
	}
	for _, name := range r.Dead {
		fmt.Fprintf(&b, "  %s: dead: it can never fire\n", name)
	}
	for _, name := range r.Undecided {
		fmt.Fprintf(&b, "  %s: dead or not: not proved\n", name)
	}
	for _, d := range r.Deadlocks {
		way := "from the start"
		if len(d.Trace) > 0 {
			way = "after " + d.Trace.String()
		}
		fmt.Fprintf(&b, "  deadlock %s: %s\n", way, d.Text)
	}
	if left := r.DeadlockCount - len(r.Deadlocks); left > 0 {
		fmt.Fprintf(&b, "  and %d more deadlocks\n", left)
	}
	if !r.Complete {
		fmt.Fprintf(&b, "  other deadlocks: not proved\n")
	}
	return b.String()
}
