package protocol

import (
	"fmt"
	"strings"
)

// DefaultPrefix is the first token of every subject, unless an operator chose another.
const DefaultPrefix = "guardrails"

// QueueGroup is the queue group in which the providers subscribe, so that
// replicas share the load and each check is answered once.
const QueueGroup = "guardrails"

// ServiceName is the name of the NATS micro service that a provider announces,
// and the provider.id of its decisions.
const ServiceName = "guardrails-provider"

// Channel is the part of a subject that says what a message carries: the tokens
// between the prefix and the scope.
type Channel string

// The channels of the protocol. Only Check, Decision, Result, Approval and Run take a scope.
const (
	ChannelCheck            Channel = "check"
	ChannelDecision         Channel = "decision"
	ChannelResult           Channel = "result"
	ChannelApproval         Channel = "approval"
	ChannelRun              Channel = "run"
	ChannelOperatorAsk      Channel = "operator.ask"
	ChannelOperatorApproval Channel = "operator.approval"
	ChannelOperatorNets     Channel = "operator.nets"
	ChannelStatus           Channel = "status"
	ChannelPrompt           Channel = "prompt"
	ChannelBlocked          Channel = "blocked"
	ChannelDangerous        Channel = "dangerous"
	ChannelLedger           Channel = "ledger"
)

// Scoped says whether subjects of the channel may carry a scope.
func (c Channel) Scoped() bool {
	switch c {
	case ChannelCheck, ChannelDecision, ChannelResult, ChannelApproval, ChannelRun:
		return true
	}
	return false
}

// Subjects makes and reads the subjects below one prefix. The zero value uses [DefaultPrefix].
type Subjects struct{ prefix string }

// NewSubjects takes the prefix of all subjects, one or more literal tokens such
// as "guardrails" or "prod.guardrails"; the empty string means [DefaultPrefix].
// The error says what is wrong with the prefix.
func NewSubjects(prefix string) (Subjects, error) {
	if prefix == "" {
		prefix = DefaultPrefix
	}
	if err := checkTokens(prefix); err != nil {
		return Subjects{}, fmt.Errorf("subject prefix %q: %w", prefix, err)
	}
	return Subjects{prefix: prefix}, nil
}

// Prefix returns the tokens that all subjects begin with.
func (s Subjects) Prefix() string {
	if s.prefix == "" {
		return DefaultPrefix
	}
	return s.prefix
}

// On returns the subject of a channel for a scope; the scope may be empty and
// is ignored where the channel takes none.
func (s Subjects) On(c Channel, scope string) string {
	if scope == "" || !c.Scoped() {
		return s.Prefix() + "." + string(c)
	}
	return s.Prefix() + "." + string(c) + "." + scope
}

// All returns the subject that matches every scope of the channel, the empty
// one not included: a subscriber wants On(c, "") as well.
func (s Subjects) All(c Channel) string {
	return s.Prefix() + "." + string(c) + ".>"
}

// Scope takes the scope out of a subject of the channel. It returns false where
// the subject is not one of that channel.
func (s Subjects) Scope(c Channel, subject string) (scope string, ok bool) {
	rest, ok := strings.CutPrefix(subject, s.Prefix())
	if !ok {
		return "", false
	}
	rest, ok = strings.CutPrefix(rest, ".")
	if !ok {
		return "", false
	}
	rest, ok = strings.CutPrefix(rest, string(c))
	if !ok {
		return "", false
	}
	if rest == "" {
		return "", true
	}
	scope, ok = strings.CutPrefix(rest, ".")
	if !ok || !c.Scoped() || scope == "" {
		return "", false
	}
	return scope, true
}

// CheckScope says what is wrong with a scope: it is empty, or NATS tokens
// without wildcards, joined by dots.
func CheckScope(scope string) error {
	if scope == "" {
		return nil
	}
	if err := checkTokens(scope); err != nil {
		return fmt.Errorf("scope %q: %w", scope, err)
	}
	return nil
}

func checkTokens(subject string) error {
	for token := range strings.SplitSeq(subject, ".") {
		switch {
		case token == "":
			return fmt.Errorf("an empty token; write tokens joined by single dots, such as swarm-a.agent-7")
		case strings.ContainsAny(token, "*>"):
			return fmt.Errorf("the token %q has a wildcard; write a literal token", token)
		case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r == 0x7f }):
			return fmt.Errorf("the token %q has white space or a control character", token)
		}
	}
	return nil
}
