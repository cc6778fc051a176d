package helper_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/helper"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// A row of the posture matrix: what happens on the bus, and what the caller must
// then be told, for both postures and both ways to hear the answer.
type row struct {
	name    string
	connect []nats.Option
	user    helper.UserFunc
	happens func(t *testing.T, b *bus) // before the check
	action  *protocol.Action           // nil: write
	after   func(t *testing.T, b *bus, g *helper.Guard, o helper.Outcome)
	own     bool // needs a server of its own
	atOnce  bool // the answer comes long before the time-out (with request and reply, where subscribed differs)

	by         helper.Decider
	cause      helper.Cause
	proceed    bool         // unless by posture
	subscribed helper.Cause // with publish and subscribe, where it differs
}

func answers(v protocol.Verdict, change ...func(*protocol.Decision)) func(*testing.T, *bus) {
	return func(_ *testing.T, b *bus) { b.serve(func(c *call) { c.answer(v, change...) }) }
}

func sends(format string) func(*testing.T, *bus) {
	return func(_ *testing.T, b *bus) {
		b.serve(func(c *call) { c.send(fmt.Appendf(nil, format, c.check.RequestID)) })
	}
}

func matrix() []row {
	posture, provider, user := helper.ByPosture, helper.ByProvider, helper.ByUser
	rows := []row{
		{name: "allow", happens: answers(protocol.VerdictAllow), by: provider, proceed: true, atOnce: true},
		{name: "block", happens: answers(protocol.VerdictBlock), by: provider, atOnce: true},
		{name: "time-out", happens: func(_ *testing.T, b *bus) { b.serve(func(*call) {}) },
			by: posture, cause: helper.CauseTimeout},
		{name: "no provider", happens: func(*testing.T, *bus) {},
			by: posture, cause: helper.CauseNoProvider, subscribed: helper.CauseTimeout, atOnce: true},
		{name: "provider killed during the request", happens: killProvider, action: hanging(),
			by: posture, cause: helper.CauseTimeout},
		{name: "connection lost", own: true, happens: func(_ *testing.T, b *bus) {
			b.serve(func(*call) { time.AfterFunc(30*time.Millisecond, b.server.Shutdown) })
		}, by: posture, cause: helper.CauseConnection, atOnce: true},
		{name: "connection closed by its owner", happens: func(_ *testing.T, b *bus) {
			b.serve(func(*call) { time.AfterFunc(30*time.Millisecond, b.caller.Close) })
		}, by: posture, cause: helper.CauseConnection, atOnce: true},
		{name: "connection drained by its owner", happens: drainSlowly, by: posture, cause: helper.CauseConnection, atOnce: true},
		{name: "connection was closed", happens: func(_ *testing.T, b *bus) {
			b.serve(func(c *call) { c.answer(protocol.VerdictAllow) })
			b.caller.Close()
		}, by: posture, cause: helper.CauseConnection, atOnce: true},
		{name: "reconnecting", own: true, connect: []nats.Option{nats.ReconnectWait(300 * time.Millisecond), nats.ReconnectJitter(0, 0)},
			happens: func(t *testing.T, b *bus) {
				b.serve(func(c *call) { c.answer(protocol.VerdictAllow) })
				b.server.Shutdown()
				eventually(t, "the connection is lost", b.caller.IsReconnecting)
			}, after: worksAgain, by: posture, cause: helper.CauseConnection, atOnce: true},
		{name: "undecodable decision", happens: sends(`{"protocolVersion": "1", "requestId": "%s", "decision": "allow"`),
			by: posture, cause: helper.CauseBadAnswer},
		{name: "undecodable decision without a requestId", happens: sends("allow %.0s"),
			by: posture, cause: helper.CauseBadAnswer, subscribed: helper.CauseTimeout},
		{name: "empty decision", happens: sends("%.0s"),
			by: posture, cause: helper.CauseBadAnswer, subscribed: helper.CauseTimeout},
		{name: "invalid decision", happens: sends(`{"protocolVersion": "1", "requestId": "%s", "decision": "allow", "code": "policy"}`),
			by: posture, cause: helper.CauseBadAnswer},
		{name: "other requestId", happens: answers(protocol.VerdictAllow, func(d *protocol.Decision) { d.RequestID = "other" }),
			by: posture, cause: helper.CauseBadAnswer, subscribed: helper.CauseTimeout},
		{name: "other version", happens: answers(protocol.VerdictAllow, func(d *protocol.Decision) { d.ProtocolVersion = "2" }),
			by: posture, cause: helper.CauseBadAnswer},
		{name: "wrong hash", happens: answers(protocol.VerdictAllow, func(d *protocol.Decision) { d.RequestHash = protocol.Hash(nil) }),
			by: posture, cause: helper.CauseBadAnswer},
		{name: "unknown decision value", happens: answers("permit"),
			by: provider, cause: helper.CauseBadAnswer, atOnce: true},
		{name: "decision value Allow", happens: answers("Allow"),
			by: provider, cause: helper.CauseBadAnswer, atOnce: true},
		{name: "decision value of another type", happens: sends(`{"protocolVersion": "1", "requestId": "%s", "decision": true}`),
			by: provider, cause: helper.CauseBadAnswer, atOnce: true},
		{name: "unknown decision value, other requestId", happens: answers("permit", func(d *protocol.Decision) { d.RequestID = "other" }),
			by: posture, cause: helper.CauseBadAnswer, subscribed: helper.CauseTimeout},
		{name: "two decisions in one", happens: sends(`{"protocolVersion": "1", "requestId": "%s", "decision": "block", "decision": "allow"}`),
			by: provider, cause: helper.CauseBadAnswer, atOnce: true},
		{name: "ask, the user says yes", happens: answers(protocol.VerdictAsk), user: yes, by: user, proceed: true, atOnce: true},
		{name: "ask, the user says no", happens: answers(protocol.VerdictAsk), user: no, by: user, atOnce: true},
		{name: "ask, no user", happens: answers(protocol.VerdictAsk), by: provider, cause: helper.CauseUnanswered, atOnce: true},
		{name: "ask, expired before", happens: answers(protocol.VerdictAsk, expires(-time.Second)), user: yes,
			by: provider, cause: helper.CauseUnanswered, atOnce: true},
		{name: "ask, the user says yes too late", happens: answers(protocol.VerdictAsk, expires(50*time.Millisecond)),
			user: func(ctx context.Context, _ helper.Question) bool { <-ctx.Done(); return true },
			by:   provider, cause: helper.CauseUnanswered, atOnce: true},
		{name: "ask, the callback panics", happens: answers(protocol.VerdictAsk),
			user: func(context.Context, helper.Question) bool { panic("no screen") },
			by:   provider, cause: helper.CauseUnanswered, atOnce: true},
		{name: "no permission to publish", connect: []nats.Option{nats.UserInfo("silent", "x")},
			happens: answers(protocol.VerdictAllow), by: posture, cause: helper.CausePermission, atOnce: true},
		{name: "no permission to subscribe", connect: []nats.Option{nats.UserInfo("deaf", "x")},
			happens: neverAsked, by: posture, cause: helper.CausePermission, atOnce: true},
		{name: "error without a hash", happens: answers(protocol.VerdictError, code(protocol.CodeOverloaded), func(d *protocol.Decision) { d.RequestHash = "" }),
			by: posture, cause: helper.CauseErrorDecision, atOnce: true},
		{name: "error of another check", happens: answers(protocol.VerdictError, code(protocol.CodeInternal), func(d *protocol.Decision) { d.RequestHash = protocol.Hash(nil) }),
			by: posture, cause: helper.CauseBadAnswer},
	}
	// Written out, not asked of the protocol package: the bar stands by itself.
	for c, by := range map[protocol.Code]helper.Decider{
		"invalid-request": provider, "unsupported-version": posture, "unsupported-kind": posture,
		"unsupported-operation": posture, "too-large": provider, "request-id-reused": provider,
		"identity-mismatch": provider, "unknown-request": provider, "policy-failed": provider,
		"overloaded": posture, "policy-unavailable": posture, "state-unavailable": posture,
		"internal": provider, "a-code-of-tomorrow": provider,
	} {
		rows = append(rows, row{name: "error " + string(c), happens: answers(protocol.VerdictError, code(c)),
			by: by, cause: helper.CauseErrorDecision, atOnce: true})
	}
	return rows
}

