package helper_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/helper"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

var open = helper.WithPosture(helper.Open)

func TestZeroOutcome(t *testing.T) {
	var o helper.Outcome
	want{helper.ByNobody, helper.CauseNone, false}.check(t, o)
	if got, want := o.String(), "refused by nobody: no check was made"; got != want {
		t.Errorf("it reads %q, want %q", got, want)
	}
	var p helper.Posture
	if p != helper.Closed {
		t.Error("the zero posture is not closed")
	}
}

func TestWhatIsSent(t *testing.T) {
	s := startServer(t, 0)
	bothWays(t, func(t *testing.T, subscribe bool) {
		b := newBus(t, s)
		b.subscribe = subscribe
		got := make(chan *call, 1)
		b.serve(func(c *call) { c.answer(protocol.VerdictAllow); got <- c })
		where := protocol.Context{Cwd: "/repo", Home: "/home/dev", SessionID: "s-42", RunID: "run-9"}

		g := b.guard(helper.WithContext(where), helper.WithTimeout(1500*time.Millisecond))
		o := g.Check(t.Context(), write)
		want{helper.ByProvider, "", true}.check(t, o)
		c := <-got
		if c.check.RequestID != o.RequestID || len(o.RequestID) < 20 || o.Decision.RequestID != o.RequestID {
			t.Errorf("the requestId is %q, in the outcome %q", c.check.RequestID, o.RequestID)
		}
		if c.check.Caller.ExtensionID != "test" || c.check.Context != where ||
			c.check.Options != (protocol.Options{TimeoutMs: 1500}) || c.check.Action.Targets[0].Path != write.Targets[0].Path {
			t.Errorf("sent: %s", c.msg.Data)
		}
		if (c.msg.Reply == "") != subscribe || c.msg.Subject != b.prefix+".check.swarm-a.agent-7" {
			t.Errorf("sent on %q with reply %q", c.msg.Subject, c.msg.Reply)
		}

		g = b.guard(helper.WithUser(no), helper.WithContext(where))
		own := protocol.Check{RequestID: "not a token: *.>", Action: write, Caller: protocol.Caller{AgentID: "agent-8"},
			Context: protocol.Context{SessionID: "s-43"}, Options: protocol.Options{TimeoutMs: 700}}
		want{helper.ByProvider, "", true}.check(t, g.CheckDocument(t.Context(), own))
		c = <-got
		if c.check.RequestID != own.RequestID || c.check.Options != (protocol.Options{Interactive: true, TimeoutMs: 700}) ||
			c.check.Caller != (protocol.Caller{ExtensionID: "test", AgentID: "agent-8"}) ||
			c.check.Context != (protocol.Context{Cwd: "/repo", Home: "/home/dev", SessionID: "s-43", RunID: "run-9"}) {
			t.Errorf("sent: %s", c.msg.Data)
		}

		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		g.Check(ctx, write)
		if ms := (<-got).check.Options.TimeoutMs; ms < 100 || ms >= 300 {
			t.Errorf("with 300 ms left, %d ms were sent", ms)
		}
	})
}

