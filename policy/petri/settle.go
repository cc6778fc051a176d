package petri

import "fmt"

// Outcome is how a call ended. The zero value spends nothing.
type Outcome uint8

const (
	Failure Outcome = iota // also a call that was cancelled and a lease that ended
	Success                // only what is known to have succeeded
)

// Settle ends pending entries: those of one call, in the order in which it left
// them. Reserved tokens go back to their places. Then, where the call succeeded,
// the transition fires if it is enabled; else nothing changes, and the entry is
// among Lapsed.
//
// The caller removes the entries in the write that stores the change; a result
// that comes again finds none, and changes nothing. Whether a net is active does
// not matter: what is pending began while it was. Entries of a net, a transition
// or a place that the set no longer has are dropped. After an error nothing may
// be stored; the entries stay.
func (s *Set) Settle(entries []Pending, outcome Outcome, view View) (Change, error) {
	var c Change
	at := make(map[int]int) // net → index in c.Nets
	for _, e := range entries {
		net, known := s.byName[e.Net]
		if !known {
			continue
		}
		n := s.nets[net]
		k, touched := at[net]
		if !touched {
			m, _ := view(net)
			if err := n.check(m); err != nil {
				return Change{}, err
			}
			k = len(c.Nets)
			at[net] = k
			c.Nets = append(c.Nets, NetChange{Net: net, Before: m, After: m})
		}
		change := &c.Nets[k]
		after, fired, err := n.settle(change.After, e, outcome)
		if err != nil {
			return Change{}, fmt.Errorf("result of %s: %w", e.Name, err)
		}
		change.After = after
		switch {
		case fired >= 0:
			change.Fired = append(change.Fired, Firing{fired, e.Name})
		case outcome == Success:
			c.Lapsed = append(c.Lapsed, e)
		}
	}
	c.Nets = dropUnchanged(c.Nets)
	return c, nil
}

func dropUnchanged(changes []NetChange) []NetChange {
	kept := changes[:0]
	for _, c := range changes {
		if len(c.Fired) > 0 || c.Before != c.After {
			kept = append(kept, c)
		}
	}
	return kept
}

// settle returns the marking after one entry, and the transition that fired or -1.
func (n *Net) settle(m Marking, e Pending, outcome Outcome) (after Marking, fired int, err error) {
	v := m.decode(nil)
	for _, h := range e.Held {
		if p, ok := n.placeIndex[h.Place]; ok && h.Tokens > 0 {
			if h.Tokens > MaxTokens-v[p] {
				return m, -1, fmt.Errorf("net %q: %w in %q", n.name, ErrOverflow, h.Place)
			}
			v[p] += h.Tokens
		}
	}
	i, ok := n.TransitionIndex(e.Transition)
	if outcome != Success || !ok || !n.transitions[i].enabled(v) {
		return encode(v), -1, nil
	}
	if err := n.fireAndAdvance(i, v, nil); err != nil {
		return m, -1, err
	}
	return encode(v), i, nil
}
