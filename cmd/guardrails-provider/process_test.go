package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// asProgram makes the test binary be the program itself, so that tests start
// real processes and send them real signals.
const asProgram = "TEST_AS_GUARDRAILS_PROVIDER"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	testscript.Main(m, map[string]func(){"guardrails-provider": main})
}

// patience is how long tests wait for what must come.
const patience = 20 * time.Second

// process is a running guardrails-provider serve.
type process struct {
	cmd     *exec.Cmd
	url     string
	out     string // what it printed until it was ready
	started time.Duration
	stderr  *syncBuffer
	waited  sync.Once
	err     error
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// startServe starts serve with the flags and returns when it has printed that it
// answers and what to try.
func startServe(dir string, flags ...string) (*process, error) {
	p := &process{stderr: new(syncBuffer)}
	p.cmd = exec.Command(os.Args[0], append([]string{"serve"}, flags...)...)
	p.cmd.Env = append(os.Environ(), asProgram+"=1", "XDG_STATE_HOME="+dir)
	p.cmd.Dir = dir
	p.cmd.Stderr = p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go func() {
		defer close(ready)
		var text strings.Builder
		in := bufio.NewScanner(stdout)
		for in.Scan() {
			text.WriteString(in.Text() + "\n")
			if strings.Contains(in.Text(), "try-1") { // the last line to try
				ready <- text.String()
				break
			}
		}
		_, _ = io.Copy(io.Discard, stdout)
	}()
	select {
	case out, ok := <-ready:
		if !ok {
			return nil, fmt.Errorf("serve ended: %v: %s", p.wait(), p.stderr)
		}
		p.out, p.started = out, time.Since(begin)
	case <-time.After(patience):
		p.kill()
		return nil, fmt.Errorf("serve is not ready: %s", p.stderr)
	}
	_, rest, _ := strings.Cut(p.out, "answers on ")
	p.url, _, _ = strings.Cut(rest, " ")
	return p, nil
}

func (p *process) wait() error {
	p.waited.Do(func() { p.err = p.cmd.Wait() })
	return p.err
}

// terminate ends it in order: nil means exit 0.
func (p *process) terminate() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := p.wait(); err != nil {
		return fmt.Errorf("%w: %s", err, p.stderr)
	}
	return nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.wait()
}

func serve(t testing.TB, flags ...string) *process {
	t.Helper()
	p, err := startServe(t.TempDir(), flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}
