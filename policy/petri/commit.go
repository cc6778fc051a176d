package petri

import "fmt"

// Change is what a call or a result does to markings and to what is pending. It
// is to be stored as a whole or not at all.
type Change struct {
	Nets []NetChange
	// Pending are the entries that the call leaves until its result, in order.
	Pending []Pending
	// Lapsed are the entries of a result that succeeded and found their
	// transition no longer enabled: they changed nothing.
	Lapsed []Pending
}

// NetChange is what happens to one net.
type NetChange struct {
	Net           int // index in the set
	Before, After Marking
	Fired         []Firing // in order, structural transitions left out
}

// Firing is the firing of a transition for a tool.
type Firing struct {
	Transition int // index in the net
	Name       string
}

// Pending is a deferred transition that waits for the result of a call. It
// names nets, transitions and places by name, so that it outlives a reload.
type Pending struct {
	ID         string // of the call
	Net        string
	Transition string
	Name       string // the tool name that was judged
	Held       []Held // the tokens that are reserved
}

// Held is a number of reserved tokens of a place.
type Held struct {
	Place  string
	Tokens int
}

// Empty reports whether there is nothing to store, but that the entries of a
// result are gone.
func (c *Change) Empty() bool { return len(c.Nets) == 0 && len(c.Pending) == 0 }

// Commit looks at the nets again, on the markings of now, and returns what is to
// be stored: all that is gated fires, or nothing does. The same transitions must
// cover the call as when it was planned; where a marking has moved, the guard is
// asked again. Otherwise the error is ErrStateChanged.
//
// The error is ErrNotAllowed where the plan blocks or failed, and ErrNotApproved
// where granted is less than the plan's Approval. A plan in which nets are only
// free or abstain gives an empty change.
func (p *Plan) Commit(now View, granted Approval) (Change, error) {
	var c Change
	if p.Verdict() < Gated {
		return c, ErrNotAllowed
	}
	if granted < p.need {
		return c, fmt.Errorf("%w: it needs %v, has %v", ErrNotApproved, p.need, granted)
	}
	planned := p.Opinions
	for _, i := range p.set.speaking(p.call.Names) {
		m, active := now(i)
		known := len(planned) > 0 && planned[0].Net == i
		if active != known {
			return Change{}, fmt.Errorf("%w: net %q is no longer what it was", ErrStateChanged, p.set.nets[i].name)
		}
		if !known {
			continue
		}
		o := planned[0]
		planned = planned[1:]
		if m != o.Before {
			var err error
			if o, err = p.again(o, m); err != nil {
				return Change{}, err
			}
		}
		p.set.collect(&c, &o, p.call.ID)
	}
	return c, nil
}

// again judges a net whose marking is no longer the one planned with.
func (p *Plan) again(was Opinion, m Marking) (Opinion, error) {
	n := p.set.nets[was.Net]
	o := p.set.judge(was.Net, m, p.call.Names)
	p.set.ask(&o, p.call.Guard)
	for i := range o.Steps {
		if is := &o.Steps[i]; is.Verdict != was.Steps[i].Verdict || is.Transition != was.Steps[i].Transition {
			err := fmt.Errorf("%w: net %q now says %v of %s", ErrStateChanged, n.name, is.Verdict, is.Name)
			if is.Reason != "" {
				err = fmt.Errorf("%w: %s", err, is.Reason)
			}
			return o, err
		}
	}
	return o, nil
}

// collect adds what a gated opinion changes.
func (s *Set) collect(c *Change, o *Opinion, id string) {
	if o.Verdict != Gated {
		return
	}
	n := s.nets[o.Net]
	change := NetChange{Net: o.Net, Before: o.Before, After: o.After}
	for i := range o.Steps {
		step := &o.Steps[i]
		if step.Verdict != Gated {
			continue
		}
		if t := &n.transitions[step.Transition]; t.deferred {
			c.Pending = append(c.Pending, n.pending(t, id, step.Name))
		} else {
			change.Fired = append(change.Fired, Firing{step.Transition, step.Name})
		}
	}
	if len(change.Fired) > 0 || change.Before != change.After {
		c.Nets = append(c.Nets, change)
	}
}

func (n *Net) pending(t *transition, id, name string) Pending {
	p := Pending{ID: id, Net: n.name, Transition: t.name, Name: name}
	if t.reserve {
		for _, a := range t.inputs {
			p.Held = append(p.Held, Held{n.places[a.place], a.weight})
		}
	}
	return p
}
