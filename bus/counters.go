package bus

import (
	"sync/atomic"
	"time"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// counters count since the start of the instance.
type counters struct {
	checks, allowed, blocked, asked, failed, replayed atomic.Uint64
	overloaded, panics, lost, slow, unanswerable      atomic.Uint64
	// Of the subjects without and with a scope, for discovery.
	plain, scoped endpointCounters
}

// endpointCounters are what discovery reports of one subject.
type endpointCounters struct {
	requests, errors atomic.Uint64
	answerTime       atomic.Int64 // nanoseconds, from receipt to publication
	lastError        atomic.Pointer[string]
}

func (c *counters) at(scope string) *endpointCounters {
	if scope == "" {
		return &c.plain
	}
	return &c.scoped
}

// receive counts a check when it comes.
func (c *counters) receive(scope string) {
	c.checks.Add(1)
	c.at(scope).requests.Add(1)
}

// answer counts a decision.
func (c *counters) answer(scope string, d *protocol.Decision, took time.Duration) {
	e := c.at(scope)
	switch d.Decision {
	case protocol.VerdictAllow:
		c.allowed.Add(1)
	case protocol.VerdictBlock:
		c.blocked.Add(1)
	case protocol.VerdictAsk:
		c.asked.Add(1)
	default:
		c.failed.Add(1)
		reason := string(d.Code) + ": " + d.Reason
		e.errors.Add(1)
		if d.Code == protocol.CodeOverloaded {
			c.overloaded.Add(1)
		}
		e.lastError.Store(&reason)
	}
	if d.Replayed {
		c.replayed.Add(1)
	}
	e.answerTime.Add(int64(took))
}

// Counts is what an instance did since it started.
type Counts struct {
	Checks       uint64 `json:"checks"`
	Allowed      uint64 `json:"allowed"`
	Blocked      uint64 `json:"blocked"`
	Asked        uint64 `json:"asked"`
	Errors       uint64 `json:"errors"`
	Replayed     uint64 `json:"replayed"`
	Overloaded   uint64 `json:"overloaded"`   // of the errors
	Panics       uint64 `json:"panics"`       // of the errors
	Lost         uint64 `json:"lost"`         // answers that could not be sent
	SlowConsumer uint64 `json:"slowConsumer"` // times that NATS dropped checks
	Unanswerable uint64 `json:"unanswerable"` // messages with nobody to tell
	Waiting      int    `json:"waiting"`      // checks that wait or run now
	PolicyHash   string `json:"policyHash,omitempty"`
}

// Counts returns what the provider did so far.
func (p *Provider) Counts() Counts {
	c := &p.counters
	return Counts{
		Checks:       c.checks.Load(),
		Allowed:      c.allowed.Load(),
		Blocked:      c.blocked.Load(),
		Asked:        c.asked.Load(),
		Errors:       c.failed.Load(),
		Replayed:     c.replayed.Load(),
		Overloaded:   c.overloaded.Load(),
		Panics:       c.panics.Load(),
		Lost:         c.lost.Load(),
		SlowConsumer: c.slow.Load(),
		Unanswerable: c.unanswerable.Load(),
		Waiting:      p.lanes.load(),
		PolicyHash:   p.cfg.Engine.PolicyHash(),
	}
}