// TestInvalid sees that what no provider would take is refused here, also where
// the posture is open, and is not sent.
func TestInvalid(t *testing.T) {
	s := startServer(t, 0, func(o *server.Options) { o.MaxPayload = 2 << 20 })
	small := startServer(t, 0, func(o *server.Options) { o.MaxPayload = 2048 })
	content := func(n int) protocol.Action {
		a := write
		a.Attributes.Content = strings.Repeat("x", n)
		return a
	}
	twice, extra := write, write
	twice.Attributes.Input = []byte(`{"path": "a", "path": "b"}`)
	extra.Attributes.Extra = []byte(`{"toolName": "a", "toolName": "b"}`)
	for _, c := range []struct {
		name   string
		server *server.Server
		check  protocol.Check
		says   string
	}{
		{"no target", s, protocol.Check{Action: protocol.Action{Resource: write.Resource, Operation: "write"}}, "action.targets"},
		{"unknown operation", s, protocol.Check{Action: file("truncate", "/a")}, "action.operation"},
		{"other version", s, protocol.Check{Action: write, ProtocolVersion: "2"}, "protocolVersion"},
		{"bad requestId", s, protocol.Check{Action: write, RequestID: "ä"}, "requestId"},
		{"bad time-out", s, protocol.Check{Action: write, Options: protocol.Options{TimeoutMs: -1}}, "options.timeoutMs"},
		{"not UTF-8", s, protocol.Check{Action: file("write", "/a\xff")}, "UTF-8"},
		{"a name twice", s, protocol.Check{Action: twice}, "path"},
		{"a name twice beside ours", s, protocol.Check{Action: extra}, "toolName"},
		{"too large", s, protocol.Check{Action: content(protocol.MaxDocument)}, "bytes"},
		{"too large for the server", small, protocol.Check{Action: content(2048)}, "NATS server takes 2048"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, subscribe bool) {
				b := newBus(t, c.server)
				b.subscribe = subscribe
				neverAsked(t, b)
				o := b.guard(open).CheckDocument(t.Context(), c.check)
				want{helper.ByNobody, helper.CauseInvalid, false}.check(t, o)
				if !strings.Contains(o.Err().Error(), c.says) {
					t.Errorf("the error is %q; want it to name %s", o.Err(), c.says)
				}
			})
		})
	}
}

func TestOptionsFail(t *testing.T) {
	s := startServer(t, 0)
	nc := connect(t, s)
	caller := protocol.Caller{ExtensionID: "test"}
	for says, opt := range map[string]helper.Option{
		"posture":    helper.WithPosture(7),
		"function":   helper.WithPostureFunc(nil),
		"scope":      helper.WithScope("a.*"),
		"prefix":     helper.WithPrefix("a b"),
		"time-out 0": helper.WithTimeout(0),
		"10m1s":      helper.WithTimeout(10*time.Minute + time.Second),
		"callback":   helper.WithUser(nil),
		"sessionId":  helper.WithContext(protocol.Context{SessionID: strings.Repeat("s", protocol.MaxName+1)}),
		"nil":        nil,
	} {
		if g, err := helper.New(nc, caller, opt); g != nil || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("New: %v, %v; want an error that names %s", g, err, says)
		}
	}
	if _, err := helper.New(nc, protocol.Caller{}); err == nil || !strings.Contains(err.Error(), "caller.extensionId") {
		t.Errorf("New without a caller: %v", err)
	}
	if _, err := helper.New(nil, caller); err == nil {
		t.Error("New takes a nil connection")
	}
	nc.Close()
	if _, err := helper.New(nc, caller); !errors.Is(err, nats.ErrConnectionClosed) {
		t.Errorf("New on a closed connection: %v", err)
	}
}

// TestBadBeforeGood sees that bad answers neither are taken nor keep the good one
// away.
func TestBadBeforeGood(t *testing.T) {
	s := startServer(t, 0)
	bothWays(t, func(t *testing.T, subscribe bool) {
		for _, good := range []protocol.Verdict{protocol.VerdictAllow, protocol.VerdictBlock} {
			b := newBus(t, s)
			b.subscribe = subscribe
			b.serve(func(c *call) {
				bad := protocol.VerdictAllow
				if good == protocol.VerdictAllow {
					bad = protocol.VerdictBlock
				}
				for range 1000 {
					c.send([]byte("{"))
					c.send(fmt.Appendf(nil, `{"requestId": %q}`, c.check.RequestID))
				}
				c.answer(bad, func(d *protocol.Decision) { d.RequestID = "other" })
				c.answer(bad, func(d *protocol.Decision) { d.ProtocolVersion = "2" })
				c.answer(bad, func(d *protocol.Decision) { d.RequestHash = protocol.Hash([]byte("another action")) })
				c.answer(good)
				c.answer(bad)
			})
			want{helper.ByProvider, "", good == protocol.VerdictAllow}.check(t, b.guard(open).Check(t.Context(), write))
		}
	})
}

