package zones

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/guardrails-provider/guardrails-provider/policy/opinion"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// refMatch says whether a zone has the path, and the length of the literal
// prefix that says so, for one meaning of ~. It is meant to be obvious.
func refMatch(z Zone, p, cwd, home string) (length int, ok bool) {
	inside := func(p, dir string) bool { return dir == "/" || p == dir || strings.HasPrefix(p, dir+"/") }
	length = -1
	note := func(prefix string) { length = max(length, len(strings.TrimSuffix(prefix, "/"))) }
	expand := func(text string, quote func(string) string) (string, bool) {
		if rest, ok := strings.CutPrefix(text, "~"); ok {
			return quote(strings.TrimSuffix(home, "/")) + rest, home != ""
		}
		return text, true
	}
	plain := func(s string) string { return s }
	switch {
	case z.Path == ".":
		if cwd != "" && inside(p, cwd) {
			note(cwd)
		}
	case z.Path != "":
		if at, ok := expand(z.Path, plain); ok {
			if at = norm.NFC.String(path.Clean("/" + at)); inside(p, at) {
				note(at)
			}
		}
	}
	for _, pattern := range z.Match {
		pattern, ok := expand(norm.NFC.String(pattern), escape)
		if !ok {
			continue
		}
		if strings.HasPrefix(pattern, "**/") {
			pattern = "/" + pattern
		}
		if doublestar.MatchUnvalidated(pattern, strings.TrimSuffix(p, "/")) { // or /* would match /
			prefix := ""
			for rest := pattern; ; {
				element, after, more := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
				if strings.ContainsAny(strings.NewReplacer(`\*`, "", `\?`, "", `\[`, "", `\{`, "").Replace(element), "*?[{") {
					break
				}
				prefix += "/" + unescape(element)
				if !more {
					break
				}
				rest = after
			}
			note(prefix)
		}
	}
	return length, length >= 0
}

// refSpeaking is the selection of zones, by looking at every one of them.
func refSpeaking(zs []Zone, p, cwd, checkHome, policyHome string) (speak []int, protected bool) {
	home := checkHome
	if home == "" {
		home = policyHome
	}
	for i, z := range zs {
		_, first := refMatch(z, p, cwd, home)
		_, second := refMatch(z, p, cwd, policyHome)
		if z.Protect && (first || second) {
			speak = append(speak, i)
		}
	}
	if len(speak) > 0 {
		return speak, true
	}
	for i, z := range zs {
		if _, ok := refMatch(z, p, cwd, home); ok && !z.Protect && z.Path == "." {
			speak = append(speak, i)
		}
	}
	if len(speak) > 0 {
		return speak, false
	}
	longest := -1
	for i, z := range zs {
		length, ok := refMatch(z, p, cwd, home)
		if !ok || z.Protect || length < longest {
			continue
		}
		if length > longest {
			longest, speak = length, nil
		}
		speak = append(speak, i)
	}
	return speak, false
}

var (
	drawName = rapid.SampledFrom([]string{"a", "b", "c", "ab", ".env", ".ssh", "x.pem", "y.tar.gz", "caf\u00e9", "*", "d"})
	drawGlob = rapid.SampledFrom([]string{"a", "b", "ab", ".env", "x.pem", "*", "**", "*.pem", "*.gz", "{a,b}", "{a,b/c}", "[ab]", "?", "a*", `\*`, ".*", "cafe\u0301", "{.env,x.*}"})
)

func drawPath(t *rapid.T, most int) string {
	return "/" + strings.Join(rapid.SliceOfN(drawName, 0, most).Draw(t, "path"), "/")
}