func TestPostureMatrix(t *testing.T) {
	shared := startServer(t, 0)
	var excess greatest
	for _, r := range matrix() {
		t.Run(r.name, func(t *testing.T) {
			for _, posture := range []helper.Posture{helper.Closed, helper.Open} {
				t.Run([]string{"closed", "open"}[posture], func(t *testing.T) {
					bothWays(t, func(t *testing.T, subscribe bool) { r.run(t, shared, posture, subscribe, &excess) })
				})
			}
		})
	}
	t.Logf("greatest excess over the time-out: %v (%s)", excess.d, excess.at)
}

func (r row) run(t *testing.T, s *server.Server, posture helper.Posture, subscribe bool, excess *greatest) {
	if r.own {
		s = startServer(t, 0)
	}
	b := newBus(t, s, r.connect...)
	b.subscribe = subscribe
	want := want{r.by, r.cause, r.proceed}
	atOnce := r.atOnce
	if subscribe && r.subscribed != "" {
		want.cause, atOnce = r.subscribed, false
	}
	if r.by == helper.ByPosture {
		want.proceed = posture == helper.Open
	}
	// A short time-out where it is waited for, a long one where it is not.
	timeout := 150 * time.Millisecond
	if atOnce {
		timeout = 2 * time.Second
	}
	opts := []helper.Option{helper.WithPosture(posture), helper.WithTimeout(timeout)}
	if r.user != nil {
		opts = append(opts, helper.WithUser(r.user))
	}
	g := b.guard(opts...)
	r.happens(t, b)
	action := write
	if r.action != nil {
		action = *r.action
	}

	start := time.Now()
	o := g.Check(t.Context(), action)
	took := time.Since(start)

	want.check(t, o)
	if over := took - timeout; over > late {
		t.Errorf("answered %v after the time-out of %v", over, timeout)
	} else {
		excess.add(over, t.Name())
	}
	if atOnce && took > timeout/2 {
		t.Errorf("answered after %v, not at once", took)
	}
	if o.Took > took {
		t.Errorf("says that it took %v, and took %v", o.Took, took)
	}
	if r.after != nil {
		r.after(t, b, g, o)
	}
}

