package petri

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrOverflow is returned when a firing would put more than MaxTokens in a place.
	ErrOverflow = errors.New("too many tokens")
	// ErrNotEnabled is returned when a transition is fired that is not enabled.
	ErrNotEnabled = errors.New("not enabled")
	// ErrMarking is returned for a marking that is not one of the net at hand.
	ErrMarking = errors.New("not a marking of this net")
	// ErrTooManyNames is returned for a call with more than MaxNames names.
	ErrTooManyNames = errors.New("too many names for one call")
	// ErrNotAllowed is returned when a plan is committed that a net blocks or failed on.
	ErrNotAllowed = errors.New("not let through")
	// ErrNotApproved is returned when a plan is committed without the approval that it needs.
	ErrNotApproved = errors.New("not approved")
	// ErrStateChanged is returned when a plan is committed that no longer fits
	// the markings: nothing has fired.
	ErrStateChanged = errors.New("state changed")
)

// Mistake is one thing wrong with a Definition.
type Mistake struct {
	Path    string // of the field, such as transitions[2].inputs[0]; initialMarking.ready
	Problem string // what is wrong, and what to write instead
}

// String returns "path: problem".
func (m Mistake) String() string {
	if m.Path == "" {
		return m.Problem
	}
	return m.Path + ": " + m.Problem
}

// Mistakes are all the mistakes of a Definition, as one error, in the order of
// the fields.
type Mistakes []Mistake

// Error returns a line for each mistake.
func (ms Mistakes) Error() string {
	lines := make([]string, len(ms))
	for i, m := range ms {
		lines[i] = m.String()
	}
	return strings.Join(lines, "\n")
}

func (ms *Mistakes) add(path, format string, args ...any) {
	switch len(*ms) {
	case MaxIssues:
		*ms = append(*ms, Mistake{"", "more mistakes than can be listed"})
	case MaxIssues + 1:
	default:
		*ms = append(*ms, Mistake{path, fmt.Sprintf(format, args...)})
	}
}
