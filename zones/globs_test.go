package zones

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"
)

// allNames are the texts of up to n characters.
func allNames(n int, alphabet string) []string {
	all, last := []string{}, []string{""}
	for range n {
		var next []string
		for _, before := range last {
			for _, c := range alphabet {
				next = append(next, before+string(c))
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

// shellMatches is how bash matches one element, by doublestar and the rule of dots.
func shellMatches(pattern, name string, how globbing) bool {
	if strings.HasPrefix(name, ".") && !how.dots && strings.IndexAny(pattern, "*?[") == 0 {
		return false
	}
	return doublestar.MatchUnvalidated(pattern, name)
}

// Of one element, every name that both patterns fit must be seen, and where no
// class is about, none but those.
func TestElementsMeetAgreesWithBruteForce(t *testing.T) {
	names := allNames(7, "ab.") // three characters of each pattern, and one more
	part := rapid.SampledFrom([]string{"a", "b", ".", "*", "?", "[ab]", "[!a]", "[^.]", `\*`})
	pattern := func(t *rapid.T, label string) string {
		return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, label), "")
	}
	met, apart := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			s, g := pattern(t, "shell"), pattern(t, "guarded")
			how := globbing{dots: rapid.Bool().Draw(t, "dots")}
			want := slices.ContainsFunc(append(names, "*"), func(n string) bool {
				return shellMatches(s, n, how) && doublestar.MatchUnvalidated(g, n)
			})
			got := elementsMeet(symbols(s, true), symbols(g, false), how)
			// A class counts as any character, and so does what meets a wildcard in front.
			exact := !strings.ContainsAny(s+g, `[\`) && (how.dots || strings.IndexAny(s, "*?") != 0)
			if want && !got || exact && got && !want {
				t.Fatalf("%q and %q (dots %v): got %v, by brute force %v", s, g, how.dots, got, want)
			}
			if got {
				met++
			} else {
				apart++
			}
		}
	})
	if met < 100 || apart < 100 {
		t.Errorf("%d pairs met and %d did not: the generator is too tame", met, apart)
	}
}

func TestMeetAgreesWithBruteForce(t *testing.T) {
	var paths []string
	names := []string{"a", "b", "ab", ".a", ".env"}
	for _, x := range names {
		paths = append(paths, "/"+x)
		for _, y := range names {
			paths = append(paths, "/"+x+"/"+y)
			for _, z := range names {
				paths = append(paths, "/"+x+"/"+y+"/"+z)
			}
		}
	}
	element := rapid.SampledFrom([]string{"a", "b", "*", "**", "?", "a*", ".*", ".e?v", "[ab]", "{a,b}", "{a,.env/b}"})
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			g := "/" + strings.Join(rapid.SliceOfN(element, 1, 4).Draw(t, "guarded"), "/")
			// Braces are done by the shell before: its patterns have none.
			shellElement := element.Filter(func(s string) bool { return !strings.Contains(s, "{") })
			s := "/" + strings.Join(rapid.SliceOfN(shellElement, 1, 4).Draw(t, "shell"), "/")
			want := slices.ContainsFunc(paths, func(p string) bool {
				return doublestar.MatchUnvalidated(g, p) && doublestar.MatchUnvalidated(s, p) && dotsAllow(s, p)
			})
			got := slices.ContainsFunc(alternatives(g), func(g string) bool {
				return meet(compile(s, true), compile(g, false), globbing{})
			})
			if want && !got {
				t.Fatalf("%q and %q have a path in common, and do not meet", s, g)
			}
		}
	})
}

// dotsAllow is the rule of dots where it is easy: no ** about.
func dotsAllow(shell, p string) bool {
	s, n := strings.Split(shell, "/"), strings.Split(p, "/")
	if strings.Contains(shell, "**") {
		return !strings.Contains(p, "/.") // a part of what bash allows
	}
	for i := range s {
		if strings.HasPrefix(n[i], ".") && strings.IndexAny(s[i], "*?[") == 0 {
			return false
		}
	}
	return true
}

func TestMeetTable(t *testing.T) {
	for _, tc := range []struct {
		shell, guarded string
		how            globbing
		want           bool
	}{
		{shell: "/r/.en*", guarded: "/**/.env", want: true},
		{shell: "/r/*.env", guarded: "/**/.env"}, // * fits no leading dot
		{shell: "/r/*.env", guarded: "/**/.env", how: globbing{dots: true}, want: true},
		{shell: "/r/*", guarded: "/**/.env"},
		{shell: "/r/[.]env", guarded: "/**/.env"},
		{shell: "/r/?env", guarded: "/**/.env"},
		{shell: "/r/.?nv", guarded: "/**/.env", want: true},
		{shell: "/r/.en[v]", guarded: "/**/.env", want: true},
		{shell: "/r/.en[!]x]", guarded: "/**/.env", want: true},
		{shell: "/r/.en[]v]", guarded: "/**/.env", want: true},
		{shell: "/r/.en[[:alpha:]]", guarded: "/**/.env", want: true},
		{shell: "/r/.en[[:alpha:]]x", guarded: "/**/.env"},
		{shell: `/r/.en[\]v]`, guarded: "/**/.env", want: true},
		{shell: "/r/.e[[.nv.]]", guarded: "/**/.env", want: true},
		{shell: "/r/.en[v", guarded: "/**/.env"},
		{shell: "/r/.EN*", guarded: "/**/.env"},
		{shell: "/r/.EN*", guarded: "/**/.env", how: globbing{foldCase: true}, want: true},
		{shell: `/r/\*`, guarded: "/**/.env"},
		{shell: "/home/*/.ssh/id*", guarded: "/home/dev/.ssh/**", want: true},
		{shell: "/home/*/.ss[h]", guarded: "/home/dev/.ssh/**", want: true},
		{shell: "/home/*/x", guarded: "/home/dev/.ssh/**"},
		{shell: "/*", guarded: "/**", want: true},
		{shell: "/a/*", guarded: "/a"},
		{shell: "/a/*", guarded: `/a/\*`, want: true},
		{shell: "/a/x*", guarded: `/a/\{x`},
		{shell: "/a/*x*", guarded: `/a/\{x\}`, want: true},
		{shell: "/r/k.p*", guarded: "/**/*.pem", want: true},
		{shell: "/r/k.q??", guarded: "/**/*.pem"},
	} {
		got := meet(compile(tc.shell, true), compile(tc.guarded, false), tc.how)
		if got != tc.want {
			t.Errorf("%s and %s (%+v): got %v", tc.shell, tc.guarded, tc.how, got)
		}
	}
}

func TestAlternatives(t *testing.T) {
	for _, tc := range []struct {
		pattern string
		want    []string
	}{
		{"/a", []string{"/a"}},
		{"/{a,b}/c", []string{"/a/c", "/b/c"}},
		{"/{a,{b,c}d}", []string{"/a", "/bd", "/cd"}},
		{"/{a,b}{c,d}", []string{"/ac", "/ad", "/bc", "/bd"}},
		{`/\{a\}/{b,c}`, []string{`/\{a\}/b`, `/\{a\}/c`}},
		{`/\{a,b}`, []string{`/\{a,b}`}},
		{"/[{]{a,b}", []string{"/[{]a", "/[{]b"}},
		{"/x/{a", []string{"/x/{a"}},
		{"/x/{a,}", []string{"/x/a", "/x/"}},
		{"/x/y" + strings.Repeat("{a,b}", 30), []string{"/x/**"}},
	} {
		if got := alternatives(tc.pattern); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.pattern, got, tc.want)
		}
	}
}

// A pattern made to be slow must not be: the work is that of a table.
func TestMeetTakesBoundedTime(t *testing.T) {
	begin := time.Now()
	for _, s := range []string{
		strings.Repeat("/**/a", 2000) + "/x",
		"/" + strings.Repeat("*a", 8000) + "x",
	} {
		meet(compile(s, true), compile("/**/a/**/a/**/a/**/b*a*a*a*a*y", false), globbing{})
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}
