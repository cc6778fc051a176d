package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"github.com/guardrails-provider/guardrails-provider/bus"
	"github.com/guardrails-provider/guardrails-provider/helper"
	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/policy/engine"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

type demoCmd struct {
	Pace time.Duration `help:"Pause between the steps of an agent." default:"400ms"`
}

func (*demoCmd) Help() string {
	return `Three agents of a swarm work in /repo and ask an embedded provider before each step; at the
end the provider is stopped, and their posture decides. Nothing is really read, written or run.

Example:
  guardrails-provider demo`
}

// agent is one caller of the demo, with what it is about to do.
type agent struct {
	name    string
	posture func(protocol.Action) helper.Posture
	yes     bool // what its user says when asked
	steps   []protocol.Action
}

func demoAgents() []agent {
	file := func(op, path string) protocol.Action {
		return protocol.Action{Resource: protocol.Resource{Kind: protocol.KindFile}, Operation: op,
			Targets: []protocol.Target{{Path: path}}}
	}
	run := func(command string) protocol.Action {
		return protocol.Action{Resource: protocol.Resource{Kind: protocol.KindProcess}, Operation: protocol.OpExec,
			Targets: []protocol.Target{{Command: command}}}
	}
	return []agent{
		{name: "coder", posture: helper.ReadsOpen, yes: true, steps: []protocol.Action{
			file("read", "src/login.go"), file("write", "src/login.go"), run("go test ./... 2>&1 | tail -5"),
			run("git commit -am 'fix login'"), run("git push origin fix-login"), file("read", "src/login.go"),
		}},
		{name: "janitor", posture: helper.ReadsOpen, steps: []protocol.Action{
			run("rm -rf build"), file("delete", "/home/dev"), run("git clean -fdx"),
			run("echo '127.0.0.1 example' >> /etc/hosts"), file("delete", "build"),
		}},
		{name: "explorer", posture: helper.ReadsOpen, steps: []protocol.Action{
			file("list", "."), file("read", "/etc/hostname"), file("read", "~/.ssh/id_ed25519"),
			run("cat .env | base64"), run("bash -c \"$PAYLOAD\""), file("stat", "go.mod"),
		}},
	}
}

func (c *demoCmd) Run(a *app) error {
	dir, err := os.MkdirTemp("", "guardrails-demo-")
	if err != nil {
		return couldNot("%s", oneLine(err))
	}
	defer os.RemoveAll(dir)
	server, err := bus.StartServer(bus.ServerConfig{Listen: "127.0.0.1:0", DataDir: dir, Log: zerolog.Nop()})
	if err != nil {
		return couldNot("%s", oneLine(err))
	}
	defer server.Stop()
	starter := policy.Starter("/home/dev")
	provider, err := bus.StartEmbedded(server, bus.Config{
		Engine: engine.New(engine.Config{
			Policy: func() *policy.Policy { return starter }, Answers: engine.NewMemory(), Version: Version,
			Fault: func(error) {},
		}),
		Version: Version, Log: zerolog.Nop(),
	})
	if err != nil {
		return couldNot("%s", oneLine(err))
	}
	defer provider.Stop(context.WithoutCancel(a.ctx)) //nolint:errcheck // stopped below in the usual case

	fmt.Fprintf(a.stdout, "A swarm of three asks a provider on %s, by the starter policy.\n\n", server.URL())
	d := demo{app: a, pace: c.Pace}
	var last []protocol.Action
	var agents []*runningAgent
	for _, ag := range demoAgents() {
		r, err := d.connect(server.URL(), ag)
		if err != nil {
			return couldNot("%s", oneLine(err))
		}
		defer r.close()
		agents = append(agents, r)
		last = append(last, ag.steps[len(ag.steps)-1])
	}
	var all sync.WaitGroup
	for _, r := range agents {
		all.Go(func() {
			for _, step := range r.steps[:len(r.steps)-1] {
				d.step(r, step)
			}
		})
	}
	all.Wait()
	if a.ctx.Err() != nil {
		return nil
	}
	fmt.Fprintln(a.stdout, "\nThe provider is stopped. From here on each agent's own posture decides: reads open, the rest closed.")
	fmt.Fprintln(a.stdout)
	if err := provider.Stop(a.ctx); err != nil {
		return couldNot("%s", oneLine(err))
	}
	for i, r := range agents {
		d.step(r, last[i])
	}
	fmt.Fprintf(a.stdout, "\nNow your own: %s serve\n", program())
	return nil
}

type demo struct {
	app   *app
	pace  time.Duration
	print sync.Mutex
}

type runningAgent struct {
	agent
	conn  *nats.Conn
	guard *helper.Guard
}

func (d *demo) connect(url string, ag agent) (*runningAgent, error) {
	nc, err := nats.Connect(url, nats.Name(ag.name))
	if err != nil {
		return nil, err
	}
	guard, err := helper.New(nc, protocol.Caller{ExtensionID: "demo", AgentID: ag.name, SwarmID: "demo-swarm"},
		helper.WithScope("demo-swarm."+ag.name),
		helper.WithPostureFunc(ag.posture),
		helper.WithContext(protocol.Context{Cwd: "/repo", Home: "/home/dev", SessionID: "demo-" + ag.name}),
		helper.WithUser(func(context.Context, helper.Question) bool { return ag.yes }),
	)
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &runningAgent{ag, nc, guard}, nil
}

func (r *runningAgent) close() {
	r.guard.Close()
	r.conn.Close()
}

// step asks for one action and prints what came of it.
func (d *demo) step(r *runningAgent, action protocol.Action) {
	select {
	case <-time.After(d.pace):
	case <-d.app.ctx.Done():
		return
	}
	o := r.guard.Check(d.app.ctx, action)
	what := action.Operation + " " + action.Targets[0].Path + action.Targets[0].Command
	verdict, why := "posture", ""
	if o.Decision != nil {
		verdict, why = string(o.Decision.Decision), o.Decision.Reason
	} else if err := o.Err(); err != nil {
		why = oneLine(err)
	}
	result := paint(d.app.stdout, "31", "stops")
	if o.MayProceed() {
		result = paint(d.app.stdout, "32", "goes on")
	}
	if o.By == helper.ByUser {
		result += " (its user said " + map[bool]string{true: "yes", false: "no"}[o.MayProceed()] + ")"
	}
	d.print.Lock()
	defer d.print.Unlock()
	fmt.Fprintf(d.app.stdout, "%-9s %s\n          %s: %s\n          → %s\n", r.name, what, verdict, oneLine(fmt.Errorf("%s", why)), result)
}
