package rules

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/guardrails-provider/guardrails-provider/protocol"
	"github.com/guardrails-provider/guardrails-provider/zones/programs"
	"github.com/guardrails-provider/guardrails-provider/zones/shell"
	"pgregory.net/rapid"
)

func parse(t testing.TB, text string) *Text {
	t.Helper()
	parsed, mistakes := Parse(text)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	return parsed
}

// call is a check of a tool with an input.
func call(tool, input string) *protocol.Check {
	c := &protocol.Check{Action: protocol.Action{
		Resource:   protocol.Resource{Kind: protocol.KindCustom},
		Operation:  "call",
		Attributes: protocol.Attributes{ToolName: tool, Input: jsontext.Value(input)},
		Targets:    []protocol.Target{{}},
	}}
	if input == "" {
		c.Action.Attributes.Input = nil
	}
	return c
}

// bash is a call of bash that runs shell source.
func bash(command string) *protocol.Check {
	input, _ := json.Marshal(map[string]string{"command": command})
	return call("bash", string(input))
}

// process is a check that names no tool and no input.
func process(targets ...protocol.Target) *protocol.Check {
	return &protocol.Check{Action: protocol.Action{
		Resource: protocol.Resource{Kind: protocol.KindProcess}, Operation: protocol.OpExec, Targets: targets,
	}}
}

func names(n *Namer, c *protocol.Check) string {
	var got Names
	n.Name(c, &got)
	out := strings.Join(got.List, " ")
	for _, d := range got.Doubts {
		out += " ?" + d.Name
	}
	return out
}

const mapped = `
map bash.command "git push --force" as force
map bash.command "git push" as push
map bash.command "git commit" as commit
map bash.command "python deploy.py" as pydeploy
map bash.command /\bmake\s+deploy\b/ as deploy
map bash.command deployctl as deploy
map bash.command /deploy/ as other
map bash.note secret as secret
map bash.command "make *" as made
map sql.query /(?i)drop\s+table/ as drop
map sql.rows /^[0-9]{4,}$/ as many
map sql.list /"a",1/ as odd
map argv.command "git push" as push
map argv.command /^git pull/ as pull
map process.exec.command "git push" as push
map process.exec.command mkfs as mkfs
map process.exec.input x as y
block discord.send
map discord.send.text /@everyone/ as shout
map discord.text hello as hello
require a.b.c before d
`

