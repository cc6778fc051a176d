package petri

// Verdict is what a net says of a call. The strictest has the lowest value, and
// the zero value blocks.
type Verdict uint8

const (
	Blocked Verdict = iota // it names the tool, and no transition is enabled, or a guard refused
	Failed                 // it could not be evaluated: the call must not go through
	Gated                  // an enabled transition covers the call
	Free                   // the tool is free, whatever the marking
	Abstain                // no transition names the tool
)

// String returns the verdict's name in lower case.
func (v Verdict) String() string {
	switch v {
	case Failed:
		return "failed"
	case Gated:
		return "gated"
	case Free:
		return "free"
	case Abstain:
		return "abstain"
	}
	return "blocked"
}

// Approval is what must be approved before a plan is committed, or what has
// been. Each contains those below it; the zero value approves nothing.
type Approval uint8

const (
	NoApproval Approval = iota
	AnyApproval
	OperatorApproval
)

// String returns "none", "any" or "operator".
func (a Approval) String() string {
	switch a {
	case NoApproval:
		return "none"
	case AnyApproval:
		return "any"
	}
	return "operator"
}

// Step is what one net says of one name of a call.
type Step struct {
	Name    string // the tool name that was judged
	Verdict Verdict
	// Transition is the index of the transition that covers the call, -1 where none does.
	Transition int
	// Marking is what the step was judged on: the net's, as the steps before it
	// would have left it.
	Marking Marking
	Reason  string // of Blocked and Failed
	Err     error  // of Failed
}

// Classify says what the net says of a call of one tool on a marking, with no
// guard asked and nothing fired.
func (n *Net) Classify(m Marking, tool string) Step {
	if err := n.check(m); err != nil {
		return Step{Name: tool, Transition: -1, Verdict: Failed, Reason: err.Error(), Err: err}
	}
	var room [64]int
	return n.classify(m, m.decode(room[:0]), tool)
}

func (n *Net) classify(m Marking, v []int, tool string) Step {
	s := Step{Name: tool, Transition: -1, Marking: m, Verdict: Abstain}
	u, known := n.uses[tool]
	switch {
	case !known:
	case u.free:
		s.Verdict = Free
	default:
		if s.Transition = n.first(v, u); s.Transition >= 0 {
			s.Verdict = Gated
		} else {
			s.Verdict = Blocked
			s.Reason = n.blockReason(tool, v)
		}
	}
	return s
}
