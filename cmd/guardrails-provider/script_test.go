package main

import (
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/script: the program as its users see it. Besides the
// commands of testscript there are
//
//	serve FLAGS…     start a provider; $URL is its server's
//	hangup           send it SIGHUP
//	logged TEXT      wait until its log has the text
//	stop             end it with SIGTERM, which must give exit 0
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("NO_COLOR", "1")
			e.Setenv("XDG_STATE_HOME", e.WorkDir+"/state")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": func(ts *testscript.TestScript, neg bool, args []string) {
				p, err := startServe(ts.Getenv("WORK"), append([]string{"--listen", "127.0.0.1:0", "--log-format", "json"}, args...)...)
				ts.Check(err)
				ts.Defer(p.kill)
				running.Store(ts, p)
				ts.Setenv("URL", p.url)
				ts.Setenv("ADDR", strings.TrimPrefix(p.url, "nats://"))
			},
			"hangup": func(ts *testscript.TestScript, neg bool, args []string) {
				ts.Check(provider(ts).cmd.Process.Signal(syscall.SIGHUP))
			},
			"logged": func(ts *testscript.TestScript, neg bool, args []string) {
				text := strings.Join(args, " ")
				for end := time.Now().Add(patience); !strings.Contains(provider(ts).stderr.String(), text); time.Sleep(5 * time.Millisecond) {
					if time.Now().After(end) {
						ts.Fatalf("the log has no %q:\n%s", text, provider(ts).stderr)
					}
				}
			},
			"stop": func(ts *testscript.TestScript, neg bool, args []string) {
				ts.Check(provider(ts).terminate())
			},
		},
	})
}

// running holds the provider of each script, which run side by side.
var running sync.Map

func provider(ts *testscript.TestScript) *process {
	p, ok := running.Load(ts)
	if !ok {
		ts.Fatalf("no serve before it")
	}
	return p.(*process)
}
