package policy

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/guardrails-provider/guardrails-provider/policy/opinion"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

func finding(v protocol.Verdict, reason string) opinion.Finding {
	return opinion.Finding{Finding: protocol.Finding{Policy: "p", Decision: v, Reason: reason}}
}

var drawFindings = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) opinion.Finding {
	return finding(rapid.SampledFrom([]protocol.Verdict{
		protocol.VerdictAllow, protocol.VerdictWarn, protocol.VerdictAsk, protocol.VerdictError, protocol.VerdictBlock,
	}).Draw(t, "verdict"), rapid.StringN(1, 8, -1).Draw(t, "reason"))
}), 1, 10)

func combined(findings []opinion.Finding) (v Judgement) {
	v.combine(append([]opinion.Finding(nil), findings...))
	return v
}

// Whatever the order of the findings, the strictest decides, and one finding
// more never loosens.
func TestCombineProperties(t *testing.T) {
	rank := map[protocol.Verdict]int{protocol.VerdictAllow: 0, protocol.VerdictWarn: 0, protocol.VerdictAsk: 1, protocol.VerdictError: 2, protocol.VerdictBlock: 3}
	rapid.Check(t, func(t *rapid.T) {
		findings := drawFindings.Draw(t, "findings")
		v := combined(findings)
		want, warnings := 0, 0
		for _, f := range findings {
			want = max(want, rank[f.Decision])
			if f.Decision == protocol.VerdictWarn {
				warnings++
			}
		}
		if !v.Decision.Answers() || rank[v.Decision] != want || len(v.Warnings) != warnings || len(v.Findings) != len(findings) {
			t.Fatalf("%s with %d findings and %d warnings", v.Decision, len(v.Findings), len(v.Warnings))
		}
		if other := combined(rapid.Permutation(findings).Draw(t, "other order")); other.Decision != v.Decision {
			t.Fatalf("%s, and %s in another order", v.Decision, other.Decision)
		}
		more := combined(append(findings, drawFindings.Draw(t, "more")...))
		if v.Decision.Stricter(more.Decision) {
			t.Fatalf("%s, and %s with more findings", v.Decision, more.Decision)
		}
	})
}

func TestCombineNothingIsNoGrant(t *testing.T) {
	if v := combined(nil); v.Decision != protocol.VerdictError || v.Code != protocol.CodePolicyFailed {
		t.Errorf("got %s (%s)", v.Decision, v.Code)
	}
}

// A finding without a verdict, or with one that is not known, is a fault of its policy.
func TestCombineUnknownVerdicts(t *testing.T) {
	for _, verdict := range []protocol.Verdict{"", "maybe", "ALLOW"} {
		v := combined([]opinion.Finding{finding(protocol.VerdictAllow, "yes"), finding(verdict, "odd")})
		if v.Decision != protocol.VerdictError || v.Code != protocol.CodePolicyFailed || v.Findings[1].Decision != protocol.VerdictError {
			t.Errorf("%q: got %s (%s), findings %v", verdict, v.Decision, v.Code, v.Findings)
		}
		if v := combined([]opinion.Finding{finding(verdict, "odd"), finding(protocol.VerdictBlock, "no")}); v.Decision != protocol.VerdictBlock {
			t.Errorf("%q beside a block: got %s", verdict, v.Decision)
		}
	}
}

func TestWarningsAllow(t *testing.T) {
	v := combined([]opinion.Finding{finding(protocol.VerdictAllow, "fine"), finding(protocol.VerdictWarn, "careful")})
	if v.Decision != protocol.VerdictAllow || len(v.Warnings) != 1 || v.Warnings[0] != "careful" || v.Reason != "careful" {
		t.Errorf("got %+v", v)
	}
}

// A policy that panics is an error finding; what was found before it stands.
func TestPanicIsPolicyFailed(t *testing.T) {
	p := Starter("")
	for _, cause := range []any{"oops", errors.New("oops"), nil} {
		var v Judgement
		var o opinion.Opinion
		p.ask(&v, &o, "first", func() { o.Add(finding(protocol.VerdictAllow, "fine")) })
		p.ask(&v, &o, "second", func() {
			o.Add(finding(protocol.VerdictAsk, "before"))
			panic(cause)
		})
		v.combine(o.Findings)
		p.settle(&v, true)
		if v.Decision != protocol.VerdictError || v.Code != protocol.CodePolicyFailed || len(v.Findings) != 3 || v.Findings[2].Policy != "second" {
			t.Errorf("%v: got %s (%s) %v", cause, v.Decision, v.Code, v.Findings)
		}
		if len(v.Faults) != 1 || !strings.Contains(v.Faults[0].Error(), "second") {
			t.Errorf("%v: faults %v", cause, v.Faults)
		}
		if strings.Contains(v.Reason, "oops") {
			t.Error("the cause is told to the caller")
		}
	}
	shadow := *p
	shadow.mode = ModeShadow
	v := Judgement{Decision: protocol.VerdictError, Code: protocol.CodePolicyFailed}
	if shadow.settle(&v, true); v.Decision != protocol.VerdictError {
		t.Error("shadow mode allows what could not be evaluated")
	}
}

// An operation that validation would have refused makes the zones panic, which
// must not get out of Decide.
func TestDecideNeverPanics(t *testing.T) {
	c := &protocol.Check{Action: protocol.Action{
		Resource: protocol.Resource{Kind: protocol.KindFile}, Operation: "no such operation", Targets: []protocol.Target{{Path: "/x"}},
	}}
	v := Starter("").Decide(c)
	if v.Decision != protocol.VerdictError || v.Code != protocol.CodePolicyFailed || len(v.Faults) != 1 {
		t.Errorf("got %s (%s), faults %v", v.Decision, v.Code, v.Faults)
	}
}

// TestStarterHome: a caller that names another home does not move what the
// starter policy protects below the provider's.
func TestStarterHome(t *testing.T) {
	c := &protocol.Check{
		Action: protocol.Action{
			Resource: protocol.Resource{Kind: protocol.KindFile}, Operation: protocol.OpRead,
			Targets: []protocol.Target{{Path: "/data/dev/.ssh/notes"}},
		},
		Context: protocol.Context{Cwd: "/data/dev", Home: "/elsewhere"},
	}
	if v := Starter("/data/dev").Decide(c); v.Decision != protocol.VerdictBlock {
		t.Errorf("with the home: %s: %s", v.Decision, v.Reason)
	}
	if v := Starter("").Decide(c); v.Decision != protocol.VerdictAllow {
		t.Errorf("without: %s: %s; the test shows nothing", v.Decision, v.Reason)
	}
	for _, home := range []string{"relative", "/a/../b", "/a\n", "/x: [", `/a"b`} {
		if p := Starter(home); p.Zones() == 0 {
			t.Errorf("home %q broke it", home)
		}
	}
}
