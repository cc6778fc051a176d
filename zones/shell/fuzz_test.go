package shell

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

func FuzzRead(f *testing.F) {
	for _, c := range readings {
		f.Add(c.source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		// Bounded work is part of the promise.
		slow := time.AfterFunc(5*time.Second, func() { panic(fmt.Sprintf("reading %q takes too long", source)) })
		defer slow.Stop()
		r := Read(source)
		checkReading(t, source, r)
		if again := Read(source); show(again) != show(r) {
			t.Errorf("two readings of %q differ", source)
		}
	})
}

// checkReading checks what must hold for every reading.
func checkReading(t *testing.T, source string, r Reading) {
	t.Helper()
	span := func(what string, start, end, low, high int) {
		if start < low || end < start || high < end {
			t.Errorf("%q: %s at %d to %d, outside %d to %d", source, what, start, end, low, high)
		}
	}
	last := 0
	for _, c := range r.Commands {
		span("command", c.Start, c.End, last, len(source))
		last = c.Start
		if len(c.Words) == 0 && len(c.Redirects) == 0 {
			t.Errorf("%q: an empty command", source)
		}
		at := c.Start
		for _, w := range c.Words {
			span("word", w.Start, w.End, at, c.End)
			at = w.Start
			checkWord(t, source, w)
		}
		for _, rd := range c.Redirects {
			span("redirection", rd.Target.Start, rd.Target.End, c.Start, c.End)
			checkWord(t, source, rd.Target)
		}
		if c.Dir.Unknown && len(c.Dir.Steps) > 0 || !c.Dir.Unknown && len(c.Dir.Either) > 0 {
			t.Errorf("%q: contradictory directory %+v", source, c.Dir)
		}
		if len(c.Words) > 0 && (!c.Words[0].Known || c.Words[0].Glob) && len(r.Opaque) == 0 {
			t.Errorf("%q: an unknown command word, and nothing opaque", source)
		}
	}
	for _, o := range r.Opaque {
		span("opaque", o.Start, o.End, 0, len(source))
		if o.Reason == "" || strings.HasPrefix(o.Reason, faulty) {
			t.Errorf("%q: opaque for reason %q", source, o.Reason)
		}
	}
	if len(r.Opaque) > 0 {
		return
	}
	// Nothing is dropped: every call that the parser finds is a command.
	file, err := syntax.NewParser().Parse(strings.NewReader(source), "")
	if err != nil {
		t.Fatalf("%q: a parse error, and nothing opaque: %v", source, err)
	}
	var calls, derived []int
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			calls = append(calls, int(c.Args[0].Pos().Offset()))
		}
		return true
	})
	for _, c := range r.Commands {
		if len(c.Words) > 0 {
			derived = append(derived, c.Words[0].Start)
		}
	}
	for _, at := range calls {
		if !slices.Contains(derived, at) {
			t.Errorf("%q: the command at %d was dropped", source, at)
		}
	}
}

// checkWord checks that a known value, quoted and read again, is itself.
func checkWord(t *testing.T, source string, w Word) {
	t.Helper()
	if !w.Known {
		if w.Glob || w.Tilde || w.ValueTilde {
			t.Errorf("%q: unknown word %q claims more", source, w.Text)
		}
		return
	}
	if w.Glob || w.Tilde || w.ValueTilde || len(w.Text) > 10_000 {
		return
	}
	quoted := "'" + strings.ReplaceAll(w.Text, "'", `'\''`) + "'"
	if strings.ContainsAny(w.Text, "\r") {
		return // $'\r' is fine, a carriage return in the source is not
	}
	r := Read("x " + quoted)
	if len(r.Commands) != 1 || len(r.Commands[0].Words) != 2 || r.Commands[0].Words[1].Text != w.Text {
		t.Errorf("%q: the word %q, quoted, reads as\n%s", source, w.Text, show(r))
	}
}

// TestWordsAreBashs compares known words with what bash itself makes of them.
// The alphabet can't make an expansion, so bash runs nothing but printf.
func TestWordsAreBashs(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	compare := func(t interface {
		Fatalf(string, ...any)
	}, words string) {
		source := `printf '%s\0' ` + words
		r := Read(source)
		if len(r.Opaque) > 0 || len(r.Commands) != 1 {
			return
		}
		var want []string
		for _, w := range r.Commands[0].Words[2:] {
			if !w.Known || w.Glob || w.Tilde || w.ValueTilde {
				return
			}
			want = append(want, w.Text)
		}
		if len(want) == 0 {
			return
		}
		cmd := exec.Command(bash, "--norc", "--noprofile", "-c", source)
		cmd.Env = []string{"HOME=/home/x", "LC_ALL=C.UTF-8"}
		cmd.Dir = "/"
		out, err := cmd.Output()
		if err != nil {
			return // a syntax error runs nothing
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if !slices.Equal(got, want) {
			t.Fatalf("%s\nbash: %q\nread: %q", words, got, want)
		}
	}
	for _, words := range []string{
		`{a,b}{c,d}`, `{a,{b,c}}`, `{a,}`, `x{,y}`, `{1..3}{a..c}`, `{01..10..3}`, `{3..1}`, `{a,"b c"}`, `\{a,b}`, `{a\,b,c}`,
		`{a..c..2}`, `"{a,b}"`, `{a,b`, `a,b}`, `{a..}`, `{}`, `{a,b}}`, `{{a,b}`, `{,}`, `$'\'{a,b}'`, `a\'b`, `'a'\''b'`,
		`$'\e\x4a\112\q'`, `"\a\"\\"`, `a#b`, `{a,b}#`, `~x`, `'~'/x`, `a=~`, `{1..2,3}`, `{-1..1}`, `{a,b..c}`, `{a..b,c..d}`,
	} {
		compare(t, words)
	}
	alphabet := []rune(`aab1 ,..{}{}'"\~/=#$'x0`)
	safe := rapid.Custom(func(t *rapid.T) string {
		s := string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 1, 14).Draw(t, "words"))
		// $ only where it can start $'…': anything else would be an expansion.
		for i := range len(s) {
			if s[i] == '$' && !strings.HasPrefix(s[i:], "$'") {
				t.Skip()
			}
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) { compare(t, safe.Draw(t, "source")) })
}

// TestCommandsAreBashs compares what is read with what bash runs, where a
// comment, a backslash and the end of a line meet.
func TestCommandsAreBashs(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	pieces := []string{"echo", " ", " ", "#", "\\", "\n", "\n", "\\\n", "# \\\n", "x", "'", "\"", ";"}
	rapid.Check(t, func(t *rapid.T) {
		source := "echo 0 " + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 14).Draw(t, "source"), "")
		r := Read(source)
		if len(r.Opaque) > 0 {
			return
		}
		var want strings.Builder
		for _, c := range r.Commands {
			var words []string
			for _, w := range c.Words {
				if !w.Known {
					return
				}
				words = append(words, w.Text)
			}
			if words[0] == "echo" {
				want.WriteString(strings.Join(words[1:], " ") + "\n")
			}
		}
		cmd := exec.Command(bash, "--norc", "--noprofile", "-c", source)
		cmd.Env, cmd.Dir = []string{"LC_ALL=C.UTF-8", "PATH=/nowhere"}, "/"
		out, _ := cmd.Output() // words that are no program fail
		if string(out) != want.String() {
			t.Fatalf("%q\nbash: %q\nread: %q", source, out, want.String())
		}
	})
}