func TestReadsOpen(t *testing.T) {
	s := startServer(t, 0)
	g := newBus(t, s).guard(helper.WithPostureFunc(helper.ReadsOpen))
	for op, proceed := range map[string]bool{"read": true, "list": true, "stat": true, "write": false, "delete": false} {
		want{helper.ByPosture, helper.CauseNoProvider, proceed}.check(t, g.Check(t.Context(), file(op, "/a")))
	}
	process := protocol.Action{Resource: protocol.Resource{Kind: protocol.KindProcess}, Operation: protocol.OpExec, Targets: []protocol.Target{{Command: "ls"}}}
	custom := protocol.Action{Resource: protocol.Resource{Kind: protocol.KindCustom}, Operation: protocol.OpRead, Targets: []protocol.Target{{URI: "x:y"}}}
	for _, a := range []protocol.Action{process, custom} {
		want{helper.ByPosture, helper.CauseNoProvider, false}.check(t, g.Check(t.Context(), a))
	}
	for name, f := range map[string]func(protocol.Action) helper.Posture{
		"panics":  func(protocol.Action) helper.Posture { panic("no") },
		"unknown": func(protocol.Action) helper.Posture { return 2 },
	} {
		t.Run(name, func(t *testing.T) {
			g := newBus(t, s).guard(helper.WithPostureFunc(f))
			want{helper.ByPosture, helper.CauseNoProvider, false}.check(t, g.Check(t.Context(), write))
		})
	}
}

