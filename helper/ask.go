package helper

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// UserFunc asks the user and returns true for an explicit yes. It runs in a
// goroutine of its own, several at once where several checks are asked about. Its
// ctx ends when the ask expires, the check is cancelled or the Guard is closed;
// what it returns then, and a panic, is a no.
type UserFunc func(ctx context.Context, q Question) (yes bool)

// Question is what the user is asked: Decision.Ask.Prompt about Check.Action.
type Question struct {
	Check    protocol.Check
	Decision protocol.Decision
}

// ask lets the user answer what the provider did not want to answer alone.
func (g *Guard) ask(ctx context.Context, check *protocol.Check, o Outcome) Outcome {
	o.Cause = CauseUnanswered
	if g.user == nil {
		return o
	}
	expires := o.Decision.Ask.ExpiresAt
	ctx, cancel := context.WithDeadline(ctx, expires)
	defer cancel()
	defer context.AfterFunc(g.life, cancel)()

	said := make(chan error, 1)
	if ctx.Err() == nil {
		go func() { said <- g.askUser(ctx, Question{*check, *o.Decision}) }()
	}
	select {
	case err := <-said:
		if ctx.Err() != nil || !time.Now().Before(expires) {
			break
		}
		if err == nil || errors.Is(err, errNo) {
			o.By, o.Cause = ByUser, CauseNone
		}
		o.proceed, o.err = err == nil, err
		return o
	case <-ctx.Done():
	}
	o.err = fmt.Errorf("the user did not answer in time: %w", o.err)
	return o
}

var errNo = errors.New("the user said no")

// askUser returns nil for a yes, and what a callback does instead of answering.
func (g *Guard) askUser(ctx context.Context, q Question) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the user callback panicked: %v", p)
		}
	}()
	if !g.user(ctx, q) {
		return errNo
	}
	return nil
}
