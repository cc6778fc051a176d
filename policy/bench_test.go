package policy_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// estate writes a policy of n zones; mixed: half of them are protected patterns.
func estate(n int, mixed bool) []byte {
	var b strings.Builder
	b.WriteString("version: 1\ndefault: ask\nhome: /home/dev\nzones:\n  - {id: workspace, path: \".\", files: allow, commands: allow}\n")
	for i := 1; i < n; i++ {
		where := fmt.Sprintf("path: /srv/team%d/project%d", i%97, i)
		if mixed && i%2 == 0 {
			switch i % 8 {
			case 0:
				where = fmt.Sprintf("protect: true, match: [\"**/secret%d.key\"]", i)
			case 2:
				where = fmt.Sprintf("protect: true, match: [\"~/.config/tool%d/**\"]", i)
			case 4:
				where = fmt.Sprintf("protect: true, match: [\"/srv/team%d/project%d/keys/*.pem\"]", i%97, i-1)
			default:
				where = fmt.Sprintf("protect: true, path: /srv/team%d/project%d/vault", i%97, i-1)
			}
		}
		fmt.Fprintf(&b, "  - {id: zone-%d, %s, files: {read: allow, \"*\": block}, commands: safe-only}\n", i, where)
	}
	return []byte(b.String())
}

// fileChecks are a few thousand checks, decoded, of paths all over the estate.
func fileChecks(b *testing.B, zones int) []*protocol.Check {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	checks := make([]*protocol.Check, 4096)
	for i := range checks {
		n := r.IntN(zones)
		path := [...]string{
			fmt.Sprintf("src/module%d/file%d.go", n%50, n),
			fmt.Sprintf("/srv/team%d/project%d/src/main/file%d.go", n%97, n, r.IntN(1000)),
			fmt.Sprintf("/srv/team%d/project%d/README.md", n%97, n),
			fmt.Sprintf("/home/dev/.config/tool%d/settings", n),
		}[i%4]
		doc := fmt.Sprintf(`{"protocolVersion":"1","requestId":"r%d","caller":{"extensionId":"bench"},
			"action":{"resource":{"kind":"file"},"operation":"read","targets":[{"path":%q}]},
			"context":{"cwd":"/repo","home":"/home/dev"}}`, i, path)
		c, problem := protocol.DecodeCheck([]byte(doc))
		if problem != nil {
			b.Fatal(problem)
		}
		checks[i] = c
	}
	return checks
}

func parsed(b testing.TB, text []byte) *policy.Policy {
	b.Helper()
	begin := time.Now()
	p, err := policy.Parse(policy.File{Name: "estate.yaml", Text: text})
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("loading %d zones took %v", p.Zones(), time.Since(begin))
	return p
}

// BenchmarkFileCheck measures a decoded check to its verdict. "one" asks the same
// path again and again, "spread" some thousands of paths.
func BenchmarkFileCheck(b *testing.B) {
	for _, bb := range []struct {
		name  string
		zones int
		mixed bool
	}{{"10", 10, false}, {"100000", 100_000, false}, {"100000-mixed", 100_000, true}} {
		p := parsed(b, estate(bb.zones, bb.mixed))
		checks := fileChecks(b, bb.zones)
		for _, paths := range []string{"one", "spread"} {
			b.Run("zones="+bb.name+"/paths="+paths, func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					c := checks[1]
					if paths == "spread" {
						i++
						c = checks[i&4095]
					}
					if v := p.Decide(c); v.Decision == protocol.VerdictError {
						b.Fatal(v.Reason)
					}
				}
			})
		}
	}
}

func BenchmarkCommandCheck(b *testing.B) {
	p := policy.Starter("")
	for name, command := range map[string]string{
		"plain":    "go test ./...",
		"push":     "git -C sub push origin main",
		"compound": "cd sub && for f in *.go; do gofmt -l \"$f\"; done | sort > out.txt && cat <(git log --oneline) ../README.md",
	} {
		b.Run(name, func(b *testing.B) {
			c := &protocol.Check{
				Action:  protocol.Action{Resource: protocol.Resource{Kind: protocol.KindProcess}, Operation: protocol.OpExec, Targets: []protocol.Target{{Command: command}}},
				Context: protocol.Context{Cwd: "/repo", Home: "/home/dev"},
			}
			b.ReportAllocs()
			for b.Loop() {
				if v := p.Decide(c); v.Decision == "" {
					b.Fatal("no decision")
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{10, 10_000, 100_000} {
		text := estate(n, true)
		b.Run(fmt.Sprintf("zones=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				parsed(b, text)
			}
		})
	}
}
