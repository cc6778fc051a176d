package helper

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// waiter is a check that waits for its answer.
type waiter struct {
	id, hash string       // of the document that was sent
	settled  chan Outcome // of one: the first settles it
	bad      atomic.Pointer[error]
}

func newWaiter(id string, doc []byte) *waiter {
	return &waiter{id: id, hash: protocol.Hash(doc), settled: make(chan Outcome, 1)}
}

func (w *waiter) settle(o Outcome) {
	select {
	case w.settled <- o:
	default:
	}
}

// ignore remembers why an answer was not taken.
func (w *waiter) ignore(why error) { w.bad.Store(&why) }

// late is the outcome where nothing settled the check in time.
func (w *waiter) late() Outcome {
	if why := w.bad.Load(); why != nil {
		return unjudged(CauseBadAnswer, *why)
	}
	return unjudged(CauseTimeout, errors.New("no answer came in time"))
}

// judge takes a document for an answer only if it is a valid decision on the very
// bytes that were sent. An error may come without a hash, as its provider may not
// have got that far. A decision that says none of the four words is an answer too,
// and not allow.
func (w *waiter) judge(doc []byte) {
	d, err := protocol.DecodeDecision(doc)
	if err != nil {
		if id, _ := protocol.Peek(doc); id == w.id && err.Field == "decision" {
			w.settle(Outcome{By: ByProvider, Cause: CauseBadAnswer, err: fmt.Errorf("the provider's answer is not allow: %w", err)})
			return
		}
		w.ignore(fmt.Errorf("an answer that is no valid decision: %w", err))
		return
	}
	switch unhashed := d.Decision == protocol.VerdictError && d.RequestHash == ""; {
	case d.RequestID != w.id:
		w.ignore(fmt.Errorf("an answer to the requestId %q", d.RequestID))
	case d.RequestHash != w.hash && !unhashed:
		w.ignore(errors.New("an answer with the requestHash of another check"))
	default:
		w.settle(answered(d))
	}
}

func answered(d *protocol.Decision) Outcome {
	o := Outcome{By: ByProvider, Decision: d, proceed: d.Allows()}
	if o.proceed {
		return o
	}
	o.err = fmt.Errorf("the provider answered %s (%s): %s", d.Decision, d.Code, d.Reason)
	if d.Decision == protocol.VerdictError {
		o.Cause = CauseErrorDecision
		if d.Code.NobodyJudged() {
			o.By = ByPosture
		}
	}
	return o
}