// TestCancelled sees that who ends his own check doesn't get the open posture,
// and no late allow either.
func TestCancelled(t *testing.T) {
	s := startServer(t, 0)
	cancelled := want{helper.ByNobody, helper.CauseCancelled, false}
	bothWays(t, func(t *testing.T, subscribe bool) {
		b := newBus(t, s)
		b.subscribe = subscribe
		ctx, cancel := context.WithCancel(t.Context())
		b.serve(func(c *call) { cancel() })
		g := b.guard(open)
		for _, when := range []string{"meanwhile", "before"} {
			o := g.Check(ctx, write)
			cancelled.check(t, o)
			if !errors.Is(o.Err(), context.Canceled) || o.Took > late {
				t.Errorf("cancelled %s: %v after %v", when, o, o.Took)
			}
		}
		short, done := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer done()
		o := g.Check(short, write) // a deadline is a time-out
		want{helper.ByPosture, helper.CauseTimeout, true}.check(t, o)
		if o.Took > 100*time.Millisecond+late {
			t.Errorf("answered after %v", o.Took)
		}
		<-short.Done()
		cancelled.check(t, g.Check(short, write)) // one that has passed is not
		g.Close()
		_, _ = b.caller.Flush(), b.provider.Flush()
		if n := len(b.checks()); n != 2 {
			t.Errorf("%d checks were sent, want 2: none where the context had ended", n)
		}
	})
	t.Run("while the user is asked", func(t *testing.T) {
		b := newBus(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		b.serve(func(c *call) { c.answer(protocol.VerdictAsk) })
		g := b.guard(open, helper.WithUser(func(context.Context, helper.Question) bool { cancel(); return true }))
		cancelled.check(t, g.Check(ctx, write))
	})
}

func TestAsk(t *testing.T) {
	s := startServer(t, 0)
	ask := func(t *testing.T, in time.Duration, user helper.UserFunc) *helper.Guard {
		b := newBus(t, s)
		b.serve(func(c *call) { c.answer(protocol.VerdictAsk, expires(in)) })
		return b.guard(open, helper.WithUser(user), helper.WithTimeout(100*time.Millisecond))
	}
	t.Run("has the question, and longer than the time-out", func(t *testing.T) {
		g := ask(t, time.Minute, func(ctx context.Context, q helper.Question) bool {
			time.Sleep(200 * time.Millisecond)
			deadline, _ := ctx.Deadline()
			return q.Decision.Ask.Prompt == "May I?" && q.Check.Action.Targets[0].Path == write.Targets[0].Path && deadline.Equal(q.Decision.Ask.ExpiresAt)
		})
		o := g.Check(t.Context(), write)
		want{helper.ByUser, "", true}.check(t, o)
		if o.Decision == nil || o.Decision.Allows() || o.Took < 200*time.Millisecond {
			t.Errorf("the decision is %+v, after %v", o.Decision, o.Took)
		}
	})
	t.Run("does not wait for a callback that ignores its context", func(t *testing.T) {
		free := make(chan struct{})
		t.Cleanup(func() { close(free) })
		g := ask(t, 100*time.Millisecond, func(context.Context, helper.Question) bool { <-free; return true })
		o := g.Check(t.Context(), write)
		want{helper.ByProvider, helper.CauseUnanswered, false}.check(t, o)
		if o.Took > 100*time.Millisecond+late {
			t.Errorf("answered after %v", o.Took)
		}
	})
	t.Run("is not asked when expired", func(t *testing.T) {
		g := ask(t, -time.Second, func(context.Context, helper.Question) bool { t.Error("was asked"); return true })
		want{helper.ByProvider, helper.CauseUnanswered, false}.check(t, g.Check(t.Context(), write))
	})
	t.Run("takes no yes after the expiry", func(t *testing.T) {
		g := ask(t, 2*time.Millisecond, func(_ context.Context, q helper.Question) bool {
			for time.Now().Before(q.Decision.Ask.ExpiresAt) { // to the very moment
			}
			return true
		})
		for range 50 {
			want{helper.ByProvider, helper.CauseUnanswered, false}.check(t, g.Check(t.Context(), write))
		}
	})
	t.Run("ends with the deadline of the caller", func(t *testing.T) {
		g := ask(t, time.Minute, func(ctx context.Context, _ helper.Question) bool { <-ctx.Done(); return true })
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		want{helper.ByProvider, helper.CauseUnanswered, false}.check(t, g.Check(ctx, write))
	})
	t.Run("ends with Close", func(t *testing.T) {
		asked := make(chan struct{})
		g := ask(t, time.Minute, func(ctx context.Context, _ helper.Question) bool { close(asked); <-ctx.Done(); return true })
		go func() { <-asked; g.Close() }()
		o := g.Check(t.Context(), write)
		want{helper.ByNobody, helper.CauseCancelled, false}.check(t, o)
		if o.Took > late {
			t.Errorf("answered after %v", o.Took)
		}
	})
}

func TestClose(t *testing.T) {
	s := startServer(t, 0)
	bothWays(t, func(t *testing.T, subscribe bool) {
		b := newBus(t, s)
		b.subscribe = subscribe
		g := b.guard(open)
		b.serve(func(*call) { go g.Close() })
		for range 2 { // while it is closed, and afterwards
			o := g.Check(t.Context(), write)
			want{helper.ByNobody, helper.CauseCancelled, false}.check(t, o)
			if !errors.Is(o.Err(), helper.ErrClosed) || o.Took > late {
				t.Errorf("closed: %v after %v", o, o.Took)
			}
		}
		g.Close()
		if subs, listeners := b.caller.NumSubscriptions(), statusListeners(b.caller); subs != 0 || listeners != 0 {
			t.Errorf("%d subscriptions and %d status listeners are left", subs, listeners)
		}
	})
}

// statusListeners looks into the connection, which tells nobody how many it has.
func statusListeners(nc *nats.Conn) (n int) {
	for all := reflect.ValueOf(nc).Elem().FieldByName("statListeners").MapRange(); all.Next(); {
		n += all.Value().Len()
	}
	return n
}

func TestTwoGuardsOnOneConnection(t *testing.T) {
	s := startServer(t, 0)
	bothWays(t, func(t *testing.T, subscribe bool) {
		b := newBus(t, s)
		b.subscribe = subscribe
		b.serve(func(c *call) {
			v := protocol.VerdictBlock
			if c.check.Context.SessionID == "one" {
				v = protocol.VerdictAllow
			}
			c.answer(v)
		})
		one, two := b.guard(helper.WithContext(protocol.Context{SessionID: "one"})), b.guard(open)
		var both sync.WaitGroup
		for range 50 {
			both.Go(func() { want{helper.ByProvider, "", true}.check(t, one.Check(t.Context(), write)) })
			both.Go(func() { want{helper.ByProvider, "", false}.check(t, two.Check(t.Context(), write)) })
		}
		both.Wait()
		one.Close()
		want{helper.ByProvider, "", false}.check(t, two.Check(t.Context(), write))
	})
}

// TestManyGoroutines has 64 of them on one Guard, whose provider answers a round
// of checks in random order: every one gets its own answer.
func TestManyGoroutines(t *testing.T) {
	const goroutines, rounds = 64, 10
	s := startServer(t, 0)
	bothWays(t, func(t *testing.T, subscribe bool) {
		b := newBus(t, s)
		b.subscribe = subscribe
		var round []*call
		b.serve(func(c *call) {
			if round = append(round, c); len(round) < goroutines {
				return
			}
			rand.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
			for _, c := range round {
				v := protocol.VerdictBlock
				if strings.HasSuffix(c.check.Action.Targets[0].Path, "/even") {
					v = protocol.VerdictAllow
				}
				c.answer(v, func(d *protocol.Decision) { d.Reason = c.check.Action.Targets[0].Path })
			}
			round = nil
		})
		g := b.guard(open, helper.WithTimeout(10*time.Second))
		var all sync.WaitGroup
		for i := range goroutines {
			all.Go(func() {
				for r := range rounds {
					even := (i+r)%2 == 0
					path := fmt.Sprintf("/%d/%d/%s", i, r, map[bool]string{true: "even", false: "odd"}[even])
					o := g.Check(t.Context(), file("write", path))
					want{helper.ByProvider, "", even}.check(t, o)
					if o.Decision == nil || o.Decision.Reason != path {
						t.Errorf("the answer is for another check: %v", o)
					}
				}
			})
		}
		all.Wait()
	})
}

func TestOneRequestIDAtATime(t *testing.T) {
	s := startServer(t, 0)
	b := newBus(t, s)
	got, answer := make(chan struct{}, 2), make(chan struct{})
	b.serve(func(c *call) { got <- struct{}{}; <-answer; c.answer(protocol.VerdictAllow) })
	g := b.guard(open)
	check := protocol.Check{RequestID: "same", Action: write}
	var first sync.WaitGroup
	first.Go(func() { want{helper.ByProvider, "", true}.check(t, g.CheckDocument(t.Context(), check)) })
	<-got
	want{helper.ByNobody, helper.CauseInvalid, false}.check(t, g.CheckDocument(t.Context(), check))
	close(answer)
	first.Wait()
	want{helper.ByProvider, "", true}.check(t, g.CheckDocument(t.Context(), check)) // again, not at once
}

// TestInboxPrefix has a connection that may hear on inboxes of its own prefix only.
func TestInboxPrefix(t *testing.T) {
	s := startServer(t, 0)
	b := newBus(t, s, nats.UserInfo("boxed", "x"), nats.CustomInboxPrefix("_mine"))
	b.serve(func(c *call) { c.answer(protocol.VerdictAllow) })
	g := b.guard()
	if _, err := b.caller.SubscribeSync("forbidden"); err != nil || b.caller.Flush() != nil {
		t.Fatal(err)
	}
	if err := b.caller.LastError(); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Fatal(err)
	}
	want{helper.ByProvider, "", true}.check(t, g.Check(t.Context(), write)) // what else is forbidden is nothing to it
	b.subscribe = true
	want{helper.ByPosture, helper.CausePermission, false}.check(t, b.guard().Check(t.Context(), write))
}

