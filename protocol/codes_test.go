package protocol_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// TestPostureLine draws the line again: which errors mean that nobody could
// judge, so that the caller's posture decides. Every other error refuses.
func TestPostureLine(t *testing.T) {
	nobody := map[protocol.Code]bool{
		"overloaded": true, "policy-unavailable": true, "state-unavailable": true,
		"unsupported-version": true, "unsupported-kind": true, "unsupported-operation": true,

		"invalid-request": false, "too-large": false, "request-id-reused": false, "identity-mismatch": false,
		"unknown-request": false, "policy-failed": false, "internal": false,
	}
	codes := protocol.ErrorCodes()
	if len(codes) != len(nobody) {
		t.Errorf("%d error codes, %d in the table", len(codes), len(nobody))
	}
	for _, c := range codes {
		want, ok := nobody[c]
		if !ok {
			t.Errorf("%s is not in the table", c)
		}
		if c.NobodyJudged() != want {
			t.Errorf("%s: nobody judged: %t", c, !want)
		}
	}
	for _, c := range []protocol.Code{"", "from-a-later-version", "Overloaded", "overloaded ",
		protocol.CodePolicy, protocol.CodeDefault, protocol.CodeApproved, protocol.CodeRejected, protocol.CodeApprovalTimeout,
		protocol.CodeApprovalRequired, protocol.CodeStateChanged, protocol.CodeBudget, protocol.CodeShadow} {
		if c.NobodyJudged() {
			t.Errorf("%q lets the posture decide", c)
		}
	}
}

// TestErrorCodesAreComplete compares the list with the constants in the source.
func TestErrorCodesAreComplete(t *testing.T) {
	listed := protocol.ErrorCodes()
	other := []protocol.Code{"policy", "default", "approved", "rejected", "approval-timeout", "approval-required", "state-changed", "budget", "shadow"}
	n := 0
	for _, decl := range packageDecls(t) {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			continue
		}
		for _, spec := range d.Specs {
			v := spec.(*ast.ValueSpec)
			if typ, ok := v.Type.(*ast.Ident); !ok || typ.Name != "Code" {
				continue
			}
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			n++
			if slices.Contains(listed, protocol.Code(text)) == slices.Contains(other, protocol.Code(text)) {
				t.Errorf("%s is on no side, or on both", text)
			}
		}
	}
	if n != len(listed)+len(other) {
		t.Errorf("%d constants, %d known", n, len(listed)+len(other))
	}
}

// TestStricterIsATotalOrder checks the order on all pairs and triples.
func TestStricterIsATotalOrder(t *testing.T) {
	ladder := []protocol.Verdict{protocol.VerdictAllow, protocol.VerdictWarn, protocol.VerdictAsk, protocol.VerdictError, protocol.VerdictBlock}
	for i, v := range ladder {
		for j, w := range ladder {
			if v.Stricter(w) != (i > j) {
				t.Errorf("%q stricter than %q: %t", v, w, !(i > j))
			}
		}
	}
	all := append(slices.Clone(ladder), "", "Allow", "ALLOW", "allow ", "nonsense")
	for _, v := range all[len(ladder):] {
		for _, w := range all {
			if w.Stricter(v) {
				t.Errorf("%q is stricter than %q, which is not known", w, v)
			}
			if w != protocol.VerdictBlock && slices.Contains(ladder, w) && !v.Stricter(w) {
				t.Errorf("%q, which is not known, is not stricter than %q", v, w)
			}
		}
		if v.Answers() || v.Known() {
			t.Errorf("%q is known", v)
		}
	}
	for _, a := range all {
		for _, b := range all {
			if a.Stricter(b) && b.Stricter(a) {
				t.Errorf("%q and %q are each stricter than the other", a, b)
			}
			for _, c := range all {
				if a.Stricter(b) && b.Stricter(c) && !a.Stricter(c) {
					t.Errorf("not transitive: %q, %q, %q", a, b, c)
				}
				if !a.Stricter(b) && !b.Stricter(c) && a.Stricter(c) {
					t.Errorf("not total: %q, %q, %q", a, b, c)
				}
			}
		}
	}
	if protocol.VerdictWarn.Answers() || !protocol.VerdictWarn.Known() {
		t.Error("warn is of findings only")
	}
}

// TestOnlyAllowAllows is the predicate of exactly one shape.
func TestOnlyAllowAllows(t *testing.T) {
	var none *protocol.Decision
	if none.Allows() || new(protocol.Decision).Allows() {
		t.Error("no decision, or the zero decision, allows")
	}
	for _, v := range []protocol.Verdict{"", "warn", "ask", "error", "block", "Allow", "ALLOW", " allow", "allow ", "allow\x00", "allowed", "yes", "true"} {
		if (&protocol.Decision{Decision: v, Code: protocol.CodeApproved}).Allows() {
			t.Errorf("%q allows", v)
		}
	}
	if !(&protocol.Decision{Decision: "allow"}).Allows() {
		t.Error("allow does not allow")
	}
	for _, doc := range []string{`{"decision":"allow"}`, `{"Decision":"allow"}`, `["allow"]`, `"allow"`} {
		d, err := protocol.DecodeDecision([]byte(doc))
		if err == nil || d.Allows() {
			t.Errorf("%s allows", doc)
		}
	}
	if err := new(protocol.Decision).Validate(); err == nil || !strings.Contains(err.Error(), "protocolVersion") {
		t.Errorf("the zero decision may be sent: %v", err)
	}
}
