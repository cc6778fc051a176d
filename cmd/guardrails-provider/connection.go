package main

import (
	"errors"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/bus"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// connection are the flags of every command that talks to a server.
type connection struct {
	Nats    string `help:"URL of the NATS server." placeholder:"URL"`
	Creds   string `help:"File with NATS credentials." placeholder:"FILE"`
	Nkey    string `help:"File with an nkey seed." placeholder:"FILE"`
	TLSCert string `help:"File with the client's TLS certificate." placeholder:"FILE" name:"tls-cert"`
	TLSKey  string `help:"File with its key." placeholder:"FILE" name:"tls-key"`
	TLSCA   string `help:"File with the authorities that the server is held to." placeholder:"FILE" name:"tls-ca"`
}

func (c *connection) remote() bus.Remote {
	return bus.Remote{URL: c.Nats, Creds: c.Creds, NKey: c.Nkey, TLSCert: c.TLSCert, TLSKey: c.TLSKey, TLSCA: c.TLSCA}
}

// connect connects a client, or says what to do.
func (c *connection) connect(name string) (*nats.Conn, error) {
	nc, err := c.remote().Connect(name)
	if err != nil {
		return nil, unreachable(c.remote(), err)
	}
	return nc, nil
}

func unreachable(r bus.Remote, err error) error {
	switch {
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, nats.ErrTimeout),
		strings.Contains(err.Error(), "connection refused"):
		return couldNot("no NATS server answers at %s; start one with guardrails-provider serve, or name yours with --nats", bus.Redacted(r.Address()))
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return couldNot("the NATS server at %s refuses these credentials; give others with --creds or --nkey", bus.Redacted(r.Address()))
	case errors.Is(err, os.ErrNotExist):
		return couldNot("%s; check the file's name", oneLine(err))
	}
	return couldNot("connecting failed: %s", oneLine(err))
}

// prefixFlag is the flag of every command that speaks of subjects.
type prefixFlag struct {
	SubjectPrefix string `help:"First tokens of all subjects." default:"guardrails" placeholder:"TOKENS"`
}

func (p *prefixFlag) subjects() (protocol.Subjects, error) {
	s, err := protocol.NewSubjects(p.SubjectPrefix)
	if err != nil {
		return s, wrongUse("--subject-prefix: %w", err)
	}
	return s, nil
}