// A ? is a doubt, with the name that it may be.
var named = []struct {
	about string
	call  *protocol.Check
	want  string
}{
	{"no map line of the tool", call("read", `{"command":"git push"}`), "read"},
	{"no tool name", process(protocol.Target{Command: "ls"}), "process.exec"},
	{"another kind", &protocol.Check{Action: protocol.Action{Resource: protocol.Resource{Kind: "network"}, Operation: "connect"}}, "network.connect"},
	{"nothing matches", bash("ls -l"), "bash"},
	{"the field is missing", call("bash", `{}`), "bash"},
	{"there is no input", call("bash", ""), "bash"},
	{"the field is null", call("bash", `{"command":null}`), "bash"},

	{"a quoted command", bash("git push"), "push"},
	{"behind global options", bash("git -C x push origin"), "push"},
	{"not in a string", bash(`echo "git push"`), "bash"},
	{"not in a comment", bash("ls # git push"), "bash"},
	{"the first line in order", bash("git push -f"), "force"},
	{"in order, as one step", bash("git commit -m x && git push"), "commit push"},
	{"and a command without a name", bash("cd x; git push"), "push bash"},
	{"wherever it stands", bash("if true; then (git push); fi"), "push bash"},
	{"two are two", bash("git push a; git push b"), "push push"},
	{"a function is its body", bash("f() { git push; }; f"), "push"},
	{"only assignments", bash("X=1"), "bash"},
	{"only a comment", bash("# git push"), "bash"},
	{"only a redirection", bash("git push; > x"), "push bash"},
	{"empty source", bash(""), "bash"},

	{"a regex on the whole text", bash("make  deploy"), "deploy made"},
	{"even in a string", bash("echo make deploy"), "deploy"},
	{"a word", bash("sudoless-deployctl x"), "deploy"},
	{"a word is whole", bash("deployctls x"), "other"},
	{"a regex and quoted ones, and no own name", bash("git push && make deploy; ls"), "deploy push made"},
	{"a line on another field", call("bash", `{"command":"ls","note":"a secret."}`), "secret"},
	{"the first line of all fields", call("bash", `{"command":"x deploy","note":"secret"}`), "other"},

	{"plainly, but not for sure", bash("git -c core.sshCommand=x push"), "push bash"},
	{"steered by a variable", bash("PATH=/evil git push"), "push bash"},
	{"the shell opens a file", bash("git push > ~/.bashrc"), "push bash"},
	{"an unknown word", bash("git $x"), "bash ?force ?push ?commit"},
	{"an unknown word that can't be it", bash(`git add "$x"`), "bash"},
	{"an unknown word behind it", bash(`git commit -m "$x"`), "commit"},
	{"a flag may come from it", bash(`git push "$x"`), "push ?force"},
	{"an unknown program", bash("$x push"), "bash ?"},
	{"a wrapper", bash("sudo git push"), "bash ?"},
	{"a shell in a shell", bash("bash -c 'git push'"), "bash ?"},
	{"a launcher that has a name", bash("python deploy.py"), "other pydeploy ?"},
	{"broken source", bash("git push; if"), "push bash ?"},
	{"a carriage return", bash("git push\r"), "bash ?"},

	{"a regex on text", call("sql", `{"query":"DROP  table x"}`), "drop"},
	{"a regex on a number", call("sql", `{"rows":12345}`), "many"},
	{"a regex on a list", call("sql", `{"list":["a", 1]}`), "odd"},
	{"an input that is no object", call("sql", `[1]`), "sql ?"},
	{"an input that is broken", call("sql", `{"query":"drop table x"`), "sql ?"},
	{"an input with a key twice", call("sql", `{"query":"x","query":"drop table x"}`), "sql ?"},

	{"an argument vector", call("argv", `{"command":["git","push"]}`), "push"},
	{"an argument vector as text", call("argv", `{"command":["git","pull"]}`), "pull"},
	{"an argument vector with a shell", call("argv", `{"command":["sh","-c","git push"]}`), "argv ?"},
	{"an empty one", call("argv", `{"command":[]}`), "argv ?"},
	{"neither text nor words", call("argv", `{"command":{"run":"git push"}}`), "argv ?"},

	{"filled from a target", process(protocol.Target{Command: "git push"}), "push"},
	{"from its words", process(protocol.Target{Argv: []string{"git", "push"}}), "push"},
	{"literally", process(protocol.Target{Argv: []string{"echo", "&& git push"}}), "process.exec"},
	{"from all targets", process(protocol.Target{Command: "git push"}, protocol.Target{Argv: []string{"mkfs", "x"}}), "push mkfs"},
	{"from all targets, one without a name", process(protocol.Target{Command: "mkfs x"}, protocol.Target{Command: "ls"}, protocol.Target{Command: "git push"}), "mkfs push process.exec"},

	{"an action that is spoken of", call("discord", `{"action":"send"}`), "discord.send"},
	{"one that is not", call("discord", `{"action":"read"}`), "discord"},
	{"no action", call("discord", `{}`), "discord"},
	{"an action that is no text", call("discord", `{"action":["send"]}`), "discord ?"},
	{"a line on calls with the action", call("discord", `{"action":"send","text":"hi @everyone"}`), "shout"},
	{"which is not for others", call("discord", `{"action":"read","text":"hi @everyone"}`), "discord"},
	{"a line on all calls of the tool", call("discord", `{"action":"send","text":"hello"}`), "hello"},
	{"the file's order among them", call("discord", `{"action":"send","text":"hello @everyone"}`), "shout"},
	{"a tool that is really called so", call("discord.send", `{"text":"@everyone"}`), "shout"},
	{"a dot in the tool", call("a.b", `{"action":"c"}`), "a.b.c"},
	{"a dot in the action", call("a", `{"action":"b.c"}`), "a.b.c"},
	{"a net speaks of it", call("net", `{"action":"go"}`), "net.go"},
}

