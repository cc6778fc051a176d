package petri

import (
	"fmt"
	"slices"
	"strings"
)

// EventKind is what happens in an Event.
type EventKind uint8

const (
	CallLetThrough EventKind = iota
	CallSucceeded
	CallFailed
)

// Event is a call that is let through, or its result.
type Event struct {
	Kind EventKind
	Tool string
	Call int // which call of the trace, from 1
}

// Trace is a history of calls and results.
type Trace []Event

// String returns the history as text: "test (succeeds), deploy". A result that
// comes later than right after its call names the call by its number.
func (t Trace) String() string {
	var b strings.Builder
	for i := 0; i < len(t); i++ {
		if i > 0 {
			b.WriteString(", ")
		}
		e := t[i]
		b.WriteString(e.Tool)
		switch {
		case e.Kind == CallSucceeded:
			fmt.Fprintf(&b, " #%d succeeds", e.Call)
		case e.Kind == CallFailed:
			fmt.Fprintf(&b, " #%d fails", e.Call)
		case i+1 < len(t) && t[i+1].Call == e.Call:
			word := " (succeeds)"
			if t[i+1].Kind == CallFailed {
				word = " (fails)"
			}
			b.WriteString(word)
			i++
		case t.answered(i):
			fmt.Fprintf(&b, " #%d (waits)", e.Call)
		}
	}
	return b.String()
}

func (t Trace) answered(i int) bool {
	for _, e := range t[i+1:] {
		if e.Call == t[i].Call {
			return true
		}
	}
	return false
}

// trace turns the moves along some states, and a last call (-1: none), into
// events. Calls that were not counted are put in at the last state in which they
// could be made without changing anything; false where there is none.
func (s *search) trace(ids []int, last int) (Trace, bool) {
	type entry struct {
		kind EventKind
		name int
		call int // an id of the call
	}
	at := make([][]entry, len(ids)) // what happens in state i, before the move out of it
	calls := 0
	waits := make(map[int][]int)
	for i := 1; i < len(ids); i++ {
		m := s.by[ids[i]]
		switch m.does {
		case moveCall:
			if k := s.waitsAs(ids[i-1], ids[i], int(m.which)); k >= 0 {
				waits[k] = append(waits[k], calls)
			}
			at[i-1] = append(at[i-1], entry{CallLetThrough, int(m.which), calls})
			calls++
		case moveSucceed, moveFail:
			k := int(m.which)
			if len(waits[k]) == 0 {
				return nil, false
			}
			kind := CallSucceeded
			if m.does == moveFail {
				kind = CallFailed
			}
			at[i-1] = append(at[i-1], entry{kind, s.kinds[k].name, waits[k][0]})
			waits[k] = waits[k][1:]
		case moveAnother, moveAnotherFails:
			k := int(m.which)
			j := i - 1
			for ; j >= 0; j-- {
				if slices.ContainsFunc(s.calls(s.state(s.keys[ids[j]]), s.kinds[k].name), func(c call) bool { return c.kind == k && c.unchanged }) {
					break
				}
			}
			if j < 0 {
				return nil, false
			}
			put := entry{CallLetThrough, s.kinds[k].name, calls}
			if j == i-1 {
				at[j] = append(at[j], put)
			} else {
				at[j] = slices.Insert(at[j], 0, put)
			}
			kind := CallSucceeded
			if m.does == moveAnotherFails {
				kind = CallFailed
			}
			at[i-1] = append(at[i-1], entry{kind, s.kinds[k].name, calls})
			calls++
		}
	}
	if last >= 0 {
		at[len(ids)-1] = append(at[len(ids)-1], entry{CallLetThrough, last, calls})
	}
	var t Trace
	numbers := make(map[int]int)
	for _, entries := range at {
		for _, e := range entries {
			if e.kind == CallLetThrough {
				numbers[e.call] = len(numbers) + 1
			}
			t = append(t, Event{e.kind, s.names[e.name], numbers[e.call]})
		}
	}
	return t, true
}

// waitsAs returns the kind of the call that leads from a state to another, -1
// where it waits for nothing.
func (s *search) waitsAs(from, to, name int) int {
	if len(s.kinds) == 0 {
		return -1
	}
	st := s.state(s.keys[from])
	for _, c := range s.calls(st, name) {
		if c.next.waiting = st.waiting; c.kind >= 0 {
			c.next.waiting = s.wait(st.waiting, c.kind, 1)
		}
		if string(s.key(s.close(c.next), nil)) == s.keys[to] {
			return c.kind
		}
	}
	return -1
}
