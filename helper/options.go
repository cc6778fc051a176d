package helper

import (
	"errors"
	"fmt"
	"time"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// Option tunes a [Guard]. Where two options set the same thing the later one counts.
type Option func(*config) error

type config struct {
	caller    protocol.Caller
	context   protocol.Context
	subjects  protocol.Subjects
	scope     string
	timeout   protocol.Millis
	posture   func(protocol.Action) Posture
	user      UserFunc
	subscribe bool // the answer comes on the decision subject, not on an inbox
}

// WithPosture sets one posture for every action; without it, it is [Closed].
// It fails for a value that is neither Closed nor Open.
func WithPosture(p Posture) Option {
	return func(c *config) error {
		if p > Open {
			return fmt.Errorf("posture %d: write helper.Closed or helper.Open", p)
		}
		c.posture = func(protocol.Action) Posture { return p }
		return nil
	}
}

// WithPostureFunc sets the posture by action, as [ReadsOpen] does. The function
// is called by many goroutines at once, only where nobody judged the action; a
// panic in it is [Closed]. It fails for nil.
func WithPostureFunc(f func(protocol.Action) Posture) Option {
	return func(c *config) error {
		if f == nil {
			return errors.New("posture function: is nil")
		}
		c.posture = f
		return nil
	}
}

// WithScope sets the scope of the subjects, such as "swarm-a.agent-7"; without
// it, it is empty. It fails where the scope is not literal NATS tokens.
func WithScope(scope string) Option {
	return func(c *config) error {
		c.scope = scope
		return protocol.CheckScope(scope)
	}
}

// WithPrefix sets the first tokens of the subjects in place of "guardrails". It
// fails where they are not literal NATS tokens.
func WithPrefix(prefix string) Option {
	return func(c *config) (err error) {
		c.subjects, err = protocol.NewSubjects(prefix)
		return err
	}
}

// WithTimeout sets how long a check waits for its answer, in whole milliseconds
// (what is finer is cut off); without it, that is a second. It fails outside 1 ms
// to 10 minutes.
func WithTimeout(d time.Duration) Option {
	return func(c *config) error {
		ms := d.Milliseconds()
		if ms < protocol.MinTimeoutMs || ms > protocol.MaxTimeoutMs {
			return fmt.Errorf("time-out %v: must be from %d to %d milliseconds", d, protocol.MinTimeoutMs, protocol.MaxTimeoutMs)
		}
		c.timeout = protocol.Millis(ms)
		return nil
	}
}

// WithContext sets what checks say about where they happen, field by field, for
// the fields that a check leaves empty.
func WithContext(where protocol.Context) Option {
	return func(c *config) error {
		c.context = where
		return nil
	}
}

// WithUser sets the callback that asks the user where the provider answers
// "ask", and tells the provider that there is one (options.interactive). It fails
// for nil.
func WithUser(ask UserFunc) Option {
	return func(c *config) error {
		if ask == nil {
			return errors.New("user callback: is nil")
		}
		c.user = ask
		return nil
	}
}

// WithSubscription makes the Guard hear its answers on the decision subject of
// its scope, not on an inbox of its own: for a bus on which requests are not
// wanted. NATS then does not tell that there is no provider; that is a time-out.
func WithSubscription() Option {
	return func(c *config) error {
		c.subscribe = true
		return nil
	}
}
