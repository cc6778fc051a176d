package bus

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"github.com/rs/zerolog"

	"github.com/guardrails-provider/guardrails-provider/policy/engine"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// Limits of a provider.
const (
	// MaxWaiting is how many checks may wait or run at a time; beyond it the
	// answer is error, overloaded.
	MaxWaiting = 4096
	// MaxWaitingBytes is how many bytes their messages may have together.
	MaxWaitingBytes = 256 << 20
	// MaxPending is how many messages may wait in the client for the handler,
	// which only decodes: beyond it NATS drops them and reports a slow consumer.
	MaxPending = 8192
	// MaxPendingBytes is the same in bytes.
	MaxPendingBytes = 64 << 20
	// StopWait is how long an orderly stop may take.
	StopWait = 10 * time.Second
	// Settle is how long a provider on a server of its own choice waits between
	// its subscription and being ready. Servers need a moment until each of them
	// sends checks here; whoever stops another replica as soon as this one is
	// ready would find callers without any.
	Settle = 100 * time.Millisecond
)

// Config is what a provider needs.
type Config struct {
	Engine   *engine.Engine
	Subjects protocol.Subjects
	Version  string
	Log      zerolog.Logger
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Workers is how many checks are judged at a time; 0: a few for each core.
	Workers int
	// MaxWaiting replaces the constant of that name; 0: does not.
	MaxWaiting int

	// judge replaces the engine's Answer in tests of what surrounds it.
	judge func(context.Context, engine.Request) *protocol.Decision
}

// Provider answers checks on one connection. Use Start.
type Provider struct {
	cfg      Config
	nc       *nats.Conn
	id       string // of the instance
	started  time.Time
	lanes    *lanes[*job]
	checks   []*nats.Subscription
	others   []*nats.Subscription
	counters counters
	serving  atomic.Bool
	closed   chan struct{} // the connection is
}

// StartRemote connects to a server and answers there until Stop.
func StartRemote(r Remote, cfg Config) (*Provider, error) {
	opts, err := r.Options()
	if err != nil {
		return nil, err
	}
	p, err := start(r.Address(), opts, cfg)
	if err != nil {
		return nil, err
	}
	time.Sleep(Settle)
	p.serving.Store(true)
	return p, nil
}

// StartEmbedded answers on an embedded server, over a connection within the process.
func StartEmbedded(s *Server, cfg Config) (*Provider, error) {
	p, err := start(s.URL(), []nats.Option{s.inProcess()}, cfg)
	if err != nil {
		return nil, err
	}
	p.serving.Store(true)
	return p, nil
}

func start(url string, opts []nats.Option, cfg Config) (*Provider, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Workers == 0 {
		cfg.Workers = max(16, 4*runtime.GOMAXPROCS(0))
	}
	if cfg.MaxWaiting == 0 {
		cfg.MaxWaiting = MaxWaiting
	}
	if cfg.judge == nil {
		cfg.judge = cfg.Engine.Answer
	}
	p := &Provider{cfg: cfg, id: nuid.Next(), started: cfg.Now(), closed: make(chan struct{})}
	nc, err := nats.Connect(url, append(opts, settings(cfg.Log, p.onError, p.closed)...)...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Redacted(url), err)
	}
	p.nc = nc
	p.lanes = newLanes(cfg.Workers, cfg.MaxWaiting, MaxWaitingBytes, p.judge)
	if err := p.subscribe(); err != nil {
		nc.Close()
		<-p.closed
		p.lanes.close()
		return nil, fmt.Errorf("%s: %w", Redacted(url), err)
	}
	return p, nil
}

func (p *Provider) subscribe() error {
	s := p.cfg.Subjects
	for _, subject := range []string{s.On(protocol.ChannelCheck, ""), s.All(protocol.ChannelCheck)} {
		sub, err := p.nc.QueueSubscribe(subject, protocol.QueueGroup, p.onCheck)
		if err != nil {
			return err
		}
		p.checks = append(p.checks, sub)
		if err := sub.SetPendingLimits(MaxPending, MaxPendingBytes); err != nil {
			return err
		}
	}
	sub, err := p.nc.QueueSubscribe(s.On(protocol.ChannelStatus, ""), protocol.QueueGroup, p.onStatus)
	if err != nil {
		return err
	}
	p.others = append(p.others, sub)
	if err := p.announce(); err != nil {
		return err
	}
	// What the server refuses, it says before it answers a ping.
	if err := p.nc.FlushTimeout(startWait); err != nil {
		return err
	}
	if err := p.nc.LastError(); errors.Is(err, nats.ErrPermissionViolation) {
		return err
	}
	return nil
}

// Closed is closed when the connection is, which is after Stop, or where NATS
// gave the provider up for good.
func (p *Provider) Closed() <-chan struct{} { return p.closed }

// ID names the instance, as in discovery.
func (p *Provider) ID() string { return p.id }

// Ready says whether checks are taken and can be answered right now.
func (p *Provider) Ready() bool { return p.serving.Load() && p.nc.IsConnected() }

// onError gets what NATS reports asynchronously.
func (p *Provider) onError(sub *nats.Subscription, err error) {
	event := p.cfg.Log.Error().Err(err)
	if sub != nil {
		event = event.Str("subject", sub.Subject)
	}
	if errors.Is(err, nats.ErrSlowConsumer) {
		p.counters.slow.Add(1)
		if sub != nil {
			dropped, _ := sub.Dropped()
			event = event.Int("dropped", dropped)
		}
		event.Msg("checks come faster than they can be read: some were dropped, and their callers have no answer")
		return
	}
	event.Msg("nats")
}

// Stop ends the provider in order: new checks go to other replicas, what was
// accepted is answered, and the answers are on their way when it returns. When
// the context ends, or StopWait is over, it closes the connection with what is
// left undone.
func (p *Provider) Stop(ctx context.Context) error {
	if !p.serving.CompareAndSwap(true, false) {
		<-p.closed
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, StopWait)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		// Without a server there is nothing to drain, and nobody to be answered.
		if p.nc.IsConnected() {
			p.drain(ctx)
		}
		p.lanes.close()
		if p.nc.IsConnected() {
			done <- p.nc.FlushWithContext(ctx)
		} else {
			done <- nil
		}
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		if left := p.lanes.load(); left > 0 {
			err = fmt.Errorf("stopped with %d checks unanswered: %w", left, ctx.Err())
		}
	}
	if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrConnectionReconnecting) {
		err = nil // nobody is there to be answered
	}
	p.nc.Close()
	<-p.closed
	return err
}

// drain unsubscribes and returns when every message that had come is handled.
func (p *Provider) drain(ctx context.Context) {
	subs := append(append([]*nats.Subscription{}, p.checks...), p.others...)
	for _, sub := range subs {
		gone := sub.StatusChanged(nats.SubscriptionClosed)
		if err := sub.Drain(); err != nil {
			continue // the connection is gone, and with it the subscription
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return
		}
	}
}
