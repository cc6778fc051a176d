package petri

// Reached explores a net and returns its markings, with a history of the first
// 60, for tests that replay them.
func Reached(n *Net, limit int) (all map[Marking]Trace, ok, complete bool) {
	all, ok = make(map[Marking]Trace), true
	s := newSearch(newSystem([]*Net{n}, nil), limit)
	s.visit = func(id int, st state, _ bool) {
		if _, known := all[st.markings[0]]; known {
			return
		}
		if all[st.markings[0]] = nil; len(all) > 60 {
			return
		}
		t, traced := s.trace(s.path(id), -1)
		ok = ok && traced
		all[st.markings[0]] = t
	}
	s.run()
	return all, ok, !s.full
}

// Covered returns the bounds that coverability knows; -1: none.
func Covered(n *Net) (bounds []int, possible []bool, complete bool) {
	c := n.covered()
	for _, k := range c.bound {
		if k == omega {
			k = -1
		}
		bounds = append(bounds, k)
	}
	return bounds, c.possible, c.complete
}

// ProveWithoutRounding is Prove over the exact product of all nets.
func (s *Set) ProveWithoutRounding(a Assertion, limit int) (Status, Trace) {
	all := make([]int, len(s.nets))
	for i := range all {
		all[i] = i
	}
	x := s.attempt(a, all, false, limit)
	switch {
	case x.found >= 0:
		t, _ := x.trace(x.path(x.found), x.last)
		return verdictOf(a, true), t
	case x.full:
		return NotProved, nil
	}
	return verdictOf(a, false), nil
}
