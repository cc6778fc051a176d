package policy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// group is one policy, in the text or in a file, with its cases.
type group struct {
	Policy string
	File   string
	Cases  []struct {
		Name     string
		Check    shortCheck
		Decision protocol.Verdict
		Code     protocol.Code // empty: not compared
		Reason   string        // a part of it
		Findings *[]string     // "verdict policy/rule target"; nil: not compared
	}
}

// shortCheck is a check without what is the same in all of them.
type shortCheck struct {
	Kind        string
	Operation   string
	Targets     []protocol.Target
	Cwd, Home   string
	Interactive bool
}

// decode goes the way of a check from the wire.
func (s shortCheck) decode(t testing.TB) *protocol.Check {
	t.Helper()
	doc, err := json.Marshal(map[string]any{
		"protocolVersion": "1", "requestId": "r", "caller": map[string]string{"extensionId": "test"},
		"action": map[string]any{
			"resource": map[string]string{"kind": or(s.Kind, "file")}, "operation": s.Operation, "targets": s.Targets,
		},
		"context": map[string]string{"cwd": or(s.Cwd, "/repo"), "home": or(s.Home, "/home/dev")},
		"options": map[string]bool{"interactive": s.Interactive},
	})
	if err != nil {
		t.Fatal(err)
	}
	c, problem := protocol.DecodeCheck(doc)
	if problem != nil {
		t.Fatalf("%v: %.300s", problem, doc)
	}
	return c
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func briefly(findings []protocol.Finding) []string {
	short := []string{}
	for _, f := range findings {
		name := f.Policy
		if f.Rule != "" {
			name += "/" + f.Rule
		}
		target := "-"
		if f.Target != nil {
			target = fmt.Sprint(*f.Target)
		}
		short = append(short, fmt.Sprintf("%s %s %s", f.Decision, name, target))
	}
	return short
}

func TestDecide(t *testing.T) {
	paths, _ := filepath.Glob("testdata/decide/*.yaml")
	if len(paths) < 5 {
		t.Fatalf("only %d files of cases", len(paths))
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var groups []group
		if err := yaml.UnmarshalWithOptions(text, &groups, yaml.Strict()); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for i, g := range groups {
			p, err := policy.Parse(policy.File{Name: path, Text: []byte(g.Policy)})
			if g.File != "" {
				p, err = policy.Load(g.File)
			}
			if err != nil {
				t.Fatalf("%s, policy %d: %v", path, i, err)
			}
			for _, tc := range g.Cases {
				t.Run(fmt.Sprintf("%s/%d/%s", filepath.Base(path), i, tc.Name), func(t *testing.T) {
					v := p.Decide(tc.Check.decode(t))
					if v.Decision != tc.Decision || tc.Code != "" && v.Code != tc.Code || !strings.Contains(v.Reason, tc.Reason) {
						t.Errorf("got %s (%s): %s\nwant %s (%s): %s\nfindings %v", v.Decision, v.Code, v.Reason, tc.Decision, tc.Code, tc.Reason, v.Findings)
					}
					if tc.Findings != nil && !slices.Equal(briefly(v.Findings), *tc.Findings) {
						t.Errorf("findings\n  %q, want\n  %q", briefly(v.Findings), *tc.Findings)
					}
					checkVerdict(t, v)
				})
			}
		}
	}
}

// checkVerdict checks what holds for every verdict: a decision that carries it
// may be sent.
func checkVerdict(t interface{ Errorf(string, ...any) }, v policy.Judgement) {
	d := protocol.Decision{
		ProtocolVersion: "1", RequestID: "r", Decision: v.Decision, Code: v.Code, Reason: v.Reason,
		Findings: v.Findings, Warnings: v.Warnings, RequestHash: protocol.Hash(nil), Provider: protocol.Provider{ID: "p"},
	}
	if v.Decision == protocol.VerdictAsk {
		d.Decision, d.Code = protocol.VerdictBlock, protocol.CodePolicy // its time is the engine's
	}
	if err := d.Validate(); err != nil {
		t.Errorf("the decision may not be sent: %v", err)
	}
	if v.Reason == "" {
		t.Errorf("no reason")
	}
}

func TestZeroPolicyRefuses(t *testing.T) {
	v := new(policy.Policy).Decide(shortCheck{Operation: "read", Targets: []protocol.Target{{Path: "/x"}}}.decode(t))
	if v.Decision != protocol.VerdictError || v.Code != protocol.CodePolicyUnavailable {
		t.Errorf("got %s (%s)", v.Decision, v.Code)
	}
	if (policy.Judgement{}).Decision == protocol.VerdictAllow {
		t.Error("the zero verdict allows")
	}
}

func TestHash(t *testing.T) {
	a, b := policy.File{Name: "a.yaml", Text: []byte("version: 1\n")}, policy.File{Name: "b.yaml", Text: []byte("version: 1\ndefault: block\n")}
	hash := func(files ...policy.File) string {
		p, err := policy.Parse(files...)
		if err != nil {
			t.Fatal(err)
		}
		if p.Hash() != policy.Hash(files...) {
			t.Error("the policy and its files have different hashes")
		}
		return p.Hash()
	}
	if hash(a) != protocol.Hash(a.Text) {
		t.Error("the hash of one file is not its SHA-256")
	}
	renamed := a
	renamed.Name = "/elsewhere/a.yaml"
	if hash(a) != hash(renamed) {
		t.Error("the hash covers the name")
	}
	if hash(a, b) == hash(b, a) || hash(a, b) == hash(a) {
		t.Error("the hash does not cover the files in their order")
	}
	split := policy.File{Name: "c.yaml", Text: slices.Concat(a.Text, b.Text[len("version: 1\n"):])}
	if hash(a, b) == hash(split) {
		t.Error("two files have the hash of one")
	}
}

var drawTarget = rapid.Custom(func(t *rapid.T) protocol.Target {
	return protocol.Target{Path: rapid.SampledFrom([]string{"x", "/asked/x", "/shut/x", "/nowhere", ".env", "~root/x", "file:x", "/etc/hosts"}).Draw(t, "path")}
})

const mixed = `version: 1
zones:
  - { id: secrets, match: ["**/.env"], protect: true, files: block }
  - { id: workspace, path: ".", files: allow }
  - { id: asked, path: /asked, files: ask }
  - { id: shut, path: /shut, files: block }
`

// The decision does not depend on the order of the targets, a further target
// never loosens it, and the same check gives the same bytes.
func TestDecideProperties(t *testing.T) {
	p, err := policy.Parse(policy.File{Name: "mixed.yaml", Text: []byte(mixed)})
	if err != nil {
		t.Fatal(err)
	}
	decide := func(targets []protocol.Target, interactive bool) policy.Judgement {
		return p.Decide(shortCheck{Operation: "read", Targets: targets, Interactive: interactive}.decode(t))
	}
	rapid.Check(t, func(t *rapid.T) {
		targets := rapid.SliceOfN(drawTarget, 1, 8).Draw(t, "targets")
		interactive := rapid.Bool().Draw(t, "interactive")
		v := decide(targets, interactive)
		checkVerdict(t, v)
		if other := decide(rapid.Permutation(targets).Draw(t, "other order"), interactive); other.Decision != v.Decision {
			t.Fatalf("%s, and %s in another order", v.Decision, other.Decision)
		}
		more := append(slices.Clone(targets), drawTarget.Draw(t, "one more"))
		// That nobody can be asked makes a block of what is an ask among findings.
		asked := v.Code == protocol.CodeApprovalRequired
		if other := decide(more, interactive); !asked && v.Decision.Stricter(other.Decision) || asked && other.Decision == protocol.VerdictAllow {
			t.Fatalf("%s (%s), and %s with one target more", v.Decision, v.Code, other.Decision)
		}
		first, _ := json.Marshal(v)
		again, _ := json.Marshal(decide(slices.Clone(targets), interactive))
		if string(first) != string(again) {
			t.Fatalf("not the same bytes:\n%s\n%s", first, again)
		}
	})
}

// A check may hold thousands of commands and a thousand targets; the decision
// still fits into a message, and nothing that stops is lost.
func TestManyFindingsFit(t *testing.T) {
	p, err := policy.Parse(policy.File{Name: "mixed.yaml", Text: []byte(mixed)})
	if err != nil {
		t.Fatal(err)
	}
	long := "/asked/" + strings.Repeat("\x7f", 390) // four times as long once it is quoted
	targets := make([]protocol.Target, protocol.MaxTargets)
	for i := range targets {
		targets[i].Path = fmt.Sprintf("%s/%d", long, i)
	}
	targets[len(targets)-1].Path = ".env"
	for _, c := range []*protocol.Check{
		shortCheck{Operation: "read", Targets: targets, Interactive: true}.decode(t),
		shortCheck{Kind: "process", Operation: "exec", Targets: []protocol.Target{{Command: strings.Repeat("cat /asked/$i/{a,b,c,d};cat /asked/x;", 400) + "cat .env"}}, Interactive: true}.decode(t),
	} {
		v := p.Decide(c)
		doc, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if v.Decision != protocol.VerdictBlock || len(doc) > protocol.MaxDocument {
			t.Errorf("%s with %d bytes, %d findings", v.Decision, len(doc), len(v.Findings))
		}
		if !slices.ContainsFunc(v.Findings, func(f protocol.Finding) bool { return f.Rule == "secrets" }) {
			t.Error("the finding that decides is not listed")
		}
	}
	// All asked: the prompt stays one that a person reads.
	targets[len(targets)-1].Path = "/asked/x"
	v := p.Decide(shortCheck{Operation: "read", Targets: targets, Interactive: true}.decode(t))
	if doc, _ := json.Marshal(v); v.Decision != protocol.VerdictAsk || len(doc) > protocol.MaxDocument || len(v.Reason) > 40<<10 || !strings.Contains(v.Reason, "And 980 more") {
		t.Errorf("%s with a reason of %d bytes, %d in all", v.Decision, len(v.Reason), len(doc))
	}
	if len(v.Findings) < protocol.MaxTargets && len(v.Warnings) == 0 {
		t.Error("findings are missing, and nothing says so")
	}
}
