package helper

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// Guard asks a provider before its program acts. Make one with [New]; it is safe
// for concurrent use, as are several on one connection.
type Guard struct {
	config
	nc    *nats.Conn
	sub   *nats.Subscription
	inbox string // what reply subjects begin with; empty with WithSubscription
	stale error  // the connection's last error before we subscribed

	life context.Context // ends with Close
	end  context.CancelFunc

	mu      sync.Mutex
	waiting map[string]*waiter // by requestId; nil once closed
	sending sync.WaitGroup
}

// New returns a Guard that asks over nc in the name of caller, whose ExtensionID
// is required. The connection stays its owner's, need not be connected yet, and
// must outlive the Guard. New subscribes where the answers will come, and waits
// for the server to take that for as long as a check waits at most; a server that
// does not, or forbids it, shows in the outcomes of the checks. The error says
// which option or field is wrong, or that the connection is closed or draining.
func New(nc *nats.Conn, caller protocol.Caller, opts ...Option) (*Guard, error) {
	if nc == nil {
		return nil, errors.New("helper: the connection is nil")
	}
	g := &Guard{nc: nc, waiting: make(map[string]*waiter)}
	g.caller, g.timeout = caller, protocol.DefaultTimeoutMs
	g.posture = func(protocol.Action) Posture { return Closed }
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("helper: an option is nil")
		}
		if err := opt(&g.config); err != nil {
			return nil, fmt.Errorf("helper: %w", err)
		}
	}
	sample := protocol.Check{RequestID: "sample", Action: protocol.Action{
		Resource:  protocol.Resource{Kind: protocol.KindFile},
		Operation: protocol.OpStat,
		Targets:   []protocol.Target{{Path: "/"}},
	}}
	g.fill(&sample)
	if _, err := encode(&sample); err != nil { // of the caller and the context
		return nil, fmt.Errorf("helper: %w", err)
	}

	answers := g.subjects.On(protocol.ChannelDecision, g.scope)
	if !g.subscribe {
		g.inbox = nc.NewInbox() + "."
		answers = g.inbox + "*"
	}
	g.stale = nc.LastError()
	g.life, g.end = context.WithCancel(context.Background())
	var err error
	if g.sub, err = nc.Subscribe(answers, g.hear); err != nil {
		g.end()
		return nil, fmt.Errorf("helper: subscribe to %s: %w", answers, err)
	}
	if nc.IsConnected() {
		_ = nc.FlushTimeout(time.Duration(g.timeout) * time.Millisecond)
	}
	return g, nil
}

// Close ends the checks that wait (they do not proceed, [ErrClosed]) and releases
// what the Guard holds. It does not wait for a user callback that runs on. It may
// be called more than once; the connection stays open.
func (g *Guard) Close() {
	g.mu.Lock()
	g.waiting = nil
	g.mu.Unlock()
	g.end()
	g.sending.Wait()
	_ = g.sub.Unsubscribe() // fails only where the connection is closed: then it is gone
}

// enter makes a place for the answer to a check, and starts to send the check.
func (g *Guard) enter(ctx context.Context, w *waiter, doc []byte) Outcome {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting == nil {
		return refused(CauseCancelled, ErrClosed)
	}
	if g.waiting[w.id] != nil {
		return refused(CauseInvalid, fmt.Errorf("requestId: %q waits for its answer already", w.id))
	}
	g.waiting[w.id] = w
	g.sending.Go(func() { g.send(ctx, w, doc) })
	return Outcome{}
}

func (g *Guard) leave(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.waiting, w.id)
}

// hear takes what comes on the Guard's subscription to the check it belongs to.
// It reads the whole answer here, one after the other, so that no number of bad
// answers can crowd out the good one.
func (g *Guard) hear(m *nats.Msg) {
	var id string
	if g.inbox == "" {
		id, _ = protocol.Peek(m.Data)
	} else {
		id = g.replyID(m.Subject)
	}
	g.mu.Lock()
	w := g.waiting[id]
	g.mu.Unlock()
	switch {
	case w == nil: // of another caller, or too late
	case g.inbox != "" && len(m.Data) == 0 && m.Header.Get("Status") == "503":
		w.settle(unjudged(CauseNoProvider, nats.ErrNoResponders))
	default:
		w.judge(m.Data)
	}
}

// reply returns the subject for the answer to a check: the requestId may have
// any printable characters, so it is encoded.
func (g *Guard) reply(id string) string {
	if g.inbox == "" {
		return ""
	}
	return g.inbox + base64.RawURLEncoding.EncodeToString([]byte(id))
}

func (g *Guard) replyID(subject string) string {
	id, _ := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(subject, g.inbox))
	return string(id)
}
