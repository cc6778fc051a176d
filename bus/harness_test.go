package bus

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/policy/engine"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// The NATS server keeps these for the whole process.
		goleak.IgnoreTopFunction("github.com/nats-io/nats-server/v2/server.(*Server).Start.func1"),
		goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"),
		goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.init.0.func1"),
	)
}

// patience is how long tests wait for what must come.
const patience = 10 * time.Second

// testPolicy lets everything happen below the cwd and blocks the rest.
const testPolicy = `
version: 1
default: block
zones:
  - { id: work, path: ".", files: allow, commands: { default: allow, ask: ["git push"] } }
`

func testEngine(t testing.TB, text string) *engine.Engine {
	t.Helper()
	p, err := policy.Parse(policy.File{Name: "test.yaml", Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return engine.New(engine.Config{
		Policy:  func() *policy.Policy { return p },
		Answers: engine.NewMemory(),
		Version: "test",
		Fault:   func(err error) { t.Error(err) },
	})
}

func testServer(t testing.TB) *Server {
	t.Helper()
	s, err := StartServer(ServerConfig{Listen: "127.0.0.1:0", DataDir: t.TempDir(), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// testProvider starts a provider on the server, after change has had its way
// with the configuration.
func testProvider(t testing.TB, s *Server, change func(*Config)) *Provider {
	t.Helper()
	cfg := Config{Engine: testEngine(t, testPolicy), Version: "0.0.1", Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.Disabled)}
	if change != nil {
		change(&cfg)
	}
	p, err := StartEmbedded(s, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func testClient(t testing.TB, s *Server) *nats.Conn {
	t.Helper()
	closed := make(chan struct{})
	nc, err := nats.Connect("", s.inProcess(), nats.ClosedHandler(func(*nats.Conn) { close(closed) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); <-closed })
	return nc
}

// fileCheck is a check document that testPolicy allows.
func fileCheck(id, session string) []byte {
	return fmt.Appendf(nil, `{"protocolVersion":"1","requestId":%q,"caller":{"extensionId":"test"},`+
		`"action":{"resource":{"kind":"file"},"operation":"write","targets":[{"path":"a.go"}]},`+
		`"context":{"cwd":"/repo","sessionId":%q}}`, id, session)
}

// request sends a check as a NATS request and returns the decision.
func request(t testing.TB, nc *nats.Conn, subject string, doc []byte) *protocol.Decision {
	t.Helper()
	msg, err := nc.Request(subject, doc, patience)
	if err != nil {
		t.Fatalf("request %s: %v", subject, err)
	}
	return decision(t, msg.Data)
}

func decision(t testing.TB, doc []byte) *protocol.Decision {
	t.Helper()
	d, problem := protocol.DecodeDecision(doc)
	if problem != nil {
		t.Fatalf("not a valid decision: %v\n%s", problem, doc)
	}
	return d
}

func expect(t testing.TB, d *protocol.Decision, verdict protocol.Verdict, code protocol.Code) {
	t.Helper()
	if d.Decision != verdict || d.Code != code {
		t.Errorf("decision %s (%s): %q; want %s (%s)", d.Decision, d.Code, d.Reason, verdict, code)
	}
}

func next(t testing.TB, sub *nats.Subscription) *nats.Msg {
	t.Helper()
	msg, err := sub.NextMsg(patience)
	if err != nil {
		t.Fatalf("%s: %v", sub.Subject, err)
	}
	return msg
}

func subscribe(t testing.TB, nc *nats.Conn, subject string) *nats.Subscription {
	t.Helper()
	sub, err := nc.SubscribeSync(subject)
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return sub
}

// eventually waits until something is so.
func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}
