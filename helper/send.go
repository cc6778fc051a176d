package helper

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// send publishes the check and settles w where no answer can come. It runs beside
// the check, since every call on a connection may block for as long as a write to
// a stalled server does. It returns when ctx ends: at the latest when the check does.
//
// The listener is taken before the status is read, so that no loss goes unseen;
// and the connection's own handlers stay untouched: what the server forbids is
// read from its last error, which it sets before the flush returns.
func (g *Guard) send(ctx context.Context, w *waiter, doc []byte) {
	lost := g.nc.StatusChanged(nats.RECONNECTING, nats.DISCONNECTED, nats.CLOSED, nats.DRAINING_SUBS, nats.DRAINING_PUBS)
	defer g.nc.RemoveStatusListener(lost)

	if most := g.nc.MaxPayload(); most > 0 && int64(len(doc)) > most {
		w.settle(refused(CauseInvalid, fmt.Errorf("the check has %d bytes, the NATS server takes %d: %w", len(doc), most, nats.ErrMaxPayload)))
		return
	}
	if status := g.nc.Status(); status != nats.CONNECTED {
		w.settle(disconnected(status))
		return
	}
	before := g.nc.LastError()
	if violates(before, g.stale, "Subscription", g.sub.Subject) {
		w.settle(unjudged(CausePermission, before))
		return
	}
	if ctx.Err() != nil {
		return // it took so long that the check is over
	}
	subject := g.subjects.On(protocol.ChannelCheck, g.scope)
	err := g.nc.PublishMsg(&nats.Msg{Subject: subject, Reply: g.reply(w.id), Data: doc})
	if err == nil {
		err = g.nc.FlushWithContext(ctx)
	}
	after := g.nc.LastError()
	switch {
	case violates(after, before, "Publish", subject), violates(after, before, "Subscription", g.sub.Subject):
		w.settle(unjudged(CausePermission, after))
	case errors.Is(err, nats.ErrMaxPayload): // a reconnect to a server that takes less
		w.settle(refused(CauseInvalid, err))
	case err != nil && ctx.Err() == nil:
		w.settle(unjudged(CauseConnection, err))
	}
	select {
	case status := <-lost:
		w.settle(disconnected(status))
	case <-ctx.Done():
	}
}

func disconnected(status nats.Status) Outcome {
	return unjudged(CauseConnection, fmt.Errorf("the NATS connection is %s", strings.ToLower(status.String())))
}

// violates says whether err is the server's word, newer than old, that the
// connection may not do that on the subject.
func violates(err, old error, what, subject string) bool {
	return errors.Is(err, nats.ErrPermissionViolation) && err != old &&
		strings.Contains(err.Error(), what+" to "+strconv.Quote(subject))
}