func drawZone(t *rapid.T) (z Zone) {
	home := rapid.Bool().Draw(t, "home")
	tilde := func(s string) string {
		if home {
			return strings.TrimSuffix("~"+s, "/")
		}
		return s
	}
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		z.Path = "."
	case 1, 2:
		if z.Path = tilde(drawPath(t, 3)); strings.Contains(z.Path, "*") {
			z.Path = tilde("/a")
		}
	default:
		for range rapid.IntRange(1, 3).Draw(t, "patterns") {
			glob := strings.Join(rapid.SliceOfN(drawGlob, 1, 4).Draw(t, "glob"), "/")
			if rapid.Bool().Draw(t, "anywhere") {
				z.Match = append(z.Match, "**/"+glob)
			} else {
				z.Match = append(z.Match, tilde("/"+glob))
			}
		}
	}
	z.Protect = rapid.IntRange(0, 2).Draw(t, "protect") == 0
	verdicts := rapid.SampledFrom([]protocol.Verdict{protocol.VerdictAllow, protocol.VerdictAsk, protocol.VerdictBlock})
	z.Files = Files{}
	for _, op := range []string{"*", protocol.OpRead, protocol.OpWrite} {
		if rapid.Bool().Draw(t, "op") {
			z.Files[op] = verdicts.Draw(t, "verdict")
		}
	}
	return z
}

// The index must choose the zones that a look at every zone chooses. Each of
// the runs (100 by default) compares 250 paths: 25,000 in all.
func TestSelectionAgreesWithReference(t *testing.T) {
	spoke, protected := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{Zones: rapid.SliceOfN(rapid.Custom(drawZone), 0, 12).Draw(t, "zones")}
		for i := range cfg.Zones {
			cfg.Zones[i].ID = string(rune('a' + i))
		}
		homes := rapid.SampledFrom([]string{"", "/", "/a", "/a/b", "/b"})
		cfg.Home = homes.Draw(t, "policy home")
		set, err := Compile(cfg)
		if err != nil {
			t.Fatal(err)
		}
		cwd := rapid.SampledFrom([]string{"", "/", "/a", "/a/b/c", "/d"}).Draw(t, "cwd")
		home := homes.Draw(t, "check home")
		around := set.around(&protocol.Context{Cwd: cwd, Home: home})
		for range 250 {
			p := drawPath(t, 5)
			speak, isProtected := set.speaking(clean(p), &around, nil)
			got := make([]int, 0, len(speak))
			for _, z := range speak {
				got = append(got, z.order)
			}
			slices.Sort(got)
			want, wantProtected := refSpeaking(cfg.Zones, p, cwd, home, cfg.Home)
			if !slices.Equal(got, want) || isProtected != wantProtected {
				t.Fatalf("path %q, cwd %q, home %q, policy home %q:\nzones %+v\nthe index says %v (protected: %v), the reference %v (%v)",
					p, cwd, home, cfg.Home, cfg.Zones, got, isProtected, want, wantProtected)
			}
			if len(want) > 0 {
				spoke++
			}
			if wantProtected {
				protected++
			}
			for _, op := range fileOps {
				refJudge(t, cfg, set, want, wantProtected, p, cwd, home, op)
			}
		}
	})
	if spoke < 1000 || protected < 1000 {
		t.Errorf("of the paths, zones spoke for %d only, protected ones for %d: the generator is too tame", spoke, protected)
	}
}

// refJudge compares what Judge makes of a file check with the strictest verdict
// of the zones that speak.
func refJudge(t *rapid.T, cfg Config, set *Set, speak []int, protected bool, p, cwd, home, op string) {
	var want protocol.Verdict
	for _, i := range speak {
		v, ok := cfg.Zones[i].Files[op]
		if !ok {
			v = cfg.Zones[i].Files["*"]
		}
		if v != "" && (want == "" || v.Stricter(want)) {
			want = v
		}
	}
	var o opinion.Opinion
	c := protocol.Check{
		Action:  protocol.Action{Resource: protocol.Resource{Kind: protocol.KindFile}, Operation: op, Targets: []protocol.Target{{Path: p}}},
		Context: protocol.Context{Cwd: cwd, Home: home},
	}
	set.Judge(&c, &o)
	if op == protocol.OpDelete { // what lies below has a say, too: see the tests of files
		return
	}
	var got protocol.Verdict
	for _, f := range o.Findings {
		if got == "" || f.Decision.Stricter(got) {
			got = f.Decision
		}
	}
	if got != want || (want == "") != (len(o.Ungranted) == 1) {
		t.Fatalf("%s %q, cwd %q, home %q: judged %q with %d left, the reference says %q; zones %+v", op, p, cwd, home, got, len(o.Ungranted), want, cfg.Zones)
	}
}
