package protocol_test

import (
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

func TestSubjects(t *testing.T) {
	prod, err := protocol.NewSubjects("prod.guardrails")
	if err != nil {
		t.Fatal(err)
	}
	standard, err := protocol.NewSubjects("")
	if err != nil {
		t.Fatal(err)
	}
	var zero protocol.Subjects
	if zero.Prefix() != "guardrails" || standard.Prefix() != "guardrails" || prod.Prefix() != "prod.guardrails" {
		t.Errorf("prefixes %q, %q, %q", zero.Prefix(), standard.Prefix(), prod.Prefix())
	}
	for _, tt := range []struct {
		subjects protocol.Subjects
		channel  protocol.Channel
		scope    string
		want     string
	}{
		{zero, protocol.ChannelCheck, "", "guardrails.check"},
		{zero, protocol.ChannelCheck, "swarm-a.agent-7", "guardrails.check.swarm-a.agent-7"},
		{standard, protocol.ChannelDecision, "a", "guardrails.decision.a"},
		{prod, protocol.ChannelResult, "a", "prod.guardrails.result.a"},
		{zero, protocol.ChannelApproval, "a", "guardrails.approval.a"},
		{zero, protocol.ChannelRun, "a", "guardrails.run.a"},
		{zero, protocol.ChannelOperatorAsk, "a", "guardrails.operator.ask"},
		{zero, protocol.ChannelOperatorApproval, "a", "guardrails.operator.approval"},
		{zero, protocol.ChannelOperatorNets, "", "guardrails.operator.nets"},
		{zero, protocol.ChannelStatus, "a", "guardrails.status"},
		{zero, protocol.ChannelPrompt, "a", "guardrails.prompt"},
		{zero, protocol.ChannelBlocked, "a", "guardrails.blocked"},
		{zero, protocol.ChannelDangerous, "a", "guardrails.dangerous"},
		{zero, protocol.ChannelLedger, "a", "guardrails.ledger"},
	} {
		if got := tt.subjects.On(tt.channel, tt.scope); got != tt.want {
			t.Errorf("On(%s, %q) = %q, want %q", tt.channel, tt.scope, got, tt.want)
		}
		scope := tt.scope
		if !tt.channel.Scoped() {
			scope = ""
		}
		if got, ok := tt.subjects.Scope(tt.channel, tt.want); !ok || got != scope {
			t.Errorf("Scope(%s, %q) = %q, %t", tt.channel, tt.want, got, ok)
		}
	}
	if got := zero.All(protocol.ChannelLedger); got != "guardrails.ledger.>" {
		t.Error(got)
	}
	scoped := 0
	for _, c := range channels(t) {
		if c.Scoped() {
			scoped++
		}
	}
	if scoped != 5 || protocol.Channel("").Scoped() || protocol.Channel("nonsense").Scoped() {
		t.Errorf("%d channels take a scope", scoped)
	}
}

func TestScopeRefusesOtherSubjects(t *testing.T) {
	prod, err := protocol.NewSubjects("prod.guardrails")
	if err != nil {
		t.Fatal(err)
	}
	var zero protocol.Subjects
	for _, tt := range []struct {
		subjects protocol.Subjects
		channel  protocol.Channel
		subject  string
	}{
		{zero, protocol.ChannelCheck, ""}, {zero, protocol.ChannelCheck, "guardrails"}, {zero, protocol.ChannelCheck, "guardrails."},
		{zero, protocol.ChannelCheck, "guardrails.checks"}, {zero, protocol.ChannelCheck, "guardrails.checks.a"}, {zero, protocol.ChannelCheck, "guardrails.check."},
		{zero, protocol.ChannelCheck, "guardrails.decision"}, {zero, protocol.ChannelCheck, "guardrails.decision.check.a"}, {zero, protocol.ChannelCheck, "guardrailsx.check"},
		{zero, protocol.ChannelCheck, "prod.guardrails.check"}, {zero, protocol.ChannelCheck, "GUARDRAILS.check"}, {zero, protocol.ChannelCheck, "guardrails..check"},
		{prod, protocol.ChannelCheck, "guardrails.check"}, {prod, protocol.ChannelCheck, "prod.guardrails"}, {prod, protocol.ChannelCheck, "prod.guardrailscheck"},
		{zero, protocol.ChannelStatus, "guardrails.status.a"}, {zero, protocol.ChannelOperatorApproval, "guardrails.operator.approval.a"},
	} {
		if scope, ok := tt.subjects.Scope(tt.channel, tt.subject); ok || scope != "" {
			t.Errorf("Scope(%s, %q) = %q, %t", tt.channel, tt.subject, scope, ok)
		}
	}
}

func TestHostileTokens(t *testing.T) {
	for _, tokens := range []string{
		".", "..", "a.", ".a", "a..b", "*", ">", "a.*", "a.>", "a*", ">a", "a b", " ", "a\t", "a\n", "a\r\nPUB x", "a\x00", "a\x7f", "a.\x1b",
	} {
		if err := protocol.CheckScope(tokens); err == nil {
			t.Errorf("the scope %q is taken", tokens)
		} else if strings.ContainsAny(err.Error(), "\n\r\x00\x1b\x7f") {
			t.Errorf("the error is not fit for a log: %q", err)
		}
		if s, err := protocol.NewSubjects(tokens); err == nil {
			t.Errorf("the prefix %q is taken", tokens)
		} else if s.Prefix() != protocol.DefaultPrefix {
			t.Errorf("the prefix %q is refused and kept: %q", tokens, s.Prefix())
		}
	}
	for _, tokens := range []string{"", "a", "a.b", "swarm-a.agent-7", "$x", "a/b", "é", "_", "check", "guardrails.check"} {
		if err := protocol.CheckScope(tokens); err != nil {
			t.Error(err)
		}
		if _, err := protocol.NewSubjects(tokens); err != nil {
			t.Error(err)
		}
	}
}
