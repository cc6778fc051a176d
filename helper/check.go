package helper

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// Check asks whether the action may be performed, and returns in the time-out at
// the latest, or, where the user is asked, when the ask expires. See
// [Guard.CheckDocument].
func (g *Guard) Check(ctx context.Context, action protocol.Action) Outcome {
	return g.CheckDocument(ctx, protocol.Check{Action: action})
}

// CheckDocument asks with a document of the caller's own. It fills in what is
// empty: protocolVersion, requestId (random), and field by field the caller, the
// context and the time-out; options.interactive is always the Guard's own. A
// requestId that is given may wait for one answer at a time.
//
// A deadline of ctx that is sooner than the time-out shortens it, and then is
// one. A ctx that is cancelled, before or meanwhile, or has no millisecond left,
// is not an unanswered check: the action may not proceed, whatever the posture.
func (g *Guard) CheckDocument(ctx context.Context, check protocol.Check) Outcome {
	start := time.Now()
	g.fill(&check)
	o := g.conclude(ctx, &check, g.await(ctx, &check))
	o.RequestID, o.Took = check.RequestID, time.Since(start)
	return o
}

func (g *Guard) fill(c *protocol.Check) {
	c.ProtocolVersion = cmp.Or(c.ProtocolVersion, protocol.Version)
	if c.RequestID == "" {
		c.RequestID = rand.Text()
	}
	c.Caller.ExtensionID = cmp.Or(c.Caller.ExtensionID, g.caller.ExtensionID)
	c.Caller.AgentID = cmp.Or(c.Caller.AgentID, g.caller.AgentID)
	c.Caller.SwarmID = cmp.Or(c.Caller.SwarmID, g.caller.SwarmID)
	c.Context.Cwd = cmp.Or(c.Context.Cwd, g.context.Cwd)
	c.Context.Home = cmp.Or(c.Context.Home, g.context.Home)
	c.Context.SessionID = cmp.Or(c.Context.SessionID, g.context.SessionID)
	c.Context.RunID = cmp.Or(c.Context.RunID, g.context.RunID)
	c.Options.TimeoutMs = cmp.Or(c.Options.TimeoutMs, g.timeout)
	c.Options.Interactive = g.user != nil
}

// encode returns the bytes to send, where a provider would take them. They are
// read back, since some mistakes (a name that stands twice, say) show only there.
func encode(check *protocol.Check) ([]byte, error) {
	doc, err := protocol.Encode(check)
	if err != nil {
		return nil, err
	}
	if _, err := protocol.DecodeCheck(doc); err != nil {
		return nil, err
	}
	return doc, nil
}

// await sends the check and waits for what settles it.
func (g *Guard) await(ctx context.Context, check *protocol.Check) Outcome {
	if deadline, ok := ctx.Deadline(); ok {
		left := protocol.Millis(time.Until(deadline).Milliseconds())
		if left < protocol.MinTimeoutMs {
			return refused(CauseCancelled, fmt.Errorf("no time is left: %w", context.DeadlineExceeded))
		}
		check.Options.TimeoutMs = min(check.Options.TimeoutMs, left)
	}
	doc, err := encode(check)
	if err != nil {
		return refused(CauseInvalid, err)
	}
	ctx, cancel := context.WithTimeout(ctx, check.Options.Timeout())
	defer cancel()
	defer context.AfterFunc(g.life, cancel)()

	w := newWaiter(check.RequestID, doc)
	if o := g.enter(ctx, w, doc); o.err != nil {
		return o
	}
	defer g.leave(w)
	select {
	case o := <-w.settled:
		return o
	case <-ctx.Done():
	}
	select {
	case o := <-w.settled: // it came in the same moment
		return o
	default:
		return w.late()
	}
}

// conclude turns what settled the check into what the caller is told. It is the
// only place where a posture or a user lets an action proceed.
func (g *Guard) conclude(ctx context.Context, check *protocol.Check, o Outcome) Outcome {
	if o.By == ByProvider && o.Decision != nil && o.Decision.Decision == protocol.VerdictAsk {
		o = g.ask(ctx, check, o)
	}
	if g.life.Err() != nil {
		return refused(CauseCancelled, ErrClosed)
	}
	if err := ctx.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return refused(CauseCancelled, err)
	}
	if o.By == ByPosture {
		o.proceed = g.opens(check.Action)
	}
	return o
}
