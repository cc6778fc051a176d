package bus

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

// Remote is how to reach a server. The zero value is the local one without
// credentials.
type Remote struct {
	URL     string // empty: nats.DefaultURL; several, joined by commas
	Creds   string // a .creds file
	NKey    string // a file with an nkey seed
	TLSCert string // with TLSKey: the client's certificate
	TLSKey  string
	TLSCA   string // the authorities that the server's certificate is held to
}

// reconnectWait is the pause between attempts to reconnect; nats.go adds jitter.
const reconnectWait = 250 * time.Millisecond

// pingInterval and maxPings find a connection that is dead without saying so.
const (
	pingInterval = 10 * time.Second
	maxPings     = 2
)

// Options returns the options of nats.Connect for the server. The error says
// which of the fields is wrong.
func (r Remote) Options() ([]nats.Option, error) {
	var opts []nats.Option
	if r.Creds != "" {
		opts = append(opts, nats.UserCredentials(r.Creds))
	}
	if r.NKey != "" {
		nkey, err := nats.NkeyOptionFromSeed(r.NKey)
		if err != nil {
			return nil, fmt.Errorf("nkey file %s: %w", r.NKey, err)
		}
		opts = append(opts, nkey)
	}
	switch {
	case r.TLSCert != "" && r.TLSKey != "":
		opts = append(opts, nats.ClientCert(r.TLSCert, r.TLSKey))
	case r.TLSCert != "":
		return nil, errors.New("a TLS certificate without its key; give both")
	case r.TLSKey != "":
		return nil, errors.New("a TLS key without its certificate; give both")
	}
	if r.TLSCA != "" {
		opts = append(opts, nats.RootCAs(r.TLSCA))
	}
	return opts, nil
}

// Address returns the URL that is connected to.
func (r Remote) Address() string {
	if r.URL == "" {
		return nats.DefaultURL
	}
	return r.URL
}

// Redacted returns the URLs without their passwords, for logs and errors.
func Redacted(urls string) string {
	all := strings.Split(urls, ",")
	for i, text := range all {
		u, err := url.Parse(strings.TrimSpace(text))
		switch {
		case err == nil && u.User != nil:
			all[i] = u.Redacted()
		case err != nil && strings.Contains(text, "@"): // who knows what is in it
			all[i] = "xxxxx@" + text[strings.LastIndex(text, "@")+1:]
		}
	}
	return strings.Join(all, ",")
}

// Connect connects to a server for a client that asks and goes: it fails at
// once where the server is not there.
func (r Remote) Connect(name string) (*nats.Conn, error) {
	opts, err := r.Options()
	if err != nil {
		return nil, err
	}
	// What the server forbids, the caller learns where it asks; nats.go would
	// print it besides.
	quiet := nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
	nc, err := nats.Connect(r.Address(), append(opts, nats.Name(name), quiet)...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Redacted(r.Address()), err)
	}
	return nc, nil
}

// settings are those of a provider's connection: it reconnects for ever, and it
// keeps nothing to send after a reconnect, since a late answer is none.
func settings(log zerolog.Logger, onError func(*nats.Subscription, error), closed chan<- struct{}) []nats.Option {
	return []nats.Option{
		nats.Name("guardrails-provider"),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectBufSize(-1),
		nats.IgnoreAuthErrorAbort(), // credentials are renewed while we wait
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(maxPings),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) { onError(sub, err) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn().Err(err).Msg("connection lost; reconnecting")
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			log.Info().Str("server", nc.ConnectedUrlRedacted()).Msg("reconnected")
		}),
		nats.ClosedHandler(func(*nats.Conn) { close(closed) }),
	}
}
