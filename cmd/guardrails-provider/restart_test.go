package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"github.com/guardrails-provider/guardrails-provider/bus"
	"github.com/guardrails-provider/guardrails-provider/helper"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// sharedServer is a NATS server that outlives the providers of a test.
func sharedServer(t *testing.T) string {
	t.Helper()
	s, err := bus.StartServer(bus.ServerConfig{Listen: "127.0.0.1:0", DataDir: t.TempDir(), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s.URL()
}

func guard(t *testing.T, url string, opts ...helper.Option) *helper.Guard {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	g, err := helper.New(nc, protocol.Caller{ExtensionID: "test"}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func writeAction() protocol.Action {
	return protocol.Action{
		Resource:  protocol.Resource{Kind: protocol.KindFile},
		Operation: protocol.OpWrite,
		Targets:   []protocol.Target{{Path: "/repo/main.go"}},
	}
}

// TestRollingRestart: two replicas on one server, 32 callers, 20 restarts by
// SIGTERM; every check is answered by a provider.
func TestRollingRestart(t *testing.T) {
	const callers, restarts = 32, 20
	url := sharedServer(t)
	replicas := [2]*process{}
	for i := range replicas {
		replicas[i] = serve(t, "--nats", url)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var checks, unanswered atomic.Int64
	var all sync.WaitGroup
	for i := range callers {
		g := guard(t, url, helper.WithContext(protocol.Context{Cwd: "/repo", SessionID: fmt.Sprint(i)}))
		all.Go(func() {
			for ctx.Err() == nil {
				o := g.Check(context.Background(), writeAction())
				checks.Add(1)
				if o.By != helper.ByProvider || !o.MayProceed() {
					unanswered.Add(1)
					t.Errorf("caller %d: %v", i, o)
					return
				}
			}
		})
	}
	for n := range restarts {
		if err := replicas[n%2].terminate(); err != nil {
			t.Errorf("restart %d: %v", n, err)
		}
		replicas[n%2] = serve(t, "--nats", url)
	}
	cancel()
	all.Wait()
	t.Logf("%d checks over %d restarts, %d without a provider's answer", checks.Load(), restarts, unanswered.Load())
	if checks.Load() < 1000 {
		t.Errorf("only %d checks: too few to show anything", checks.Load())
	}
	for _, r := range replicas {
		if err := r.terminate(); err != nil {
			t.Error(err)
		}
	}
}

// TestKilledProvider: after SIGKILL every caller has its posture in time.
func TestKilledProvider(t *testing.T) {
	const callers = 32
	const timeout = 400 * time.Millisecond
	const grace = 250 * time.Millisecond
	url := sharedServer(t)
	var asked, byPosture atomic.Int64
	var slowest atomic.Int64
	note := func(took time.Duration) {
		for {
			was := slowest.Load()
			if int64(took) <= was || slowest.CompareAndSwap(was, int64(took)) {
				return
			}
		}
	}
	for range 5 {
		provider := serve(t, "--nats", url)
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		for i := range callers {
			posture := helper.Closed
			if i%2 == 0 {
				posture = helper.Open
			}
			g := guard(t, url, helper.WithPosture(posture), helper.WithTimeout(timeout), helper.WithContext(protocol.Context{Cwd: "/repo"}))
			all.Go(func() {
				for ctx.Err() == nil {
					start := time.Now()
					o := g.Check(context.Background(), writeAction())
					took := time.Since(start)
					asked.Add(1)
					note(took)
					if took > timeout+grace {
						t.Errorf("a caller waited %v", took)
					}
					if o.By == helper.ByPosture {
						byPosture.Add(1)
						if o.MayProceed() != (posture == helper.Open) {
							t.Errorf("posture %v: %v", posture, o)
						}
						time.Sleep(10 * time.Millisecond)
					} else if o.By != helper.ByProvider || !o.MayProceed() {
						t.Errorf("%v", o)
					}
				}
			})
		}
		time.Sleep(200 * time.Millisecond)
		provider.kill()
		time.Sleep(timeout + grace)
		cancel()
		all.Wait()
	}
	t.Logf("%d checks, %d by posture, the slowest took %v with a time-out of %v", asked.Load(), byPosture.Load(), time.Duration(slowest.Load()), timeout)
	if byPosture.Load() < callers {
		t.Error("no caller met the dead provider")
	}
}

// TestPrintedLinesWork pastes what serve prints into a shell.
func TestPrintedLinesWork(t *testing.T) {
	p := serve(t, "--listen", "127.0.0.1:0")
	t.Logf("ready after %v", p.started)
	var lines []string
	for line := range strings.Lines(p.out) {
		if text, ok := strings.CutPrefix(line, "  "); ok {
			lines = append(lines, strings.TrimSpace(text))
		}
	}
	if len(lines) != 4 {
		t.Fatalf("%d lines to try in %q", len(lines), p.out)
	}
	for i, want := range []string{"block (policy): Writing /etc/passwd", "block (policy): Running `git push --force`", "2 checks: 0 allow, 2 block", `"decision":"allow"`} {
		sh := exec.Command("sh", "-c", lines[i])
		sh.Dir = "../.." // where go run finds the program
		out, err := sh.CombinedOutput()
		if !strings.Contains(string(out), want) {
			t.Errorf("%s\nprints %q (%v), want %q", lines[i], out, err, want)
		}
	}
}