// TestPermissionGranted sees that an old refusal of the server is not taken for a
// new one, on the same connection.
func TestPermissionGranted(t *testing.T) {
	for user, again := range map[string]bool{"silent": false, "deaf": true} {
		t.Run(user, func(t *testing.T) {
			var opts *server.Options
			s := startServer(t, 0, func(o *server.Options) { opts = o.Clone() })
			b := newBus(t, s, nats.UserInfo(user, "x"))
			b.serve(func(c *call) { c.answer(protocol.VerdictAllow) })
			g := b.guard()
			want{helper.ByPosture, helper.CausePermission, false}.check(t, g.Check(t.Context(), write))
			opts.Port = b.port
			for _, u := range opts.Users {
				u.Permissions = nil
			}
			if err := s.ReloadOptions(opts); err != nil {
				t.Fatal(err)
			}
			if again { // what was forbidden to the old one stays unsubscribed
				g = b.guard()
			}
			want{helper.ByProvider, "", true}.check(t, g.Check(t.Context(), write))
			if n := b.caller.Stats().Reconnects; n != 0 {
				t.Errorf("%d reconnects: the test shows nothing", n)
			}
		})
	}
}

// TestOwnersHandlers sees that the connection's handlers are called as before.
func TestOwnersHandlers(t *testing.T) {
	s := startServer(t, 0)
	var errs atomic.Int64
	b := newBus(t, s, nats.UserInfo("silent", "x"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) { errs.Add(1) }))
	g := b.guard()
	want{helper.ByPosture, helper.CausePermission, false}.check(t, g.Check(t.Context(), write))
	eventually(t, "the owner's error handler was called", func() bool { return errs.Load() == 1 })
	g.Close()
	if err := b.caller.Publish(b.prefix+".check", nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the owner's error handler was called again", func() bool { return errs.Load() == 2 })
}

