package bus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/policy/engine"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

func TestDecisionOnBothSubjects(t *testing.T) {
	s := testServer(t)
	testProvider(t, s, nil)
	nc := testClient(t, s)
	for _, scope := range []string{"", "swarm-a", "swarm-a.agent-7"} {
		var subjects protocol.Subjects
		mirror := subscribe(t, nc, subjects.On(protocol.ChannelDecision, scope))
		doc := fileCheck("r-"+scope, "s")
		d := request(t, nc, subjects.On(protocol.ChannelCheck, scope), doc)
		expect(t, d, protocol.VerdictAllow, protocol.CodePolicy)
		if d.RequestHash != protocol.Hash(doc) {
			t.Errorf("scope %q: hash %s, want that of the document", scope, d.RequestHash)
		}
		if m := decision(t, next(t, mirror).Data); m.RequestID != d.RequestID || m.Decision != d.Decision {
			t.Errorf("scope %q: the decision subject had %+v", scope, m)
		}
		// Without a reply subject the decision comes on its subject all the same.
		if err := nc.Publish(subjects.On(protocol.ChannelCheck, scope), fileCheck("p-"+scope, "s")); err != nil {
			t.Fatal(err)
		}
		expect(t, decision(t, next(t, mirror).Data), protocol.VerdictAllow, protocol.CodePolicy)
		if extra, err := mirror.NextMsg(50 * time.Millisecond); err == nil {
			t.Errorf("scope %q: one decision too many: %s", scope, extra.Data)
		}
	}
}