func TestNames(t *testing.T) {
	n := NewNamer([]string{"net.go", ".x", "y."}, parse(t, mapped))
	for _, c := range named {
		t.Run(c.about, func(t *testing.T) {
			if c.call.Action.Attributes.ToolName == "bash" && c.call.Action.Attributes.Input == nil {
				c.call.Action.Resource.Kind = protocol.KindCustom
			}
			if got := names(n, c.call); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestOrderOfTexts(t *testing.T) {
	a, b := parse(t, "map x.y foo as a"), parse(t, "map x.y foo as b")
	for _, c := range []struct {
		n    *Namer
		want string
	}{{NewNamer(nil, a, b), "a"}, {NewNamer(nil, b, a), "b"}, {new(Namer), "x"}} {
		if got := names(c.n, call("x", `{"y":"foo"}`)); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestLimitsOfNames(t *testing.T) {
	n := NewNamer(nil, parse(t, mapped))
	if got := names(n, call("sql", `{"query":"`+strings.Repeat("x", MaxField)+` drop table"}`)); got != "sql ?" {
		t.Errorf("a long field: got %s", got)
	}
	var got Names
	n.Name(bash(strings.Repeat("sudo x; ", 100)), &got)
	if len(got.Doubts) != MaxDoubts {
		t.Errorf("got %d doubts", len(got.Doubts))
	}
	n.Name(bash("sudo "+strings.Repeat("é", 1000)), &got)
	if d := got.Doubts[0].String(); len(d) > 300 || !strings.HasPrefix(d, "`sudo éé") || !strings.Contains(d, "…` can't be named: sudo runs another command") {
		t.Error(d)
	}
	n.Name(bash("git $x"), &got)
	if want := "`git $x` may be force: a word of it can't be known from the text"; got.Doubts[0].String() != want {
		t.Error(got.Doubts[0])
	}
}

func TestNamerIsShared(t *testing.T) {
	n := NewNamer(nil, parse(t, mapped))
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for _, c := range named[:40] {
				if got := names(n, c.call); got != c.want {
					t.Errorf("%s: got %s, want %s", c.about, got, c.want)
				}
			}
		})
	}
	wait.Wait()
}

// Filtering by literals never loses a match of a regex.
func TestLiterals(t *testing.T) {
	for regex, want := range map[string]string{
		`\bgit\s+push\b`: "[{push false}]", `(?i)DROP`: "[{drop true}]", `a|bc|d`: "[{a false} {bc false} {d false}]", `a*`: "[]", `(ab)+c?`: "[{ab false}]",
		`(abc){2,}`: "[{abc false}]", `(abc){0,2}`: "[]", `(abc)?`: "[]", `(?i)k`: "[{k true}]", `(?i)é`: "[]", `x(y|.)`: "[{x false}]", ``: "[]", `[ab]c`: "[{c false}]",
	} {
		if got := fmt.Sprint(literals(regex)); got != want {
			t.Errorf("%s: got %s, want %s", regex, got, want)
		}
	}
	for _, c := range []struct{ regex, text string }{{"(?i)k", "\u212a"}, {"(?i)sk", "\u017f\u212a"}, {"(?i)drop|x", "DrOp"}, {"a{0,1}", ""}} {
		p := Pattern{regex: regexp.MustCompile(c.regex), needs: literals(c.regex)}
		if !p.fits(&haystack{text: c.text}) {
			t.Errorf("%s is lost on %s", c.regex, c.text)
		}
	}
	atoms := []string{"a", "B", "k", "ſ", "K", "ab", `\b`, ".", "[ab]", "(?i)", "(", ")", "|", "*", "+", "?", "{2}", "^", "$", "(?i:k", "(?:s"}
	letters := []string{"a", "b", "A", "B", "k", "K", "K", "s", "S", "ſ", " ", "é"}
	rapid.Check(t, func(t *rapid.T) {
		raw := strings.Join(rapid.SliceOfN(rapid.SampledFrom(atoms), 1, 8).Draw(t, "regex"), "")
		regex, err := regexp.Compile(raw)
		if err != nil {
			t.Skip()
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 8).Draw(t, "text"), "")
		p := Pattern{text: raw, regex: regex, needs: literals(raw)}
		if p.fits(&haystack{text: text}) != regex.MatchString(text) {
			t.Fatalf("%s on %q: %v without the filter, needs %v", raw, text, regex.MatchString(text), p.needs)
		}
	})
}

// A word fits as a regex with boundaries does.
func TestWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab-]{1,3}`).Draw(t, "word")
		text := rapid.StringMatching(`[ab -]{0,8}`).Draw(t, "text")
		want := regexp.MustCompile(`(?:^|[^0-9A-Za-z_])` + regexp.QuoteMeta(word) + `(?:$|[^0-9A-Za-z_])`).MatchString(text)
		if hasWord(text, word) != want {
			t.Fatalf("%q in %q: want %v", word, text, want)
		}
	})
}

// Asking for a command's shape first never loses a match of a pattern.
func TestShapes(t *testing.T) {
	words := []string{"git", "/usr/bin/git", "./git", "push", "-C", "x", "--", "-f", "*", "'*'", "$x", `"$x"`, "pu*", "--force", "stash", "frob", "~/git", `\~`}
	rapid.Check(t, func(t *rapid.T) {
		p, err := programs.ParsePattern(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 4).Draw(t, "pattern"), " "))
		if err != nil {
			t.Skip()
		}
		for _, c := range shell.Read(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 6).Draw(t, "command"), " ")).Commands {
			known := !slices.ContainsFunc(c.Words, func(w shell.Word) bool { return !w.Known || w.Glob })
			s := shapeOf(p)
			if !s.mayFit(c.Words, known) && (p.MatchesPlainly(c.Words) || !known && p.MatchesAny(c.Words)) {
				t.Fatalf("%s is lost on %v", p, c.Words)
			}
		}
	})
}