// TestNotYetConnected makes a Guard before its server runs.
func TestNotYetConnected(t *testing.T) {
	s := startServer(t, 0)
	port := s.Addr().(*net.TCPAddr).Port
	s.Shutdown()
	nc, err := nats.Connect(fmt.Sprintf("nats://127.0.0.1:%d", port), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	g, err := helper.New(nc, protocol.Caller{ExtensionID: "test"}, open)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	want{helper.ByPosture, helper.CauseConnection, true}.check(t, g.Check(t.Context(), write))
	startServer(t, port)
	eventually(t, "it is connected", nc.IsConnected)
	want{helper.ByPosture, helper.CauseNoProvider, true}.check(t, g.Check(t.Context(), write))
}

// TestStalledServer sees that a check answers in time although every call on its
// connection blocks in a write that nobody reads.
func TestStalledServer(t *testing.T) {
	const timeout, write = 50 * time.Millisecond, 2 * time.Second
	s := startServer(t, 0)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var stalled atomic.Bool
	go func() {
		down, err := listener.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			return
		}
		t.Cleanup(func() { down.Close(); up.Close() })
		go func() { _, _ = io.Copy(down, up) }()
		buf := make([]byte, 4096)
		for !stalled.Load() {
			n, err := down.Read(buf)
			if err != nil {
				return
			}
			_, _ = up.Write(buf[:n])
		}
	}()
	nc, err := nats.Connect("nats://"+listener.Addr().String(), nats.FlusherTimeout(write), nats.NoReconnect(),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	g, err := helper.New(nc, protocol.Caller{ExtensionID: "test"}, helper.WithTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	stalled.Store(true)
	large := file("write", "/a")
	large.Attributes.Content = strings.Repeat("x", 1<<20-1000)
	blocked := func() bool { // a write blocks while it holds the connection's lock
		free := make(chan struct{})
		go func() { nc.Status(); close(free) }()
		select {
		case <-free:
			return false
		case <-time.After(timeout):
			return true
		}
	}
	for i := range 60 {
		o := g.Check(t.Context(), large)
		if o.MayProceed() || o.By != helper.ByPosture || o.Took > timeout+late {
			t.Fatalf("check %d: %v after %v", i, o, o.Took)
		}
		if blocked() {
			o := g.Check(t.Context(), file("write", "/a"))
			want{helper.ByPosture, helper.CauseTimeout, false}.check(t, o)
			if o.Took > timeout+late {
				t.Errorf("answered after %v", o.Took)
			}
			return
		}
	}
	t.Fatal("the connection never blocked: the test shows nothing")
}

// TestOutcomeReads pins what people get to read.
func TestOutcomeReads(t *testing.T) {
	s := startServer(t, 0)
	b := newBus(t, s)
	g := b.guard(open)
	o := g.Check(t.Context(), write)
	if got, want := o.String(), "allowed by posture (no-provider): nobody judged the action: nats: no responders available for request"; got != want {
		t.Errorf("it reads %q, want %q", got, want)
	}
	b.serve(func(c *call) { c.answer(protocol.VerdictBlock) })
	o = g.Check(t.Context(), write)
	if got, want := o.String(), "refused by provider: the provider answered block (policy): so the test says"; got != want {
		t.Errorf("it reads %q, want %q", got, want)
	}
}

func BenchmarkCheck(b *testing.B) {
	s := startServer(b, 0)
	bus := newBus(b, s)
	bus.serve(func(c *call) { c.answer(protocol.VerdictAllow) })
	g := bus.guard()
	for b.Loop() {
		if o := g.Check(b.Context(), write); !o.MayProceed() {
			b.Fatal(o)
		}
	}
}
