package petri

import "slices"

// Call is a call of a tool, as nets see it.
type Call struct {
	// ID names the call in what stays pending: it is the caller's own, and opaque.
	ID string
	// Names are the tool names of the call. Several are judged in order, each on
	// what those before it leave, as one step: all or nothing.
	Names []string
	// Guard is asked about each step that is gated; nil lets all pass.
	Guard Guard
}

// Guard decides whether a step may be taken, beyond what the net says. It is
// asked only when no net blocks the call, net by net and name by name.
type Guard func(Question) Ruling

// Question is what a guard is asked about.
type Question struct {
	Net        int // index in the set
	Transition int // index in the net
	Name       string
	Position   int     // of Name among the names of the call
	Marking    Marking // before the step
}

// Ruling is a guard's answer. The zero value refuses.
type Ruling struct {
	Pass   bool
	Reason string // of a refusal
	Err    error  // the guard failed: worse than a refusal, whatever Pass says
}

// Opinion is what one net says of a call.
type Opinion struct {
	Net     int // index in the set
	Verdict Verdict
	Steps   []Step  // one for each name of the call
	Before  Marking // what the opinion rests on
	After   Marking // what committing leaves; Before where the verdict is not Gated
}

// Plan is what the nets say of a call and what letting it through would change.
// It is not changed after it was made and safe for concurrent reading.
type Plan struct {
	// Opinions are of the active nets that speak of a name of the call, in order.
	// All others abstain.
	Opinions []Opinion

	set  *Set
	call Call
	need Approval
}

// Plan judges a call on the markings of a view: first the structure of every
// net, then, where none blocks or fails, the guards of those that are gated. It
// changes nothing. The error is ErrTooManyNames; what fails in a net is in its
// opinion.
func (s *Set) Plan(call Call, view View) (*Plan, error) {
	if len(call.Names) > MaxNames {
		return nil, ErrTooManyNames
	}
	p := &Plan{set: s, call: call}
	nets := s.speaking(call.Names)
	if len(nets) == 0 {
		return p, nil
	}
	p.Opinions = make([]Opinion, 0, len(nets))
	for _, i := range nets {
		if m, active := view(i); active {
			p.Opinions = append(p.Opinions, s.judge(i, m, call.Names))
		}
	}
	if p.Verdict() >= Gated {
		for i := range p.Opinions {
			s.ask(&p.Opinions[i], call.Guard)
		}
	}
	for i := range p.Opinions {
		p.need = max(p.need, s.approval(&p.Opinions[i]))
	}
	return p, nil
}

// judge is the structural check: each name on what the names before it leave.
func (s *Set) judge(net int, m Marking, names []string) Opinion {
	n := s.nets[net]
	o := Opinion{Net: net, Verdict: Abstain, Before: m, After: m, Steps: make([]Step, len(names))}
	if err := n.check(m); err != nil {
		for i, name := range names {
			o.Steps[i] = Step{Name: name, Transition: -1, Verdict: Failed, Reason: err.Error(), Err: err}
		}
		o.Verdict = Failed
		return o
	}
	var room [64]int
	v := m.decode(room[:0])
	for i, name := range names {
		step := n.classify(m, v, name)
		if step.Verdict == Gated {
			if moved, err := n.letThrough(step.Transition, v, nil); err != nil {
				step.Verdict, step.Reason, step.Err = Failed, err.Error(), err
				m.overwrite(v) // the failed firing spoilt it
			} else if moved {
				m = encode(v)
			}
		}
		o.Steps[i] = step
		o.Verdict = min(o.Verdict, step.Verdict)
	}
	if o.Verdict == Gated {
		o.After = m
	}
	return o
}

// letThrough does what letting one gated step through does to the marking at
// once, and reports whether that can be anything: a deferred transition waits,
// and takes its tokens only if it reserves them.
func (n *Net) letThrough(i int, v []int, tr *trace) (moved bool, err error) {
	switch t := &n.transitions[i]; {
	case !t.deferred:
		return true, n.fireAndAdvance(i, v, tr)
	case t.reserve:
		t.take(v)
		return true, nil
	}
	return false, nil
}

// overwrite sets v back to the marking.
func (m Marking) overwrite(v []int) {
	for i := range v {
		v[i] = m.at(i)
	}
}

// ask puts the gated steps of an opinion to the guard.
func (s *Set) ask(o *Opinion, guard Guard) {
	if guard == nil || o.Verdict != Gated {
		return
	}
	for i := range o.Steps {
		step := &o.Steps[i]
		if step.Verdict != Gated {
			continue
		}
		r := guard(Question{Net: o.Net, Transition: step.Transition, Name: step.Name, Position: i, Marking: step.Marking})
		switch {
		case r.Err != nil:
			step.Verdict, step.Err, step.Reason = Failed, r.Err, r.Reason
			if step.Reason == "" {
				step.Reason = r.Err.Error()
			}
		case !r.Pass:
			step.Verdict, step.Reason = Blocked, r.Reason
		default:
			continue
		}
		o.Verdict = min(o.Verdict, step.Verdict)
		o.After = o.Before
	}
}

// approval returns the strictest approval that the gated steps of an opinion need.
func (s *Set) approval(o *Opinion) (need Approval) {
	for i := range o.Steps {
		if step := &o.Steps[i]; step.Verdict == Gated {
			need = max(need, s.nets[o.Net].transitions[step.Transition].approval())
		}
	}
	return need
}

func (t *transition) approval() Approval {
	switch {
	case t.operator:
		return OperatorApproval
	case t.manual:
		return AnyApproval
	}
	return NoApproval
}

// Verdict returns the strictest verdict: Abstain where no net speaks.
func (p *Plan) Verdict() Verdict {
	v := Abstain
	for i := range p.Opinions {
		v = min(v, p.Opinions[i].Verdict)
	}
	return v
}

// Approval returns what must be approved before the plan is committed. It says
// something only where the verdict lets the call through.
func (p *Plan) Approval() Approval { return p.need }

// Granted reports whether a net that grants lets a name of the call through, by
// its position: one that is free or gated and does not only restrict.
func (p *Plan) Granted(position int) bool {
	return slices.ContainsFunc(p.Opinions, func(o Opinion) bool {
		v := o.Steps[position].Verdict
		return !p.set.nets[o.Net].restricts && (v == Free || v == Gated)
	})
}

// Grants reports whether the nets grant the whole call: every name of it, and
// no net blocks or fails.
func (p *Plan) Grants() bool {
	if len(p.call.Names) == 0 || p.Verdict() < Gated {
		return false
	}
	for i := range p.call.Names {
		if !p.Granted(i) {
			return false
		}
	}
	return true
}
