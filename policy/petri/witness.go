package petri

import "slices"

// shift is more tokens than any arc of a net asks for, and few enough to fire with.
const shift = 100_000_000

// unboundedBy looks for a witness that places are unbounded: a loop on the way to a
// state, after which no place holds less and some hold more, and that can be
// repeated for ever under the real semantics. It returns the states of the way
// to the loop's beginning and those of the loop, and the places that grow. Where
// closed, a turn needs no calls that were made before it.
//
// More tokens could make other transitions fire, so a loop that grows is not yet
// a witness. Every choice on the way compares the tokens of a place with a
// constant. In the second turn a growing place is never empty, so that from then
// on more tokens can only make comparisons true that were false. So if the
// first turn, the second, and one with enormously many tokens in the growing
// places make the same choices and the same change, then so do all between.
func (s *search) unboundedBy(id int) (prefix, loop []int, grows []int, closed bool) {
	n := s.nets[0]
	end := s.state(s.keys[id])
	ids := []int{id}
	for i, length := s.parent[id], 1; i >= 0 && length <= MaxLoop; i, length = s.parent[i], length+1 {
		ids = append(ids, int(i))
		begin := s.state(s.keys[i])
		if !slices.Equal(begin.waiting, end.waiting) {
			continue
		}
		grows = grows[:0]
		less := false
		for p := range n.places {
			a, b := begin.markings[0].at(p), end.markings[0].at(p)
			less = less || b < a
			if b > a {
				grows = append(grows, p)
			}
		}
		if less || len(grows) == 0 {
			continue
		}
		loop := slices.Clone(ids)
		slices.Reverse(loop)
		if repeats, closed := s.repeats(loop, begin.markings[0], end.markings[0], grows); repeats {
			return s.path(int(i)), loop, grows, closed
		}
	}
	return nil, nil, nil, false
}

func (s *search) repeats(loop []int, begin, end Marking, grows []int) (ok, closed bool) {
	first := begin.decode(nil)
	second := end.decode(nil)
	enormous := begin.decode(nil)
	for _, p := range grows {
		enormous[p] += shift
	}
	var choices []int
	for turn, from := range [][]int{first, second, enormous} {
		to := slices.Clone(from)
		tr := trace{noting: true}
		goes, alone := s.walk(loop, to, &tr)
		if !goes {
			return false, false
		}
		for p := range to {
			if to[p]-from[p] != second[p]-first[p] {
				return false, false
			}
		}
		if turn > 0 && !slices.Equal(tr.notes, choices) {
			return false, false
		}
		choices = tr.notes
		closed = alone && (turn == 0 || closed)
	}
	return true, closed
}

// walk goes along the moves between states from a marking, noting every choice.
// closed is false where a result needs a call that can't be made just before it.
func (s *search) walk(ids []int, v []int, tr *trace) (ok, closed bool) {
	n := s.nets[0]
	closed = true
	for _, id := range ids[1:] {
		m := s.by[id]
		if m.does == moveCall {
			chosen := n.choose(s.names[m.which], v, tr)
			if chosen < 0 {
				return false, false
			}
			if _, err := n.letThrough(chosen, v, tr); err != nil {
				return false, false
			}
			continue
		}
		k := &s.kinds[m.which]
		i := k.deferred[0].transition
		t := &n.transitions[i]
		switch m.does {
		case moveAnotherFails:
			return false, false // of one net, such calls hold nothing
		case moveAnother:
			if n.choose(s.names[k.name], v, tr) != i {
				closed = false
				if !s.recalled[k.name] {
					return false, false // only a call that is made now can succeed
				}
			}
		default:
			if t.reserve && t.giveBack(n, v) != nil {
				return false, false
			}
		}
		fires := m.does != moveFail && t.enabled(v)
		if tr.note(-5, i); fires {
			tr.note(-6)
			if n.fireAndAdvance(i, v, tr) != nil {
				return false, false
			}
		}
	}
	return true, closed
}

// choose returns what covers a call, -1 if nothing does, and notes the choice.
func (n *Net) choose(tool string, v []int, tr *trace) int {
	chosen := n.first(v, n.uses[tool])
	for _, i := range n.uses[tool].transitions {
		if i == chosen {
			break
		}
		tr.note(i)
	}
	tr.note(-4, chosen)
	return chosen
}
