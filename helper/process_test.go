package helper_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// The environment makes the test binary a provider: its server and its prefix.
const (
	providerProcess = "HELPER_TEST_PROVIDER"
	providerPrefix  = "HELPER_TEST_PREFIX"
)

// hang is the toolName of a check that the provider process keeps to itself.
const hang = "hang"

// runProviderProcess allows every check but those to hang on, and writes a line
// for each, until it is killed or its input ends.
func runProviderProcess(url string) {
	nc, err := nats.Connect(url)
	if err != nil {
		panic(err)
	}
	prefix := os.Getenv(providerPrefix)
	_, err = nc.QueueSubscribe(prefix+".check.>", protocol.QueueGroup, func(m *nats.Msg) {
		c := newCall(nc, prefix, m)
		fmt.Println("check", c.check.Action.Attributes.ToolName)
		if c.check.Action.Attributes.ToolName != hang {
			c.answer(protocol.VerdictAllow)
		}
	})
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// providerAsProcess starts a provider process on the bus.
func providerAsProcess(t testing.TB, b *bus) (lines *bufio.Scanner, p *os.Process) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), providerProcess+"="+b.server.ClientURL(), providerPrefix+"="+b.prefix)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines = bufio.NewScanner(stdout)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the provider process says %q", lines.Text())
	}
	return lines, cmd.Process
}
