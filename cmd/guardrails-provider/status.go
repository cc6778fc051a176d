package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/guardrails-provider/guardrails-provider/bus"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

type statusCmd struct {
	Session string        `arg:"" optional:"" help:"Session to show; left out: all."`
	Timeout time.Duration `help:"How long to wait for providers." default:"500ms"`
	JSON    bool          `help:"Print JSON."`
	connection
	prefixFlag
}

func (*statusCmd) Help() string {
	return `Shows the providers that answer on the server, with what they did so far, and the sessions
that they keep. Exit: 3 where no provider answers.

Example:
  guardrails-provider status --nats nats://127.0.0.1:4222`
}

// statusReport is what --json prints.
type statusReport struct {
	Providers []providerStatus         `json:"providers"`
	Sessions  []protocol.SessionStatus `json:"sessions"`
}

type providerStatus struct {
	ID            string     `json:"id"`
	Version       string     `json:"version"`
	Started       time.Time  `json:"started"`
	AverageMicros float64    `json:"averageMicros"`
	Counts        bus.Counts `json:"counts"`
	LastError     string     `json:"lastError,omitempty"`
}

func (c *statusCmd) Run(a *app) error {
	subjects, err := c.subjects()
	if err != nil {
		return err
	}
	nc, err := c.connect("guardrails-provider status")
	if err != nil {
		return err
	}
	defer nc.Close()
	providers, err := discover(nc, subjects, c.Timeout)
	if err != nil {
		return couldNot("%s", oneLine(err))
	}
	if err := nc.LastError(); len(providers) == 0 && errors.Is(err, nats.ErrPermissionViolation) {
		return couldNot("this user may not look for providers: %s; status needs to publish $SRV.> and %s", oneLine(err), subjects.On(protocol.ChannelStatus, ""))
	}
	if len(providers) == 0 {
		return couldNot("no provider answers on %s; start one with guardrails-provider serve", nc.ConnectedUrlRedacted())
	}
	request, err := protocol.Encode(protocol.StatusRequest{SessionID: c.Session})
	if err != nil {
		return couldNot("%s", oneLine(err))
	}
	answer, err := nc.Request(subjects.On(protocol.ChannelStatus, ""), request, max(c.Timeout, time.Second))
	if err != nil {
		return couldNot("the provider did not answer for its sessions: %s", oneLine(err))
	}
	status, problem := protocol.DecodeStatus(answer.Data)
	if problem != nil {
		return couldNot("the provider's answer can't be read: %v", problem)
	}
	if c.JSON {
		text, err := protocol.Encode(statusReport{providers, status.Sessions})
		if err != nil {
			return couldNot("%s", oneLine(err))
		}
		_, err = fmt.Fprintln(a.stdout, string(text))
		return err
	}
	for _, p := range providers {
		n := p.Counts
		fmt.Fprintf(a.stdout, "provider %s  version %s, up %s, policy %.19s\n", p.ID, p.Version, time.Since(p.Started).Round(time.Second), n.PolicyHash)
		fmt.Fprintf(a.stdout, "  %s: %d allow, %d block, %d ask, %d error; %d replayed, %d waiting, %.0f µs on average\n",
			plural(int(n.Checks), "check"), n.Allowed, n.Blocked, n.Asked, n.Errors, n.Replayed, n.Waiting, p.AverageMicros)
		if trouble := n.Overloaded + n.Panics + n.Lost + n.SlowConsumer + n.Unanswerable; trouble > 0 {
			fmt.Fprintf(a.stdout, "  trouble: %d overloaded, %d panics, %d answers lost, %d times slow, %d unanswerable\n",
				n.Overloaded, n.Panics, n.Lost, n.SlowConsumer, n.Unanswerable)
		}
		if p.LastError != "" {
			fmt.Fprintf(a.stdout, "  last error: %s\n", p.LastError)
		}
	}
	if len(status.Sessions) == 0 {
		fmt.Fprintln(a.stdout, "no session has a state")
	}
	for _, s := range status.Sessions {
		if s.Text == "" {
			s.Text = "no state"
		}
		fmt.Fprintf(a.stdout, "session %s\n  %s\n", s.Session, strings.ReplaceAll(s.Text, "\n", "\n  "))
	}
	return nil
}

// discover asks for the providers' statistics and waits for those that answer in
// time: how many there are, nobody knows.
func discover(nc *nats.Conn, subjects protocol.Subjects, wait time.Duration) ([]providerStatus, error) {
	subject, err := micro.ControlSubject(micro.StatsVerb, protocol.ServiceName, "")
	if err != nil {
		return nil, err
	}
	sub, err := nc.SubscribeSync(nc.NewInbox())
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := nc.PublishRequest(subject, sub.Subject, nil); err != nil {
		return nil, err
	}
	var found []providerStatus
	for end := time.Now().Add(wait); ; {
		msg, err := sub.NextMsg(time.Until(end))
		if err != nil {
			break // time is up, or nobody listens
		}
		var stats micro.Stats
		if json.Unmarshal(msg.Data, &stats) != nil || stats.Name != protocol.ServiceName {
			continue
		}
		p := providerStatus{ID: stats.ID, Version: stats.Version, Started: stats.Started}
		var took time.Duration
		requests, ours := 0, false
		for _, e := range stats.Endpoints {
			took, requests = took+e.ProcessingTime, requests+e.NumRequests
			p.LastError = cmp.Or(e.LastError, p.LastError)
			if e.Subject != subjects.On(protocol.ChannelCheck, "") {
				continue
			}
			ours = json.Unmarshal(e.Data, &p.Counts) == nil
		}
		if requests > 0 {
			p.AverageMicros = float64(took.Nanoseconds()) / 1000 / float64(requests)
		}
		if ours { // else it serves another prefix
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b providerStatus) int { return strings.Compare(a.ID, b.ID) })
	return found, nil
}
