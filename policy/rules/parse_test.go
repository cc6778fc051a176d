package rules

import (
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/policy/source"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files")

// Every mistake of a text is found at once, with what to write instead.
func TestMistakes(t *testing.T) {
	const golden = "testdata/mistakes.golden"
	text, err := os.ReadFile("testdata/mistakes.rules")
	if err != nil {
		t.Fatal(err)
	}
	_, mistakes := Parse(string(text))
	lines := strings.Split(string(text), "\n")
	wrong := make(map[int]bool)
	var got strings.Builder
	for _, m := range mistakes {
		if !wrong[m.Line] {
			got.WriteString(lines[m.Line-1] + "\n")
		}
		wrong[m.Line] = true
		got.WriteString("    " + m.String() + "\n")
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the mistakes are not those of %s; look at them and run with -update:\n%s", golden, got.String())
	}
	for i, line := range lines {
		if line != "" && line != "block mkfs" && !wrong[i+1] {
			t.Errorf("line %d is taken: %s", i+1, line)
		}
	}
}

func TestUnreadableLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"block a\nblock \xff", "2:1: the line is not valid UTF-8; save the file as UTF-8"},
		{"block \x00a", "1:7: U+0000 is a control character; take it out"},
		{"block é\u00a0b", "1:8: U+00A0 looks like a space and is none; write a plain space"},
		{"block " + strings.Repeat("a", MaxName+1), "1:7: the name has more than 256 characters; no tool's name is longer"},
		{"# " + strings.Repeat("a", MaxLine), "1:1: the line has 4098 bytes; at most 4096 are read: write several rules"},
		{strings.Repeat("\n", MaxText+1), "1:1: the rules have 8388609 bytes; at most 8388608 are read: split them into several files"},
	} {
		_, mistakes := Parse(c.text)
		if len(mistakes) != 1 || mistakes[0].String() != c.want {
			t.Errorf("%.20q: got %v, want %s", c.text, mistakes, c.want)
		}
	}
}

func TestMistakeIn(t *testing.T) {
	// rules: |
	//   block mkfs
	//   block
	_, mistakes := Parse("block mkfs\nblock\n")
	got := mistakes[0].In("guard.yaml", "rules", 12, 3)
	want := source.Mistake{File: "guard.yaml", Path: "rules", Line: 13, Column: 8, Problem: "the line ends here; expected a tool's name; the form is: block A, such as: block mkfs"}
	if got != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"# nothing\n\n   \n\t# at all", ""},
		{"block  mkfs\t# never", "block mkfs\n"},
		{"block mkfs#never", "block mkfs\n"},
		{"\ufeffblock mkfs\r\nblock dd\r\n", "block mkfs\nblock dd\n"},
		{"require\ttest  before deploy", "require test before deploy\n"},
		{"require human-approval before deploy", "require human-approval before deploy\n"},
		{"require before before to", "require before before to\n"},
		{"limit push to 03 per session", "limit push to 3 per session\n"},
		{"limit to to 3 per test", "limit to to 3 per test\n"},
		{"limit push to 1000000 per session", "limit push to 1000000 per session\n"},
		{"limit push to 10000 per test", "limit push to 10000 per test\n"},
		{"block mcp__github__create-issue", "block mcp__github__create-issue\n"},
		{"block github/create:issue@v2+x", "block github/create:issue@v2+x\n"},
		{"require discord.read before discord.send", "require discord.read before discord.send\n"},
		{"block écrire", "block écrire\n"},
		{`map bash.command "git push" as push`, `map bash.command "git push" as push` + "\n"},
		{`map process.exec.command /a\/b #c/ as d # e`, `map process.exec.command /a\/b #c/ as d` + "\n"},
		{`map bash.command /\\/ as d`, `map bash.command /\\/ as d` + "\n"},
		{`map bash.command "git commit -m \"a \\\\ b\"" as d`, `map bash.command "git commit -m \"a \\\\ b\"" as d` + "\n"},
		{`map sql.query DROP as drop`, `map sql.query DROP as drop` + "\n"},
		{`map bash.command --force as force`, `map bash.command --force as force` + "\n"},
		{`map bash.command as as as`, `map bash.command as as as` + "\n"},
		{"block b\nmap a.b c as d\nblock a", "block b\nmap a.b c as d\nblock a\n"},
	} {
		text, mistakes := Parse(c.text)
		if len(mistakes) > 0 || text.String() != c.want {
			t.Errorf("%q:\ngot  %q %v\nwant %q", c.text, text.String(), mistakes, c.want)
		}
	}
}

