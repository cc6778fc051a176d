package helper_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/guardrails-provider/guardrails-provider/helper"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// late is how much later than its time-out a check may answer.
const late = 250 * time.Millisecond

func TestMain(m *testing.M) {
	if url := os.Getenv(providerProcess); url != "" {
		runProviderProcess(url)
		return
	}
	goleak.VerifyTestMain(m)
}

// startServer runs a NATS server in this process. Without a user name a client
// may do all; "silent" may not send checks, "deaf" may not subscribe, "boxed" may
// subscribe below _mine only. port 0 is any.
func startServer(t testing.TB, port int, change ...func(*server.Options)) *server.Server {
	t.Helper()
	if port == 0 {
		port = server.RANDOM_PORT
	}
	opts := &server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true, NoAuthUser: "all", Users: []*server.User{
		{Username: "all", Password: "x"},
		{Username: "silent", Password: "x", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"*.check", "*.check.>"}}}},
		{Username: "deaf", Password: "x", Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Deny: []string{">"}}}},
		{Username: "boxed", Password: "x", Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Allow: []string{"_mine.>"}}}},
	}}
	for _, c := range change {
		c(opts)
	}
	s, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(5 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	return s
}

func connect(t testing.TB, s *server.Server, opts ...nats.Option) *nats.Conn {
	t.Helper()
	quiet := nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
	nc, err := nats.Connect(s.ClientURL(), append([]nats.Option{quiet, nats.MaxReconnects(-1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// bus is a server with the connections of a caller and of a provider, and a
// subject prefix of the test's own.
type bus struct {
	t         testing.TB
	server    *server.Server
	caller    *nats.Conn
	provider  *nats.Conn
	prefix    string
	port      int  // of the server
	subscribe bool // publish and subscribe, not request and reply

	mu   sync.Mutex
	seen []string // the requestIds that the provider got
}

func (b *bus) checks() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.seen)
}

var prefixes atomic.Int64

func newBus(t testing.TB, s *server.Server, opts ...nats.Option) *bus {
	t.Helper()
	return &bus{t: t, server: s, caller: connect(t, s, opts...), provider: connect(t, s, nats.ReconnectWait(50*time.Millisecond), nats.ReconnectJitter(0, 0)),
		prefix: fmt.Sprintf("t%d", prefixes.Add(1)), port: s.Addr().(*net.TCPAddr).Port}
}

func (b *bus) guard(opts ...helper.Option) *helper.Guard {
	b.t.Helper()
	opts = append([]helper.Option{helper.WithPrefix(b.prefix), helper.WithScope("swarm-a.agent-7")}, opts...)
	if b.subscribe {
		opts = append(opts, helper.WithSubscription())
	}
	g, err := helper.New(b.caller, protocol.Caller{ExtensionID: "test"}, opts...)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(g.Close)
	return g
}

// serve plays a provider: answer gets every check, and what to send with.
func (b *bus) serve(answer func(c *call)) {
	b.t.Helper()
	sub, err := b.provider.Subscribe(b.prefix+".check.>", func(m *nats.Msg) {
		c := newCall(b.provider, b.prefix, m)
		b.mu.Lock()
		b.seen = append(b.seen, c.check.RequestID)
		b.mu.Unlock()
		answer(c)
	})
	if err == nil {
		err = b.provider.Flush()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = sub.Unsubscribe() })
}

// call is a check as a provider received it.
type call struct {
	nc     *nats.Conn
	prefix string
	msg    *nats.Msg
	check  *protocol.Check
}

func newCall(nc *nats.Conn, prefix string, m *nats.Msg) *call {
	check, err := protocol.DecodeCheck(m.Data)
	if err != nil {
		panic(fmt.Sprintf("a check that is not valid was sent: %v", err))
	}
	return &call{nc, prefix, m, check}
}

// send answers as providers do: on the reply subject, if any, and the decision subject.
func (c *call) send(doc []byte) {
	if c.msg.Reply != "" {
		_ = c.msg.Respond(doc)
	}
	_ = c.nc.Publish(strings.Replace(c.msg.Subject, ".check.", ".decision.", 1), doc)
}

// answer sends a good decision, as the changes leave it.
func (c *call) answer(v protocol.Verdict, change ...func(*protocol.Decision)) {
	d := protocol.Decision{ProtocolVersion: "1", RequestID: c.check.RequestID, Decision: v, Code: protocol.CodePolicy, Reason: "so the test says",
		RequestHash: protocol.Hash(c.msg.Data), Provider: protocol.Provider{ID: "fake"}}
	if v == protocol.VerdictAsk {
		d.Ask = &protocol.Ask{Prompt: "May I?", ExpiresAt: time.Now().Add(time.Minute)}
	}
	for _, f := range change {
		f(&d)
	}
	doc, err := protocol.Encode(&d)
	if err != nil {
		panic(err)
	}
	c.send(doc)
}

func code(code protocol.Code) func(*protocol.Decision) {
	return func(d *protocol.Decision) { d.Code = code }
}

func expires(in time.Duration) func(*protocol.Decision) {
	return func(d *protocol.Decision) { d.Ask.ExpiresAt = time.Now().Add(in) }
}

func file(op, path string) protocol.Action {
	return protocol.Action{Resource: protocol.Resource{Kind: protocol.KindFile}, Operation: op, Targets: []protocol.Target{{Path: path}}}
}

var write = file(protocol.OpWrite, "/repo/package.json")

// want is what is expected of an outcome.
type want struct {
	by      helper.Decider
	cause   helper.Cause
	proceed bool
}

func (w want) check(t testing.TB, o helper.Outcome) {
	t.Helper()
	if o.By != w.by || o.Cause != w.cause || o.MayProceed() != w.proceed {
		t.Errorf("outcome: %v; want by %q, cause %q, proceed %v", o, w.by, w.cause, w.proceed)
	}
	if !o.MayProceed() && o.Err() == nil {
		t.Error("it may not proceed and has no error")
	}
	if judged := o.By == helper.ByProvider || o.By == helper.ByUser; o.MayProceed() && judged != (o.Err() == nil) {
		t.Errorf("it may proceed by %v, and its error is %v", o.By, o.Err())
	}
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("in vain waited until " + what)
		}
	}
}

func bothWays(t *testing.T, f func(t *testing.T, subscribe bool)) {
	t.Run("request", func(t *testing.T) { f(t, false) })
	t.Run("subscription", func(t *testing.T) { f(t, true) })
}

func yes(context.Context, helper.Question) bool { return true }
func no(context.Context, helper.Question) bool  { return false }

// greatest keeps the greatest of some durations.
type greatest struct {
	mu sync.Mutex
	d  time.Duration
	at string
}

func (g *greatest) add(d time.Duration, at string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if d > g.d {
		g.d, g.at = d, at
	}
}
