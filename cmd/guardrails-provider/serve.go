package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/guardrails-provider/guardrails-provider/bus"
	"github.com/guardrails-provider/guardrails-provider/policy/engine"
	"github.com/guardrails-provider/guardrails-provider/policy/live"
)

const defaultListen = "127.0.0.1:4222"

type serveCmd struct {
	Policy []string `help:"Policy file or folder, reloaded when it changes and on SIGHUP; repeatable. Left out: a starter policy." placeholder:"FILE|DIR"`

	connection `group:"An existing NATS server"`

	Listen     string `help:"Address of the embedded NATS server; port 0 takes a free one. Left out: 127.0.0.1:4222." placeholder:"ADDR" group:"The embedded NATS server"`
	DataDir    string `help:"Folder for what JetStream stores; left out: below $$XDG_STATE_HOME." placeholder:"DIR" group:"The embedded NATS server"`
	NatsConfig string `help:"Configuration file of the NATS server." placeholder:"FILE" group:"The embedded NATS server"`

	Replicas     int    `help:"Copies of state and ledger on a cluster." default:"1" placeholder:"N"`
	Operators    bool   `help:"Let operators approve (not in this version)."`
	BindIdentity string `help:"Take the caller's identity from the scope (not in this version)." placeholder:"PATTERN"`
	SignKey      string `help:"Sign decisions (not in this version)." placeholder:"FILE"`
	prefixFlag

	HTTP      string `help:"Address of /healthz and /readyz, or off." default:"off" placeholder:"ADDR" name:"http"`
	LogFormat string `help:"console or json; left out: console on a terminal." enum:",console,json" default:""`
	LogLevel  string `help:"debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
}

func (*serveCmd) Help() string {
	return `Without --nats it runs a NATS server of its own, with JetStream, on 127.0.0.1:4222. SIGTERM and
SIGINT end it in order: what was accepted is answered.

Examples:
  guardrails-provider serve
  guardrails-provider serve --policy guardrails.yaml --nats nats://nats.example:4222 --creds provider.creds`
}

func (c *serveCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	subjects, err := c.subjects()
	if err != nil {
		return err
	}
	log := c.logger(a)
	policies, err := live.Open(log, c.Policy...)
	if err != nil {
		return loadProblem(err)
	}
	e := engine.New(engine.Config{
		Policy:  policies.Current,
		Answers: engine.NewMemory(),
		Version: Version,
		Fault:   func(err error) { log.Error().Err(err).Msg("a policy failed") },
	})
	cfg := bus.Config{Engine: e, Subjects: subjects, Version: Version, Log: log}

	var server *bus.Server
	var provider *bus.Provider
	if c.Nats != "" {
		if provider, err = bus.StartRemote(c.remote(), cfg); err != nil {
			return unreachable(c.remote(), err)
		}
	} else {
		if server, err = c.startServer(log); err != nil {
			return err
		}
		defer server.Stop()
		if provider, err = bus.StartEmbedded(server, cfg); err != nil {
			return couldNot("the embedded server does not take the provider: %s; does its configuration ask for credentials? then run it by itself and give --nats and --creds", oneLine(err))
		}
	}
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	stopProvider := func() error { return provider.Stop(context.WithoutCancel(a.ctx)) }
	health, err := startHealth(c.HTTP, provider)
	if err != nil {
		_ = stopProvider()
		return err
	}
	defer health.stop()
	if err := policies.Watch(ctx); err != nil {
		log.Warn().Err(err).Msg("changes of the policy are not seen; SIGHUP still reloads it")
	}
	go reloadOnHangup(ctx, policies)

	url := bus.Redacted(c.Nats)
	if server != nil {
		url = server.URL()
	}
	current := policies.Current()
	log.Info().Str("nats", url).Bool("embedded", server != nil).Str("subjects", subjects.Prefix()+".>").
		Int("zones", current.Zones()).Str("mode", string(current.Mode())).Str("policyHash", current.Hash()).Msg("ready")
	c.printReady(a, url, server != nil, health.address)

	select {
	case <-a.ctx.Done():
	case <-provider.Closed():
		return couldNot("the connection to %s is closed for good: see the log", url)
	}
	log.Info().Msg("stopping: answering what was accepted")
	if err := stopProvider(); err != nil {
		return couldNot("%s", oneLine(err))
	}
	log.Info().Msg("stopped")
	return nil
}

