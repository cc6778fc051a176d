package petri

import "slices"

// Where a place is unbounded, so is the number of states. A search may then
// round: a place that holds more than mostTokens holds many, and many stays many
// until the place is emptied. Nobody knows how many that is, so a transition that
// asks for some of them may be enabled or not, and both are followed. A rounded
// system thus has every history of the real one and perhaps more: what holds in
// it holds, and what fails in it must be replayed.

const (
	mostTokens = 2
	many       = MaxTokens + 1
	// plenty stands for many tokens while something fires: what is left of them
	// is still more than mostTokens, what comes to them no overflow.
	plenty = 500_000_000
)

// roundable returns the places of a net that are to be rounded: those that
// coverability can't bound. It is false where rounding can't help: where an
// inhibitor or a structural transition looks at such a place, too much would be
// left open.
func (n *Net) roundable() (places []bool, ok bool) {
	c := n.covered()
	places = make([]bool, len(n.places))
	for p, bound := range c.bound {
		places[p] = bound == omega
	}
	for i := range n.transitions {
		t := &n.transitions[i]
		for _, p := range t.inhibit {
			places[p] = false
		}
		if t.structural() {
			for _, a := range t.inputs {
				places[a.place] = false
			}
			for _, p := range t.read {
				places[p] = false
			}
		}
	}
	return places, slices.Contains(places, true)
}

// vector decodes a marking of a net, with instead in place of many.
func (s *system) vector(m Marking, instead int) []int {
	s.room = m.decode(s.room[:0])
	if s.rounded != nil {
		for p, k := range s.room {
			if k == many {
				s.room[p] = instead
			}
		}
	}
	return s.room
}

// marking encodes what has become of a vector.
func (s *system) marking(net int, v []int) Marking {
	if s.rounded != nil {
		for p, k := range v {
			if k > mostTokens && s.rounded[net][p] {
				v[p] = many
			}
		}
	}
	return encode(v)
}

// choices returns the transitions that may cover a call: the first that is
// enabled, and, before it, those that may be.
func (s *system) choices(net int, m Marking, name int) (choices []int) {
	n := s.nets[net]
	u := n.uses[s.names[name]]
	if s.rounded == nil {
		if t := n.first(s.vector(m, 0), u); t >= 0 {
			return append(s.one[:0], t)
		}
		return nil
	}
	for _, t := range u.transitions {
		if !n.transitions[t].enabled(s.vector(m, plenty)) {
			continue
		}
		choices = append(choices, t)
		if n.transitions[t].enabled(s.vector(m, 0)) {
			break
		}
	}
	return choices
}

// through returns the marking that letting a call through leaves; false where
// it overflows.
func (s *system) through(net, t int, m Marking) (Marking, bool) {
	v := s.vector(m, plenty)
	moved, err := s.nets[net].letThrough(t, v, s.tr)
	if err != nil {
		return m, false
	}
	if !moved {
		return m, true
	}
	return s.marking(net, v), true
}

// results returns the markings that a result may leave; none where it overflows.
func (s *system) results(d spot, m Marking, succeeded bool) (markings []Marking) {
	n := s.nets[d.net]
	t := &n.transitions[d.transition]
	back := func(instead int) ([]int, bool) {
		v := s.vector(m, instead)
		return v, !t.reserve || t.giveBack(n, v) == nil
	}
	v, ok := back(0)
	if !ok {
		return nil
	}
	certain := t.enabled(v)
	if v, ok = back(plenty); !ok {
		return nil
	}
	if !succeeded || !t.enabled(v) {
		return append(markings, s.marking(d.net, v))
	}
	if n.fireAndAdvance(d.transition, v, s.tr) == nil {
		markings = append(markings, s.marking(d.net, v))
	}
	if !certain {
		v, _ = back(plenty)
		markings = append(markings, s.marking(d.net, v))
	}
	return markings
}