func hanging() *protocol.Action {
	a := write
	a.Attributes.ToolName = hang
	return &a
}

// killProvider kills a provider that answers well, in the middle of its second check.
func killProvider(t *testing.T, b *bus) {
	lines, process := providerAsProcess(t, b)
	want{helper.ByProvider, "", true}.check(t, b.guard().Check(t.Context(), write))
	lines.Scan()
	var watch sync.WaitGroup
	watch.Go(func() {
		if !lines.Scan() || lines.Text() != "check "+hang {
			t.Errorf("the provider process says %q", lines.Text())
		}
		if err := process.Kill(); err != nil { // SIGKILL
			t.Error(err)
		}
	})
	t.Cleanup(watch.Wait)
}

// drainSlowly drains the caller's connection during the check, which lasts, since
// the owner has a message in hand.
func drainSlowly(t *testing.T, b *bus) {
	inHand, done := make(chan struct{}), make(chan struct{})
	_, err := b.caller.Subscribe(b.prefix+".slow", func(*nats.Msg) { close(inHand); <-done })
	if err == nil {
		err = b.caller.Publish(b.prefix+".slow", nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	<-inHand
	b.serve(func(*call) { time.AfterFunc(30*time.Millisecond, func() { _ = b.caller.Drain() }) })
	t.Cleanup(func() { close(done); eventually(t, "the connection is drained", b.caller.IsClosed) })
}

// neverAsked fails the test when a check comes: its answer could not be heard.
func neverAsked(t *testing.T, b *bus) {
	b.serve(func(*call) { t.Error("a check was sent") })
	t.Cleanup(func() { _ = b.caller.Flush(); _ = b.provider.Flush() })
}

// worksAgain brings the server back, and sees that the check that was answered by
// posture is not sent after all, and that the next one is answered.
func worksAgain(t *testing.T, b *bus, g *helper.Guard, old helper.Outcome) {
	startServer(t, b.port)
	eventually(t, "both are connected again", func() bool { return b.provider.IsConnected() && b.caller.IsConnected() })
	o := g.Check(t.Context(), write)
	want{helper.ByProvider, "", true}.check(t, o)
	if seen := b.checks(); len(seen) != 1 || seen[0] != o.RequestID {
		t.Errorf("the provider saw %q; want only %q, not the stale %q", seen, o.RequestID, old.RequestID)
	}
}
