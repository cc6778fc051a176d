package expr

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

func newEnv(t testing.TB) *Env {
	t.Helper()
	e, err := NewEnv(Config{
		Meta: map[string]any{
			"backedUpPaths": []any{}, "count": 0, "last": "", "ratio": 0.5, "armed": false,
			"names": []any{"a"}, "seen": map[string]any{}, "mixed": []any{1, "a"},
		},
		Places: []string{"ready", "backedUp"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const wholeInput = `{"path":"/a/b","n":3,"f":1.0,"e":1e2,"big":99999999999999999999,"on":true,"none":null,
		"list":[1,"x",{"k":"v"}],"z":{"c":1,"a":2,"b":3},"text":"hello"}`

func vars(t testing.TB, e *Env) *Vars {
	t.Helper()
	input, err := DecodeObject([]byte(wholeInput), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Vars{
		Input: input, Tool: "delete", Meta: e.First(), Marking: map[string]int{"ready": 1, "backedUp": 0},
		Check: &protocol.Check{
			Caller:  protocol.Caller{ExtensionID: "ext", AgentID: "ag"},
			Context: protocol.Context{Cwd: "/repo"},
			Action:  protocol.Action{Targets: []protocol.Target{{Path: "/a/b"}, {Argv: []string{"git", "push"}}}},
		},
	}
}

// The want is true, false, or a part of the error.
var guards = []struct{ source, want string }{
	{`true`, "true"},
	{`input.path != ""`, "true"},
	{`input.path.startsWith("/a") && tool == "delete"`, "true"},
	{`input["path"] == "/a/b"`, "true"},
	{`input.n == 3 && input.n + 1 == 4 && input.n < 3.5`, "true"},
	{`input.f == 1.0 && input.f + 0.5 == 1.5 && input.e == 100.0`, "true"},
	{`input.big > 1e19`, "true"},
	{`input.on == true && input.none == null`, "true"},
	{`input.list[2].k == "v" && size(input.list) == 3`, "true"},
	{`input.z == {"a": 2, "b": 3, "c": 1}`, "true"},
	{`"a" in input.z && !("d" in input.z)`, "true"},
	{`input.z.map(k, k) == ["a", "b", "c"]`, "true"},
	{`{"z": 1, "y": 2, "x": 3, "w": 4, "v": 5, "u": 6}.map(k, k) == ["u", "v", "w", "x", "y", "z"]`, "true"},
	{`marking.map(p, p) == ["backedUp", "ready"]`, "true"},
	{`has(input.path) && !has(input.nothing)`, "true"},
	{`targets.exists(t, t.path == "/a/b") && targets[1].argv[0] == "git"`, "true"},
	{`size(targets) == 2 && !has(targets[1].path) && has(targets[1].argv)`, "true"},
	{`context.cwd == "/repo" && context.home == "" && !has(context.home)`, "true"},
	{`caller.extensionId == "ext" && caller.agentId == "ag" && !has(caller.swarmId)`, "true"},
	{`marking.ready > 0 && marking["backedUp"] == 0`, "true"},
	{`meta.count == 0 && meta.last == "" && has(meta.last) && meta.names == ["a"]`, "true"},
	{`meta.backedUpPaths.exists(p, covers(p, input.path))`, "false"},
	{`covers("/a", input.path)`, "true"},
	{`targets.all(t, covers("/", t.path))`, "false"},
	{`input.text.matches("^h.*o$")`, "true"},
	{`true || input.nothing == 1`, "true"}, // as CEL has it

	{`input.nothing == 1`, "there is no nothing; where it may be missing, ask with has() first"},
	{`input.path.nothing == 1`, "there is no nothing"},
	{`input.path + 1 == 2`, "no such overload"},
	{`input.n / 0 == 1`, "division by zero"},
	{`input.list[9] == 1`, "out of bounds"},
	{`covers("/a", input.n)`, "no such overload"},
	{`meta.count + 9223372036854775807 + input.n == 1`, "overflow"},
	{`int(input.text) == 1`, "type conversion"},
}

func TestGuards(t *testing.T) {
	e := newEnv(t)
	v := vars(t, e)
	for _, c := range guards {
		g, mistakes := e.Guard(c.source)
		if len(mistakes) > 0 {
			t.Errorf("%s: %v", c.source, mistakes)
			continue
		}
		for range 20 {
			got, err := g.Holds(v)
			switch {
			case c.want == "true" || c.want == "false":
				if err != nil || fmt.Sprint(got) != c.want {
					t.Fatalf("%s: got %v, %v; want %s", c.source, got, err, c.want)
				}
			case err == nil || got || !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), c.want):
				t.Fatalf("%s: got %v, %v; want an error with %q", c.source, got, err, c.want)
			}
		}
	}
}

func TestRunErrorsHavePositions(t *testing.T) {
	e := newEnv(t)
	g, mistakes := e.Guard("tool == \"delete\" &&\n  input.n / 0 == 1")
	if mistakes != nil {
		t.Fatal(mistakes)
	}
	_, err := g.Holds(vars(t, e))
	if err == nil || !strings.HasPrefix(err.Error(), "evaluation failed: 2:11: ") {
		t.Error(err)
	}
}

func TestMistakes(t *testing.T) {
	e := newEnv(t)
	for _, c := range []struct {
		source string
		want   string
	}{
		{``, "1:1: the expression is empty; write one, or take the key out"},
		{`input.path !=`, "1:14: not valid CEL: mismatched input the end, expected a value or an operator"},
		{`input.path = "x"`, "1:12: not valid CEL: a single =; to compare, write =="},
		{`foo == 1`, "1:1: foo is not known here; known are caller, context, input, marking, meta, targets, tool, covers() and the functions of CEL"},
		{"tool == \"a\" &&\n  foo == bar", "2:3: foo is not known"},
		{`now() > 3`, "1:4: now is not there: the same call must always get the same decision"},
		{`timestamp("2020-01-01T00:00:00Z").getFullYear() == 2020`, "1:10: timestamp is not there: time has no part in what a policy decides"},
		{`google.protobuf.Timestamp{seconds: 1} == null`, "1:34: google.protobuf.Timestamp is not known here"},
		{`meta.backedUp == 1`, "1:5: there is no field backedUp; meta has armed, backedUpPaths, count, last, mixed, names, ratio, seen"},
		{`context.cwdd == ""`, "1:8: there is no field cwdd; context has cwd, home, runId, sessionId"},
		{`targets.exists(t, t.pth == "")`, "1:20: there is no field pth; a target has argv, command, path, realPath, uri"},
		{`meta["count"] == 1`, "1:5: [] can't be applied to (the meta, string)"},
		{`meta.count == "x"`, "1:12: == can't be applied to (int, string)"},
		{`meta.count + "x" == 1`, "1:12: + can't be applied to (int, string)"},
		{`covers("/a")`, "1:7: covers can't be applied to (string)"},
		{`covers("/a", 1)`, "1:7: covers can't be applied to (string, int)"},
		{`tool.matches("[")`, "1:14: not a regular expression of RE2, or a very large one"},
		{`tool.matches("((a{100}){100}){100}")`, "1:14: "},
		{`tool.matches(input.pattern)`, `1:13: the pattern of matches() must be written out, as in input.path.matches("^/repo/")`},
		{`matches(tool, "a" + tool)`, `1:8: the pattern of matches() must be written out`},
		{`marking.redy > 0`, "1:8: the net has no place redy; it has ready, backedUp"},
		{`marking["redy"] > 0`, "1:8: the net has no place redy; it has ready, backedUp"},
		{`tool`, "1:1: a guard must be true or false (bool), and this is string; compare it with something"},
		{`input.force`, "1:1: a guard must be true or false, and this may be anything; compare it, as in input.force == true"},
		{`[1].all(a, [1].all(b, [1].all(c, [1].all(d, [1].all(e, a == e)))))`, "1:52: at most 4 of all, exists, exists_one, map and filter may stand in one another"},
		{strings.Repeat("(", 60) + "true" + strings.Repeat(")", 60), "1:1: the expression is nested too deeply; at most 50 levels are read"},
		{`"` + strings.Repeat("x", MaxSource) + `" == tool`, "1:1: the expression has 4106 characters; at most 4096 are read"},
		{"tool == \"\xff\"", "1:1: the expression is not valid UTF-8; save the file as UTF-8"},
	} {
		g, mistakes := e.Guard(c.source)
		if g != nil || len(mistakes) == 0 || !strings.HasPrefix(mistakes[0].String(), c.want) {
			t.Errorf("%.60s:\ngot  %v\nwant %s", c.source, mistakes, c.want)
		}
		for _, m := range mistakes {
			t.Logf("%.60s: %v", c.source, m)
		}
	}
	if _, mistakes := e.Guard("foo && bar"); len(mistakes) != 2 {
		t.Errorf("not every mistake at once: %v", mistakes)
	}
}

func TestRecordTypes(t *testing.T) {
	e := newEnv(t)
	for _, c := range []struct{ key, source, want string }{
		{"backedUpPaths", `meta.backedUpPaths + [input.path]`, ""},
		{"count", `meta.count + 1`, ""},
		{"count", `input.n`, ""},
		{"last", `tool`, ""},
		{"names", `meta.names + [tool]`, ""},
		{"names", `meta.names + [input.path]`, ""},
		{"seen", `{input.path: true}`, ""},
		{"armed", `input.path != ""`, ""},
		{"count", `tool`, "1:1: meta.count is of type int, as its first value is, and this is string; write an expression of type int"},
		{"count", `1.5`, "1:1: meta.count is of type int, as its first value is, and this is double; write an expression of type int"},
		{"names", `[1]`, "1:1: meta.names is of type list(string), as its first value is, and this is list(int); write an expression of type list(string)"},
		{"backedUpPaths", `tool`, "1:1: meta.backedUpPaths is of type list(dyn), as its first value is, and this is string; write an expression of type list(dyn)"},
		{"seen", `targets`, "1:1: meta.seen is of type map(string, dyn), as its first value is, and this is list(the target); write an expression of type map(string, dyn)"},
		{"nothing", `tool`, "1:1: meta has no nothing; it has armed, backedUpPaths, count, last, mixed, names, ratio, seen; give it a first value under meta"},
		{"nothing", `foo`, "1:1: meta has no nothing"},
	} {
		r, mistakes := e.Record(c.key, c.source)
		switch {
		case c.want == "" && (len(mistakes) > 0 || r.Key() != c.key || r.String() != c.source):
			t.Errorf("%s: %s: %v", c.key, c.source, mistakes)
		case c.want != "" && (r != nil || len(mistakes) == 0 || !strings.HasPrefix(mistakes[0].String(), c.want)):
			t.Errorf("%s: %s:\ngot  %v\nwant %s", c.key, c.source, mistakes, c.want)
		}
	}
}

func TestInputs(t *testing.T) {
	e := newEnv(t)
	for source, want := range map[string]string{
		`tool == ""`: "[] false",
		`input.path != "" && input["a b"] == 1 && has(input.z.c) && input.path == ""`: "[a b path z] false",
		`input[tool] == 1`:                               "[] true",
		`input.exists(k, k == "") && input.a == 1`:       "[a] true",
		`size(input) > 0`:                                "[] true",
		`[tool].exists(input, input == "")`:              "[] false",
		`[tool].exists(input, .input.x == input)`:        "[x] false",
		`[{"y": 1}].exists(input, input.y == 1)`:         "[] false",
		`targets.exists(t, t.path == input.p)`:           "[p] false",
		`[input.a, {"k": input.b}.k, input.c][0] == 1`:   "[a b c] false",
		`input.list.filter(x, x == input.y).size() == 0`: "[list y] false",
	} {
		g, mistakes := e.Guard(source)
		if mistakes != nil {
			t.Errorf("%s: %v", source, mistakes)
			continue
		}
		fields, all := g.Inputs()
		if got := fmt.Sprint(fields, all); got != want {
			t.Errorf("%s: got %s, want %s", source, got, want)
		}
	}
}

// The fields that an expression names are all that it needs of the input.
func TestInputsSuffice(t *testing.T) {
	e := newEnv(t)
	doc := []byte(wholeInput)
	for _, c := range guards {
		g, _ := e.Guard(c.source)
		fields, all := g.Inputs()
		if all {
			t.Errorf("%s: all of the input", c.source)
		}
		whole, few := vars(t, e), vars(t, e)
		few.Input, _ = DecodeObject(doc, append([]string{}, fields...))
		a, errA := g.Holds(whole)
		b, errB := g.Holds(few)
		if a != b || fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Errorf("%s: %v %v with all fields, %v %v with %v", c.source, a, errA, b, errB, fields)
		}
	}
}
