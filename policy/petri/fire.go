package petri

import "fmt"

// enabled reports whether the inputs hold enough, what is read holds something
// and what inhibits is empty.
func (t *transition) enabled(v []int) bool {
	for _, a := range t.inputs {
		if v[a.place] < a.weight {
			return false
		}
	}
	for _, p := range t.read {
		if v[p] == 0 {
			return false
		}
	}
	for _, p := range t.inhibit {
		if v[p] > 0 {
			return false
		}
	}
	return true
}

func (t *transition) take(v []int) {
	for _, a := range t.inputs {
		v[a.place] -= a.weight
	}
}

func (t *transition) empty(v []int) {
	for _, p := range t.reset {
		v[p] = 0
	}
}

func (t *transition) put(n *Net, v []int) error { return n.add(t.outputs, v) }

// giveBack undoes take.
func (t *transition) giveBack(n *Net, v []int) error { return n.add(t.inputs, v) }

func (n *Net) add(arcs []arc, v []int) error {
	for _, a := range arcs {
		if v[a.place] += a.weight; v[a.place] > MaxTokens {
			return fmt.Errorf("net %q: %w in %q", n.name, ErrOverflow, n.places[a.place])
		}
	}
	return nil
}

// fire takes, empties and puts, in this order, so that a place that is reset
// and an output holds just what was put there. After an error v is spoilt.
func (n *Net) fire(i int, v []int) error {
	t := &n.transitions[i]
	t.take(v)
	t.empty(v)
	return t.put(n, v)
}

// fireAndAdvance fires a transition and then the structural ones.
func (n *Net) fireAndAdvance(i int, v []int, tr *trace) error {
	tr.fires(i)
	if err := n.fire(i, v); err != nil {
		return err
	}
	return n.advance(v, tr)
}

// advance fires the structural transitions in rounds. All that fire in a round
// fire together: first all take, then all empty, then all put. A transition
// fires only where its places hold enough for all the enabled ones that share
// them, whether those fire or not: who wins a conflict is nobody's guess. After
// an error v is spoilt.
func (n *Net) advance(v []int, tr *trace) error {
	if len(n.structural) == 0 {
		return nil
	}
	var seen map[Marking]bool
	var demand []int
	var enabled, firing []int
	for range MaxRounds {
		enabled, firing = enabled[:0], firing[:0]
		for _, i := range n.structural {
			if n.transitions[i].enabled(v) {
				enabled = append(enabled, i)
			}
		}
		if len(enabled) == 0 {
			tr.round(enabled, firing)
			return nil
		}
		if demand == nil {
			demand = make([]int, len(v))
		}
		clear(demand)
		for _, i := range enabled {
			for _, a := range n.transitions[i].inputs {
				demand[a.place] += a.weight
			}
		}
		for _, i := range enabled {
			if n.transitions[i].undisputed(v, demand) {
				firing = append(firing, i)
			}
		}
		tr.round(enabled, firing)
		if len(firing) == 0 {
			return nil
		}
		if seen == nil {
			seen = map[Marking]bool{encode(v): true}
		}
		if err := n.fireTogether(firing, v); err != nil {
			return err
		}
		now := encode(v)
		if seen[now] {
			return nil
		}
		seen[now] = true
	}
	return nil
}

func (t *transition) undisputed(v, demand []int) bool {
	for _, a := range t.inputs {
		if v[a.place] < demand[a.place] {
			return false
		}
	}
	return true
}

func (n *Net) fireTogether(firing, v []int) error {
	for _, i := range firing {
		n.transitions[i].take(v)
	}
	for _, i := range firing {
		n.transitions[i].empty(v)
	}
	for _, i := range firing {
		if err := n.transitions[i].put(n, v); err != nil {
			return err
		}
	}
	return nil
}

// Fire fires one transition, by index, and nothing after it. It returns the new
// marking; the old one stays as it is. The error is ErrNotEnabled, ErrOverflow
// or ErrMarking.
func (n *Net) Fire(m Marking, i int) (Marking, error) {
	if err := n.check(m); err != nil {
		return Marking{}, err
	}
	if i < 0 || i >= len(n.transitions) {
		return Marking{}, fmt.Errorf("net %q: %w: there is no transition %d", n.name, ErrNotEnabled, i)
	}
	v := m.decode(nil)
	if t := &n.transitions[i]; !t.enabled(v) {
		return Marking{}, fmt.Errorf("net %q: transition %q is %w", n.name, t.name, ErrNotEnabled)
	}
	if err := n.fire(i, v); err != nil {
		return Marking{}, err
	}
	return encode(v), nil
}

// Advance fires the structural transitions until none may fire, a marking comes
// back or MaxRounds have passed, and returns the marking reached.
func (n *Net) Advance(m Marking) (Marking, error) {
	if err := n.check(m); err != nil {
		return Marking{}, err
	}
	v := m.decode(nil)
	if err := n.advance(v, nil); err != nil {
		return Marking{}, err
	}
	return encode(v), nil
}

// trace follows what happens inside firings. A nil trace follows nothing.
type trace struct {
	rounds int    // of structural advance: the work done
	fired  []bool // by transition; nil: not asked for
	noting bool
	notes  []int // what was decided on the way, so that two runs can be compared
}

func (tr *trace) note(xs ...int) {
	if tr != nil && tr.noting {
		tr.notes = append(tr.notes, xs...)
	}
}

func (tr *trace) fires(i int) {
	if tr != nil && tr.fired != nil {
		tr.fired[i] = true
	}
}

func (tr *trace) round(enabled, firing []int) {
	if tr == nil {
		return
	}
	tr.rounds++
	for _, i := range firing {
		tr.fires(i)
	}
	if tr.noting {
		tr.notes = append(append(append(tr.notes, -1), enabled...), -2)
		tr.notes = append(append(tr.notes, firing...), -3)
	}
}
