package petri

// watcher follows a history for an assertion: a small number is all that it
// remembers. It returns what it remembers now, and whether it has seen what it
// looks for, which is always a call that is let through.
type watcher func(state int, tool string, what eventKind, approval Approval) (next int, seen bool)

type eventKind uint8

const (
	calling eventKind = iota
	succeeding
)

// watcher returns what looks for the end of a counterexample; for PossibleKind,
// of a witness.
func (a Assertion) watcher() watcher {
	switch a.Kind {
	case BeforeKind, AfterKind:
		// The state is 1 once Y was there. Where X and Y are the same tool, a call
		// is judged before it counts.
		wrong := 0
		if a.Kind == AfterKind {
			wrong = 1
		}
		return func(state int, tool string, what eventKind, _ Approval) (int, bool) {
			seen := what == calling && tool == a.Tool && state == wrong
			if tool == a.Other && (what == succeeding || !a.Succeeds) {
				state = 1
			}
			return state, seen
		}
	case UnapprovedKind:
		need := AnyApproval
		if a.Operator {
			need = OperatorApproval
		}
		return func(state int, tool string, what eventKind, has Approval) (int, bool) {
			return state, what == calling && tool == a.Tool && has < need
		}
	case AtMostKind:
		// The state is the number of calls so far.
		return func(state int, tool string, what eventKind, _ Approval) (int, bool) {
			switch {
			case tool == a.Tool && what == calling:
				if state >= a.Most {
					return state, true
				}
				return state + 1, false
			case tool == a.Other && a.Other != "" && (what == succeeding || !a.Succeeds):
				return 0, false
			}
			return state, false
		}
	}
	return func(state int, tool string, what eventKind, _ Approval) (int, bool) {
		return state, what == calling && tool == a.Tool
	}
}

// tools returns the names that an assertion speaks of.
func (a Assertion) tools() []string {
	if a.Other == "" || a.Other == a.Tool {
		return []string{a.Tool}
	}
	return []string{a.Tool, a.Other}
}

// awaits reports whether the result of a tool matters to the assertion.
func (a Assertion) awaits(tool string) bool {
	return a.Other == tool && (a.Succeeds || a.Kind == AtMostKind) && a.Other != ""
}
