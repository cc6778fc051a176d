package bus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"github.com/guardrails-provider/guardrails-provider/policy/engine"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// TestStopAnswersWhatWasAccepted: a stop in the middle of work loses nothing.
func TestStopAnswersWhatWasAccepted(t *testing.T) {
	s := testServer(t)
	var judging atomic.Int32
	p := testProvider(t, s, func(c *Config) {
		judge := c.Engine.Answer
		c.judge = func(ctx context.Context, r engine.Request) *protocol.Decision {
			judging.Add(1)
			time.Sleep(50 * time.Millisecond)
			return judge(ctx, r)
		}
	})
	nc := testClient(t, s)
	decisions := subscribe(t, nc, "guardrails.decision")
	const checks = 100
	for i := range checks {
		if err := nc.Publish("guardrails.check", fileCheck(fmt.Sprint(i), fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it judges", func() bool { return judging.Load() > 0 })
	if err := p.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if p.Ready() {
		t.Error("ready after its stop")
	}
	seen := map[string]bool{}
	for range checks {
		d := decision(t, next(t, decisions).Data)
		expect(t, d, protocol.VerdictAllow, protocol.CodePolicy)
		seen[d.RequestID] = true
	}
	if len(seen) != checks {
		t.Errorf("%d checks answered, want %d", len(seen), checks)
	}
	if _, err := nc.Request("guardrails.check", fileCheck("late", "s"), patience); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("after the stop: %v, want no responders", err)
	}
}

// TestStopGivesUp: a check that never ends does not keep the process.
func TestStopGivesUp(t *testing.T) {
	s := testServer(t)
	held := make(chan struct{})
	started := make(chan struct{})
	p := testProvider(t, s, func(c *Config) {
		c.judge = func(context.Context, engine.Request) *protocol.Decision {
			close(started)
			<-held
			return new(protocol.Decision)
		}
	})
	nc := testClient(t, s)
	if err := nc.Publish("guardrails.check", withTimeout("stuck", 60_000)); err != nil {
		t.Fatal(err)
	}
	<-started
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := p.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 checks unanswered") {
		t.Errorf("the stop returned %v", err)
	}
	close(held)
}

func TestLanesClose(t *testing.T) {
	var done atomic.Int32
	l := newLanes(4, 100, 1000, func(int) { time.Sleep(time.Millisecond); done.Add(1) })
	put := 0
	for i := range 50 {
		if l.put(fmt.Sprint(i%7), i, 1) {
			put++
		}
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(l.close)
	}
	all.Wait()
	if int(done.Load()) != put || put != 50 {
		t.Errorf("%d of %d done", done.Load(), put)
	}
	if l.put("late", 1, 1) {
		t.Error("closed lanes took a job")
	}
}

func TestDiscovery(t *testing.T) {
	s := testServer(t)
	p := testProvider(t, s, nil)
	nc := testClient(t, s)
	request(t, nc, "guardrails.check", fileCheck("one", "s"))
	request(t, nc, "guardrails.check.a", []byte("bad"))
	ask := func(verb micro.Verb, name, id string, into any) {
		t.Helper()
		subject, err := micro.ControlSubject(verb, name, id)
		if err != nil {
			t.Fatal(err)
		}
		msg, err := nc.Request(subject, nil, patience)
		if err != nil {
			t.Fatalf("%s: %v", subject, err)
		}
		if err := json.Unmarshal(msg.Data, into); err != nil {
			t.Fatal(err)
		}
	}
	var ping micro.Ping
	ask(micro.PingVerb, "", "", &ping)
	if ping.Name != protocol.ServiceName || ping.Type != micro.PingResponseType || ping.ID != p.ID() {
		t.Errorf("ping: %+v", ping)
	}
	var info micro.Info
	ask(micro.InfoVerb, protocol.ServiceName, "", &info)
	subjects := ""
	for _, e := range info.Endpoints {
		subjects += e.Subject + " " + e.QueueGroup + ";"
	}
	if want := "guardrails.check guardrails;guardrails.check.> guardrails;guardrails.status guardrails;"; subjects != want {
		t.Errorf("info: %s, want %s", subjects, want)
	}
	var stats micro.Stats
	eventually(t, "both checks are counted with their answers", func() bool {
		ask(micro.StatsVerb, protocol.ServiceName, p.ID(), &stats)
		return stats.Endpoints[0].NumRequests == 1 && stats.Endpoints[1].NumErrors == 1
	})
	if e := stats.Endpoints[0]; e.NumErrors != 0 || e.AverageProcessingTime <= 0 {
		t.Errorf("stats: %+v", e)
	}
	if e := stats.Endpoints[1]; e.NumRequests != 1 || !strings.HasPrefix(e.LastError, "invalid-request: ") {
		t.Errorf("stats of the scoped endpoint: %+v", e)
	}
	var counts Counts
	if err := json.Unmarshal(stats.Endpoints[0].Data, &counts); err != nil || counts.Allowed != 1 || counts.PolicyHash == "" {
		t.Errorf("counts: %+v %v", counts, err)
	}
}

func TestServerMistakes(t *testing.T) {
	s := testServer(t)
	taken := strings.TrimPrefix(s.URL(), "nats://")
	if _, err := StartServer(ServerConfig{Listen: taken, DataDir: t.TempDir()}); !errors.Is(err, ErrListen) || !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a port that is taken: %v", err)
	}
	for _, listen := range []string{"", "4222", "127.0.0.1:port", "127.0.0.1:99999", "256.256.256.256:0"} {
		if s, err := StartServer(ServerConfig{Listen: listen, DataDir: t.TempDir()}); !errors.Is(err, ErrListen) {
			t.Errorf("listen %q: %v", listen, err)
			if err == nil {
				s.Stop()
			}
		}
	}
	dir := t.TempDir()
	first, err := StartServer(ServerConfig{Listen: "127.0.0.1:0", DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := StartServer(ServerConfig{Listen: "127.0.0.1:0", DataDir: dir}); !errors.Is(err, ErrDataDir) {
		t.Errorf("a data directory that is in use: %v", err)
	}
	first.Stop()
	again, err := StartServer(ServerConfig{Listen: "127.0.0.1:0", DataDir: dir})
	if err != nil {
		t.Fatalf("a data directory that was freed: %v", err)
	}
	again.Stop()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	if _, err := StartServer(ServerConfig{Listen: "127.0.0.1:0", DataDir: file}); !errors.Is(err, ErrDataDir) {
		t.Errorf("a file for a data directory: %v", err)
	}
	if _, err := StartServer(ServerConfig{ConfigFile: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a config file that is not there was taken")
	}
	write(t, file, "port: nonsense\n")
	if _, err := StartServer(ServerConfig{ConfigFile: file, DataDir: t.TempDir()}); err == nil {
		t.Error("a config file with a mistake was taken")
	}
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRemoteWithNKey: the provider runs with the permissions that PROTOCOL.md
// gives to providers, and an agent with those of its scope.
func TestRemoteWithNKey(t *testing.T) {
	providerSeed, providerKey := newUser(t)
	agentSeed, agentKey := newUser(t)
	config := filepath.Join(t.TempDir(), "nats.conf")
	write(t, config, fmt.Sprintf(`
listen: "127.0.0.1:-1"
jetstream: enabled
authorization { users = [
  { nkey: %s, permissions: { publish: ["guardrails.decision", "guardrails.decision.>", "_INBOX.>", "$SRV.>"], subscribe: ["guardrails.>", "$SRV.>", "_INBOX.>"] } }
  { nkey: %s, permissions: { publish: ["guardrails.check.swarm-a.agent-7", "guardrails.status"], subscribe: ["guardrails.decision.swarm-a.agent-7", "_INBOX.>"] } }
] }`, providerKey, agentKey))
	s, err := StartServer(ServerConfig{ConfigFile: config, DataDir: t.TempDir(), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)

	cfg := Config{Engine: testEngine(t, testPolicy), Version: "0.0.1", Log: zerolog.Nop()}
	if _, err := StartRemote(Remote{URL: s.URL()}, cfg); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without credentials: %v", err)
	}
	if _, err := StartRemote(Remote{URL: s.URL(), NKey: agentSeed}, cfg); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("with an agent's permissions: %v", err)
	}
	p, err := StartRemote(Remote{URL: s.URL(), NKey: providerSeed}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop(context.Background())
	nc, err := Remote{URL: s.URL(), NKey: agentSeed}.Connect("agent")
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	expect(t, request(t, nc, "guardrails.check.swarm-a.agent-7", fileCheck("mine", "s")), protocol.VerdictAllow, protocol.CodePolicy)
	if _, err := nc.Request("guardrails.check.swarm-b.agent-1", fileCheck("theirs", "s"), 200*time.Millisecond); err == nil {
		t.Error("an agent was answered in another one's scope")
	}
}

func newUser(t *testing.T) (seedFile, public string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	seedFile = filepath.Join(t.TempDir(), "seed")
	write(t, seedFile, string(seed))
	return seedFile, public
}

func TestRemoteMistakes(t *testing.T) {
	for _, r := range []Remote{
		{NKey: filepath.Join(t.TempDir(), "none")},
		{TLSCert: "cert.pem"},
		{TLSKey: "key.pem"},
	} {
		if _, err := r.Options(); err == nil {
			t.Errorf("%+v was taken", r)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "nats://" + l.Addr().String()
	l.Close()
	if _, err := StartRemote(Remote{URL: url}, Config{Engine: testEngine(t, testPolicy)}); !errors.Is(err, nats.ErrNoServers) {
		t.Errorf("nobody listens: %v", err)
	}
}

// TestReconnect: a server that goes and comes back finds its provider again, and
// nothing that was asked in between is answered late.
func TestReconnect(t *testing.T) {
	dir := t.TempDir()
	s, err := StartServer(ServerConfig{Listen: "127.0.0.1:0", DataDir: dir, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(s.URL(), "nats://")
	held := make(chan struct{})
	started := make(chan struct{})
	cfg := Config{Engine: testEngine(t, testPolicy), Version: "0.0.1", Log: zerolog.Nop()}
	cfg.judge = func(ctx context.Context, r engine.Request) *protocol.Decision {
		if r.Check.RequestID == "held" {
			close(started)
			<-held
		}
		return cfg.Engine.Answer(ctx, r)
	}
	p, err := StartRemote(Remote{URL: s.URL()}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(s.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.Publish("guardrails.check", withTimeout("held", 60_000)); err != nil {
		t.Fatal(err)
	}
	<-started
	s.Stop()
	eventually(t, "it sees that the server is gone", func() bool { return !p.Ready() })
	close(held) // the answer has nowhere to go
	eventually(t, "the lost answer is counted", func() bool { return p.Counts().Lost == 1 })
	s, err = StartServer(ServerConfig{Listen: address, DataDir: dir, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	eventually(t, "it is back", p.Ready)
	eventually(t, "so is the caller", nc.IsConnected)
	decisions := subscribe(t, nc, "guardrails.decision")
	eventually(t, "checks are answered again", func() bool {
		msg, err := nc.Request("guardrails.check", fileCheck("again", "s"), time.Second)
		return err == nil && decision(t, msg.Data).Allows()
	})
	for {
		msg, err := decisions.NextMsg(100 * time.Millisecond)
		if err != nil {
			break
		}
		if decision(t, msg.Data).RequestID == "held" {
			t.Error("an answer from before the reconnect was sent after it")
		}
	}
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestSlowConsumerIsReported: what NATS drops is counted and logged.
func TestSlowConsumerIsReported(t *testing.T) {
	s := testServer(t)
	var log bytes.Buffer
	p := testProvider(t, s, func(c *Config) { c.Log = zerolog.New(&log) })
	p.onError(&nats.Subscription{Subject: "guardrails.check"}, nats.ErrSlowConsumer)
	if p.Counts().SlowConsumer != 1 || !strings.Contains(log.String(), "dropped") {
		t.Errorf("counted %d, logged %s", p.Counts().SlowConsumer, log.String())
	}
}

func TestConfiguredServerKeepsItsOwnAddress(t *testing.T) {
	config := filepath.Join(t.TempDir(), "nats.conf")
	write(t, config, `listen: "127.0.0.1:-1"`)
	s, err := StartServer(ServerConfig{ConfigFile: config, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if s.ns.JetStreamEnabled() {
		t.Error("JetStream runs although the configuration does not ask for it")
	}
	if !strings.HasPrefix(s.URL(), "nats://127.0.0.1:") || strings.HasSuffix(s.URL(), fmt.Sprint(":", server.DEFAULT_PORT)) {
		t.Errorf("it listens on %s", s.URL())
	}
}

// TestStopWithoutServer: a provider whose server is away stops at once, in order.
func TestStopWithoutServer(t *testing.T) {
	s, err := StartServer(ServerConfig{Listen: "127.0.0.1:0", DataDir: t.TempDir(), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	p, err := StartRemote(Remote{URL: s.URL()}, Config{Engine: testEngine(t, testPolicy), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
	eventually(t, "it sees that the server is gone", func() bool { return !p.Ready() })
	start := time.Now()
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > StopWait/2 {
		t.Errorf("it took %v", took)
	}
}

func TestRedacted(t *testing.T) {
	for url, want := range map[string]string{
		"nats://127.0.0.1:4222":                    "nats://127.0.0.1:4222",
		"nats://user:secret@host:1,nats://b:2":     "nats://user:xxxxx@host:1,nats://b:2",
		"tls://u:p%40ss@host, nats://x:secret@h:1": "tls://u:xxxxx@host,nats://x:xxxxx@h:1",
		"nats://user:se%cret@host:1":               "xxxxx@host:1",
	} {
		if got := Redacted(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// TestLanesHaveRoom: a few large jobs fill the lanes as many small ones do.
func TestLanesHaveRoom(t *testing.T) {
	held := make(chan struct{})
	l := newLanes(1, 100, 10, func(int) { <-held })
	if !l.put("a", 1, 6) || l.put("b", 2, 6) || !l.put("c", 3, 4) {
		t.Error("the room is not what counts")
	}
	close(held)
	eventually(t, "all is done", func() bool { return l.load() == 0 })
	if !l.put("d", 4, 10) {
		t.Error("room was not given back")
	}
	l.close()
}

// TestRefusedReconnect: a server that refuses the credentials for a while finds
// its provider again.
func TestRefusedReconnect(t *testing.T) {
	dir, config := t.TempDir(), filepath.Join(t.TempDir(), "nats.conf")
	start := func(listen, password string) *Server {
		write(t, config, fmt.Sprintf("listen: %q\nauthorization { user: provider, password: %q }", listen, password))
		s, err := StartServer(ServerConfig{ConfigFile: config, DataDir: dir, Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := start("127.0.0.1:-1", "old")
	address := strings.TrimPrefix(s.URL(), "nats://")
	var log bytes.Buffer
	p, err := StartRemote(Remote{URL: "nats://provider:old@" + address}, Config{Engine: testEngine(t, testPolicy), Log: zerolog.New(&log)})
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
	s = start(address, "new")
	time.Sleep(5 * reconnectWait) // it is refused several times
	s.Stop()
	s = start(address, "old")
	eventually(t, "it is back", p.Ready)
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	s.Stop()
}