func TestEncodings(t *testing.T) {
	s := testServer(t)
	testProvider(t, s, nil)
	nc := testClient(t, s)
	trace := protocol.Trace{Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", State: "a=b"}
	for _, encoding := range []protocol.Encoding{protocol.Plain, protocol.Structured, protocol.Binary} {
		doc := fileCheck(fmt.Sprint("e-", encoding), "s")
		header, body, err := protocol.Seal(protocol.ChannelCheck, encoding, doc, trace)
		if err != nil {
			t.Fatal(err)
		}
		msg, err := nc.RequestMsg(&nats.Msg{Subject: "guardrails.check", Header: header, Data: body}, patience)
		if err != nil {
			t.Fatal(err)
		}
		m, problem := protocol.Open(protocol.ChannelDecision, msg.Header, msg.Data)
		if problem != nil {
			t.Fatal(problem)
		}
		if m.Encoding != encoding || m.Trace != trace {
			t.Errorf("encoding %d: answered in %d with %+v", encoding, m.Encoding, m.Trace)
		}
		d := decision(t, m.Document)
		expect(t, d, protocol.VerdictAllow, protocol.CodePolicy)
		if d.RequestHash != protocol.Hash(doc) {
			t.Errorf("encoding %d: the hash is not that of the document", encoding)
		}
		if encoding == protocol.Structured { // the SDK must be able to read it
			var e event.Event
			if err := e.UnmarshalJSON(msg.Data); err != nil || e.Type() != "dev.guardrails.decision.v1" {
				t.Errorf("structured: %v, type %s", err, e.Type())
			}
		}
	}
}

// TestMalformed: whoever can be told is told, and nothing stops the provider.
func TestMalformed(t *testing.T) {
	s := testServer(t)
	p := testProvider(t, s, nil)
	nc := testClient(t, s)
	mirror := subscribe(t, nc, "guardrails.decision")
	for _, test := range []struct {
		name, body string
		header     nats.Header
		id         string
		code       protocol.Code
	}{
		{name: "empty", body: "", code: protocol.CodeInvalidRequest},
		{name: "no JSON", body: "hello", code: protocol.CodeInvalidRequest},
		{name: "cut off", body: `{"requestId":"cut","protocolVersion":"1",`, id: "cut", code: protocol.CodeInvalidRequest},
		{name: "no version", body: `{"requestId":"a"}`, id: "a", code: protocol.CodeInvalidRequest},
		{name: "other version", body: `{"requestId":"b","protocolVersion":"2"}`, id: "b", code: protocol.CodeUnsupportedVersion},
		{name: "kind", body: strings.Replace(string(fileCheck("k", "")), `"kind":"file"`, `"kind":"db"`, 1), id: "k", code: protocol.CodeUnsupportedKind},
		{name: "not opted in", body: strings.Replace(string(fileCheck("n", "")), `"kind":"file"`, `"kind":"network"`, 1), id: "n", code: protocol.CodeUnsupportedKind},
		{name: "operation", body: strings.Replace(string(fileCheck("o", "")), `"write"`, `"chmod"`, 1), id: "o", code: protocol.CodeUnsupportedOperation},
		{name: "too large", body: `{"requestId":"l","pad":"` + strings.Repeat("x", protocol.MaxDocument) + `"}`, id: "l", code: protocol.CodeTooLarge},
		{name: "batch", body: "[]", header: nats.Header{"Content-Type": {"application/cloudevents-batch+json"}}, code: protocol.CodeInvalidRequest},
		{name: "event without data", body: `{"specversion":"1.0","id":"1","source":"x","type":"dev.guardrails.check.v1"}`,
			header: nats.Header{"Content-Type": {"application/cloudevents+json"}}, code: protocol.CodeInvalidRequest},
	} {
		t.Run(test.name, func(t *testing.T) {
			msg, err := nc.RequestMsg(&nats.Msg{Subject: "guardrails.check", Header: test.header, Data: []byte(test.body)}, patience)
			if err != nil {
				t.Fatal(err)
			}
			m, problem := protocol.Open(protocol.ChannelDecision, msg.Header, msg.Data)
			if problem != nil {
				t.Fatal(problem)
			}
			d := decision(t, m.Document)
			expect(t, d, protocol.VerdictError, test.code)
			if test.id != "" && d.RequestID != test.id {
				t.Errorf("requestId %q, want %q", d.RequestID, test.id)
			}
			if test.id != "" {
				next(t, mirror)
			}
		})
	}
	before := p.Counts().Unanswerable
	if err := nc.Publish("guardrails.check", []byte("nobody to tell")); err != nil {
		t.Fatal(err)
	}
	if err := nc.Publish("guardrails.check", []byte(`{"requestId":"told","x":`)); err != nil {
		t.Fatal(err)
	}
	if d := decision(t, next(t, mirror).Data); d.RequestID != "told" {
		t.Errorf("the answer is for %q", d.RequestID)
	}
	eventually(t, "the other one is counted", func() bool { return p.Counts().Unanswerable == before+1 })
	expect(t, request(t, nc, "guardrails.check", fileCheck("after", "s")), protocol.VerdictAllow, protocol.CodePolicy)
}

func TestOnceOnly(t *testing.T) {
	s := testServer(t)
	testProvider(t, s, nil)
	nc := testClient(t, s)
	first := request(t, nc, "guardrails.check.a", fileCheck("once", "s"))
	again := request(t, nc, "guardrails.check.a", fileCheck("once", "s"))
	if first.Replayed || !again.Replayed || again.Decision != first.Decision {
		t.Errorf("replayed %v, then %v", first.Replayed, again.Replayed)
	}
	expect(t, request(t, nc, "guardrails.check.a", fileCheck("once", "other")), protocol.VerdictError, protocol.CodeRequestIDReused)
	if other := request(t, nc, "guardrails.check.b", fileCheck("once", "s")); other.Replayed {
		t.Error("an id of another scope was taken for the same")
	}
}

// TestOrder: the checks of a session are judged in the order in which they were
// sent, and sessions do not wait for each other.
func TestOrder(t *testing.T) {
	const sessions, each = 32, 40
	s := testServer(t)
	var mu sync.Mutex
	seen := make(map[string][]string)
	var running, most atomic.Int32
	testProvider(t, s, func(c *Config) {
		judge := c.Engine.Answer
		c.judge = func(ctx context.Context, r engine.Request) *protocol.Decision {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
			mu.Lock()
			session := r.Check.Context.SessionID
			seen[session] = append(seen[session], r.Check.RequestID)
			mu.Unlock()
			running.Add(-1)
			return judge(ctx, r)
		}
	})
	nc := testClient(t, s)
	decisions := subscribe(t, nc, "guardrails.decision")
	for i := range each {
		for session := range sessions {
			id := fmt.Sprintf("%d/%d", session, i)
			if err := nc.Publish("guardrails.check", fileCheck(id, fmt.Sprint(session))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range sessions * each {
		next(t, decisions)
	}
	for session := range sessions {
		for i, id := range seen[fmt.Sprint(session)] {
			if want := fmt.Sprintf("%d/%d", session, i); id != want {
				t.Fatalf("session %d: number %d was %s", session, i, id)
			}
		}
	}
	if most.Load() < 2 {
		t.Error("sessions were judged one after the other")
	}
}

// withTimeout is a check of a session of its own whose caller waits so long.
func withTimeout(id string, ms int) []byte {
	return fmt.Appendf(nil, `%s,"options":{"timeoutMs":%d}}`, strings.TrimSuffix(string(fileCheck(id, id)), "}"), ms)
}

func TestOverloaded(t *testing.T) {
	s := testServer(t)
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	t.Cleanup(release)
	p := testProvider(t, s, func(c *Config) {
		c.Workers, c.MaxWaiting = 1, 3
		judge := c.Engine.Answer
		c.judge = func(ctx context.Context, r engine.Request) *protocol.Decision {
			<-held
			return judge(ctx, r)
		}
	})
	nc := testClient(t, s)
	decisions := subscribe(t, nc, "guardrails.decision")
	for i := range 5 {
		doc := withTimeout(fmt.Sprint(i), 60_000)
		if err := nc.Publish("guardrails.check", doc); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it was received", func() bool { return p.Counts().Checks == uint64(i+1) })
	}
	for range 2 { // at once, while the others still wait
		expect(t, decision(t, next(t, decisions).Data), protocol.VerdictError, protocol.CodeOverloaded)
	}
	release()
	for range 3 {
		expect(t, decision(t, next(t, decisions).Data), protocol.VerdictAllow, protocol.CodePolicy)
	}
	if n := p.Counts().Overloaded; n != 2 {
		t.Errorf("%d were counted as overloaded, want 2", n)
	}
}

func TestPanicsAndDeadlinesAreAnswers(t *testing.T) {
	s := testServer(t)
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	t.Cleanup(release)
	p := testProvider(t, s, func(c *Config) {
		c.Workers = 1
		judge := c.Engine.Answer
		c.judge = func(ctx context.Context, r engine.Request) *protocol.Decision {
			switch r.Check.RequestID {
			case "panics":
				panic("as asked")
			case "slow":
				<-held
			}
			return judge(ctx, r)
		}
	})
	nc := testClient(t, s)
	decisions := subscribe(t, nc, "guardrails.decision")
	expect(t, request(t, nc, "guardrails.check", fileCheck("panics", "s")), protocol.VerdictError, protocol.CodeInternal)
	expect(t, decision(t, next(t, decisions).Data), protocol.VerdictError, protocol.CodeInternal)
	if p.Counts().Panics != 1 {
		t.Errorf("%d panics counted", p.Counts().Panics)
	}
	start := time.Now()
	for _, id := range []string{"slow", "behind"} {
		if err := nc.Publish("guardrails.check", withTimeout(id, 300)); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]*protocol.Decision{}
	for range 2 {
		d := decision(t, next(t, decisions).Data)
		got[d.RequestID] = d
	}
	if took := time.Since(start); took < 200*time.Millisecond {
		t.Errorf("the answers came after %v, before the time was up", took)
	}
	expect(t, got["slow"], protocol.VerdictError, protocol.CodePolicyFailed)
	expect(t, got["behind"], protocol.VerdictError, protocol.CodeOverloaded)
	release()
	// What was decided too late is not sent, and was not given: the repeat is
	// decided anew.
	if extra, err := decisions.NextMsg(100 * time.Millisecond); err == nil {
		t.Errorf("a second answer: %s", extra.Data)
	}
	d := request(t, nc, "guardrails.check", withTimeout("slow", 300))
	expect(t, d, protocol.VerdictAllow, protocol.CodePolicy)
	if d.Replayed {
		t.Error("an answer that was never given was replayed")
	}
}

func TestStatus(t *testing.T) {
	s := testServer(t)
	p := testProvider(t, s, nil)
	nc := testClient(t, s)
	for body, want := range map[string]int{"": 0, "{}": 0, `{"sessionId":"s-42"}`: 1} {
		msg, err := nc.Request("guardrails.status", []byte(body), patience)
		if err != nil {
			t.Fatal(err)
		}
		status, problem := protocol.DecodeStatus(msg.Data)
		if problem != nil || len(status.Sessions) != want {
			t.Errorf("%q: %s %v", body, msg.Data, problem)
		}
	}
	decisions := subscribe(t, nc, "guardrails.decision")
	expect(t, request(t, nc, "guardrails.status", []byte("x")), protocol.VerdictError, protocol.CodeInvalidRequest)
	if msg, err := decisions.NextMsg(50 * time.Millisecond); err == nil {
		t.Errorf("it was answered as a check: %s", msg.Data)
	}
	if n := p.Counts(); n.Errors != 0 || n.Checks != 0 {
		t.Errorf("it was counted as a check: %+v", n)
	}
}

// TestReplySubjectsOfOthers: the provider is not made to publish where its
// callers may not.
func TestReplySubjectsOfOthers(t *testing.T) {
	s := testServer(t)
	testProvider(t, s, nil)
	nc := testClient(t, s)
	own := subscribe(t, nc, "guardrails.decision.swarm-a.agent-7")
	others := subscribe(t, nc, "guardrails.decision.swarm-a.agent-8")
	for i, reply := range []string{"guardrails.decision.swarm-a.agent-8", "guardrails.check.swarm-a.agent-8", "$JS.API.INFO", "$SRV.PING"} {
		if err := nc.PublishRequest("guardrails.check.swarm-a.agent-7", reply, fileCheck(fmt.Sprint(i), "s")); err != nil {
			t.Fatal(err)
		}
		if d := decision(t, next(t, own).Data); d.RequestID != fmt.Sprint(i) || !d.Allows() {
			t.Errorf("reply %s: %+v", reply, d)
		}
	}
	if msg, err := others.NextMsg(50 * time.Millisecond); err == nil {
		t.Errorf("another agent heard %s", msg.Data)
	}
}