// same says whether two texts are equal but for where their lines stand.
func same(a, b *Text) bool {
	strip := func(t *Text) Text {
		var s Text
		for _, m := range t.Maps {
			m.Line = 0
			s.Maps = append(s.Maps, m)
		}
		for _, r := range t.Rules {
			r.Line = 0
			s.Rules = append(s.Rules, r)
		}
		return s
	}
	return reflect.DeepEqual(strip(a), strip(b))
}

// checkParse is what holds for every text.
func checkParse(t interface{ Fatalf(string, ...any) }, text string) {
	first, mistakes := Parse(text)
	lines := strings.Split(text, "\n")
	for i, m := range mistakes {
		if m.Problem == "" || m.Line < 1 || m.Column < 1 || m.Line > len(lines) || m.Column > len([]rune(lines[m.Line-1]))+1 {
			t.Fatalf("%q: the mistake %v stands nowhere", text, m)
		}
		if i > 0 && m.Line < mistakes[i-1].Line {
			t.Fatalf("%q: mistakes out of order: %v", text, mistakes)
		}
	}
	canonical := first.String()
	second, mistakes := Parse(canonical)
	if len(mistakes) > 0 || !same(first, second) || second.String() != canonical {
		t.Fatalf("%q: prints as %q, which reads as %q %v", text, canonical, second.String(), mistakes)
	}
	for _, n := range Nets(first) {
		if !n.Restricts || n.Name == "" || len(n.Transitions) == 0 {
			t.Fatalf("%q: a net is no restriction: %+v", text, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, file := range []string{"testdata/mistakes.rules", "testdata/right.rules"} {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
		for line := range strings.Lines(string(text)) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, text string) { checkParse(t, text) })
}

func TestRandomTexts(t *testing.T) {
	pieces := []string{
		"map", "require", "block", "limit", "before", "human-approval", "to", "per", "session", "as", "\n", "\n", "\n", "#", " ", "\t",
		"test", "deploy", "bash.command", "3", "0", "/a b/", `/a\/b/`, `/[/`, `"git push"`, `"git \"x\""`, `"`, "/", `\`, "é", "-x", "*", "tool.action",
	}
	rapid.Check(t, func(t *rapid.T) {
		checkParse(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), rapid.SampledFrom([]string{" ", ""}).Draw(t, "between")))
	})
}

// A text of right lines has no mistake, and prints what was written.
func TestRightTexts(t *testing.T) {
	name := rapid.StringMatching(`[a-zA-Z_0-9][a-zA-Z_0-9.:/@+-]{0,8}`).Filter(func(s string) bool { return nameProblem(s) == "" && !timeUnits[s] })
	rapid.Check(t, func(t *rapid.T) {
		var want strings.Builder
		seen := make(map[string]bool)
		for range rapid.IntRange(0, 20).Draw(t, "lines") {
			a := name.Draw(t, "a")
			b := name.Filter(func(s string) bool { return s != a && s != perSession }).Draw(t, "b")
			n := rapid.StringMatching(`[1-9][0-9]{0,3}`).Draw(t, "n")
			line := rapid.SampledFrom([]string{
				"require " + a + " before " + b, "require human-approval before " + b, "block " + a,
				"limit " + a + " to " + n + " per session", "limit " + a + " to " + n + " per " + b,
				"map " + a + ".command /x" + n + "/ as " + b, "map " + a + `.command "git ` + n + `" as ` + b, "map " + a + ".command x" + n + " as " + b,
			}).Draw(t, "line")
			// Near misses of keywords are asked about where they begin a rule.
			if !seen[line] && nearest(a, humanApproval) == "" {
				seen[line] = true
				want.WriteString(line + "\n")
			}
		}
		text, mistakes := Parse(want.String())
		if len(mistakes) > 0 || text.String() != want.String() {
			t.Fatalf("got %q %v\nwant %q", text, mistakes, want.String())
		}
	})
}
