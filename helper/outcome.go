package helper

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// Outcome is what came of a check. The zero Outcome may not proceed. An Outcome
// does not change and may be shared by goroutines.
type Outcome struct {
	// By is who decided. What went by posture is never [ByProvider].
	By Decider
	// Cause is what kept a plain answer away; [CauseNone] where one came.
	Cause Cause
	// Decision is the document that the provider answered with; nil where it did
	// not answer, or not in a way that could be read.
	Decision *protocol.Decision
	// RequestID is the check's, for the result that the caller may send.
	RequestID string
	// Took is how long the call took, the user's thinking included.
	Took time.Duration

	proceed bool
	err     error
}

// MayProceed is the one predicate: the caller performs the action where it is
// true, and otherwise does not.
func (o Outcome) MayProceed() bool { return o.proceed }

// Err says for people why the action may not proceed, or why nobody judged it
// although it may. It is nil where the provider or the user allowed the action,
// and never nil where MayProceed is false.
func (o Outcome) Err() error {
	if o.err == nil && !o.proceed {
		return errNoCheck
	}
	return o.err
}

// String returns one line for logs, such as "refused by posture (timeout): …".
func (o Outcome) String() string {
	verb := "refused"
	if o.proceed {
		verb = "allowed"
	}
	s := verb + " by " + o.By.String()
	if o.Cause != CauseNone {
		s += " (" + string(o.Cause) + ")"
	}
	if err := o.Err(); err != nil {
		s += ": " + err.Error()
	}
	return s
}

// Decider is who decided. The zero value is nobody.
type Decider string

// Who can decide.
const (
	ByNobody   Decider = ""         // the check was refused here, or its caller gave up
	ByProvider Decider = "provider" // it answered
	ByUser     Decider = "user"     // answered an ask
	ByPosture  Decider = "posture"
)

// String returns the name, "nobody" for the zero value.
func (d Decider) String() string { return cmp.Or(string(d), "nobody") }

// Cause is what kept a plain answer of the provider or the user away.
type Cause string

// The causes. With the first six the posture decides, except that bad-answer and
// error-decision are a refusal by the provider where the answer was to this check
// and says something other than that nobody could judge.
const (
	CauseNone          Cause = ""
	CauseTimeout       Cause = "timeout"        // nothing came in time
	CauseNoProvider    Cause = "no-provider"    // NATS says that nobody listens
	CauseConnection    Cause = "connection"     // lost, closed, draining or reconnecting
	CausePermission    Cause = "permission"     // NATS forbids to send the check or to hear the answer
	CauseBadAnswer     Cause = "bad-answer"     // what came was no valid answer to this check
	CauseErrorDecision Cause = "error-decision" // the provider answered error
	CauseUnanswered    Cause = "unanswered"     // an ask, and no user who answered in time
	CauseCancelled     Cause = "cancelled"      // the caller's context ended, or the Guard was closed
	CauseInvalid       Cause = "invalid"        // the check is not valid or too large; it was not sent
)

var errNoCheck = errors.New("no check was made")

// ErrClosed is in Outcome.Err when the Guard was closed before or during the check.
var ErrClosed = errors.New("the guard is closed")

func refused(cause Cause, err error) Outcome {
	return Outcome{By: ByNobody, Cause: cause, err: fmt.Errorf("not checked: %w", err)}
}

// unjudged leaves it to the posture, which [Guard.conclude] looks up.
func unjudged(cause Cause, err error) Outcome {
	return Outcome{By: ByPosture, Cause: cause, err: fmt.Errorf("nobody judged the action: %w", err)}
}