// check refuses flags that contradict each other, and those that would promise
// what this version does not do.
func (c *serveCmd) check() error {
	switch {
	case c.Operators:
		return wrongUse("--operators is not supported by this version; take it out")
	case c.BindIdentity != "":
		return wrongUse("--bind-identity is not supported by this version; take it out")
	case c.SignKey != "":
		return wrongUse("--sign-key is not supported by this version; take it out")
	case c.Replicas < 1 || c.Replicas > 5:
		return wrongUse("--replicas must be from 1 to 5, not %d", c.Replicas)
	}
	if c.Nats != "" {
		for flag, value := range map[string]string{"--listen": c.Listen, "--data-dir": c.DataDir, "--nats-config": c.NatsConfig} {
			if value != "" {
				return wrongUse("%s (or %s in the environment) is for the embedded server, and --nats names another; take one of them out", flag, envName(flag))
			}
		}
		return nil
	}
	for flag, value := range map[string]string{"--creds": c.Creds, "--nkey": c.Nkey, "--tls-cert": c.TLSCert, "--tls-key": c.TLSKey, "--tls-ca": c.TLSCA} {
		if value != "" {
			return wrongUse("%s (or %s in the environment) is for a server that --nats names; add --nats, or take it out", flag, envName(flag))
		}
	}
	if c.NatsConfig != "" && c.Listen != "" {
		return wrongUse("--listen stands beside --nats-config, whose own address counts; take one of them out")
	}
	return nil
}

func envName(flag string) string {
	return "GUARDRAILS_" + strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", "_"))
}

func (c *serveCmd) logger(a *app) zerolog.Logger {
	level, _ := zerolog.ParseLevel(c.LogLevel) // one of the enum
	if c.LogFormat == "console" || c.LogFormat == "" && terminal(a.stderr) {
		return zerolog.New(zerolog.ConsoleWriter{Out: a.stderr, NoColor: !colour(a.stderr), TimeFormat: time.TimeOnly}).
			Level(level).With().Timestamp().Logger()
	}
	return zerolog.New(a.stderr).Level(level).With().Timestamp().Logger()
}

func (c *serveCmd) startServer(log zerolog.Logger) (*bus.Server, error) {
	dir := c.DataDir
	if dir == "" {
		var err error
		if dir, err = stateDir(); err != nil {
			return nil, couldNot("no folder for the server's data: %s; name one with --data-dir", oneLine(err))
		}
	}
	listen := c.Listen
	if listen == "" {
		listen = defaultListen
	}
	server, err := bus.StartServer(bus.ServerConfig{Listen: listen, DataDir: dir, ConfigFile: c.NatsConfig, Log: log})
	switch {
	case err == nil:
		return server, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, couldNot("%s is taken, maybe by another provider or NATS server; choose another with --listen 127.0.0.1:0, or use that server with --nats nats://%s", listen, listen)
	case errors.Is(err, bus.ErrListen):
		return nil, couldNot("%s; choose another address with --listen", oneLine(err))
	case errors.Is(err, bus.ErrDataDir):
		return nil, couldNot("%s; choose another with --data-dir", oneLine(err))
	}
	return nil, couldNot("%s", oneLine(err))
}

// stateDir is where the XDG base directory specification puts state.
func stateDir() (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "guardrails-provider"), nil
}

func reloadOnHangup(ctx context.Context, policies *live.Policy) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-hangup:
			_ = policies.Reload() // logged there
		case <-ctx.Done():
			return
		}
	}
}

// printReady prints the lines to try next, as they are to be pasted.
func (c *serveCmd) printReady(a *app, url string, embedded bool, health string) {
	where := ""
	switch {
	case c.Nats != url && c.Nats != "": // a password stays out of what is printed
		where = ` --nats "$NATS_URL"`
	case url != "nats://"+defaultListen:
		where = " --nats " + shellWord(url)
	}
	prefix := c.SubjectPrefix
	flag := ""
	if prefix != "guardrails" {
		flag = " --subject-prefix " + shellWord(prefix)
	}
	policyName := "the built-in starter policy"
	if len(c.Policy) > 0 {
		policyName = fmt.Sprint(c.Policy)
	}
	kind := ""
	if embedded {
		kind = " (embedded, JetStream)"
	}
	fmt.Fprintf(a.stdout, `guardrails-provider %s answers on %s%s by %s.
`, Version, url, kind, policyName)
	if health != "" {
		fmt.Fprintf(a.stdout, "Health: http://%s/healthz and /readyz\n", health)
	}
	hint := ""
	if strings.Contains(where, "$NATS_URL") {
		hint = ", with NATS_URL set to the URL that you gave"
	}
	fmt.Fprintf(a.stdout, `
Try, in another terminal%[4]s:
  %[1]s check%[2]s --file write /etc/passwd
  %[1]s check%[2]s --exec 'git push --force'
  %[1]s status%[2]s
  %[3]s

`, program(), where+flag, plainLine(where, prefix, where+flag), hint)
}

// plainLine sends a check as plain JSON: with the nats CLI, where it is installed.
func plainLine(where, prefix, flags string) string {
	const check = `{"protocolVersion":"1","requestId":"try-1","caller":{"extensionId":"me"},` +
		`"action":{"resource":{"kind":"file"},"operation":"read","targets":[{"path":"README.md"}]},"context":{"cwd":"/repo"}}`
	if _, err := exec.LookPath("nats"); err == nil {
		return "nats" + strings.Replace(where, "--nats", "--server", 1) + " request " + prefix + ".check '" + check + "'"
	}
	return "echo '" + check + "' | " + program() + " check" + flags + " --json -"
}
