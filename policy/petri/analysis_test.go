package petri_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/policy/petri"
)

var update = flag.Bool("update", false, "write testdata anew")

// parseNet reads a net from a few words: "a*2 b | t1: a a > b ? r ! i 0 e [x y] deferred reserve; …",
// places with tokens before the bar, and after ">" outputs, "?" reads, "!"
// inhibitors, "0" resets.
func parseNet(t testing.TB, name, text string) petri.Definition {
	t.Helper()
	d := petri.Definition{Name: name, InitialMarking: map[string]int{}}
	head, body, _ := strings.Cut(text, "|")
	for _, w := range strings.Fields(head) {
		place, tokens, marked := strings.Cut(w, "*")
		terminal := strings.HasSuffix(place, ".")
		place = strings.TrimSuffix(place, ".")
		d.Places = append(d.Places, place)
		if terminal {
			d.TerminalPlaces = append(d.TerminalPlaces, place)
		}
		if marked {
			var k int
			if _, err := fmt.Sscan(tokens, &k); err != nil {
				t.Fatal(err)
			}
			d.InitialMarking[place] = k
		}
	}
	for _, part := range strings.Split(body, ";") {
		label, rest, ok := strings.Cut(part, ":")
		if !ok {
			continue
		}
		tr := petri.Transition{Name: strings.TrimSpace(label)}
		to := &tr.Inputs
		for _, w := range strings.Fields(strings.NewReplacer("[", " [ ", "]", " ] ").Replace(rest)) {
			switch w {
			case ">":
				to = &tr.Outputs
			case "?":
				to = &tr.Read
			case "!":
				to = &tr.Inhibit
			case "0":
				to = &tr.Reset
			case "[":
				to = &tr.Tools
			case "]":
				to = &tr.Inputs
			case "deferred":
				tr.Deferred = true
			case "reserve":
				tr.Reserve = true
			case "manual":
				tr.Manual = true
			case "operator":
				tr.Operator = true
			default:
				*to = append(*to, w)
			}
		}
		d.Transitions = append(d.Transitions, tr)
	}
	return d
}

// cases are nets, a line each, with assertions over each net after "assert".
var analysisCases = []struct{ name, net, asserts string }{
	{"unbounded by a call", "p | t: > p [t]", "at most 2 t per session"},
	{"unbounded by a deferred call", "p | t: > p [t] deferred", "possible t"},
	{"unbounded with a prefix", "a*1 b p | go: a > b [go]; t: b > b p [t]", "never t before go"},
	{"unbounded in two steps", "a*1 b p | out: a > b [out]; back: b > a p [back]", "never back before out"},
	{"unbounded structurally", "a p | t: > a [t]; s: a > p", ""},
	{"bounded by an inhibitor", "p | t: ! p > p [t]", "at most 1 t per session"},
	{"bounded by a reset", "p | t: 0 p > p p [t]", ""},
	{"bounded by structure", "a*2 b | t: a > b [t]; u: b > a [u]", "never u before t"},
	{"unbounded until another wins", "p q | first: p p p > q [t]; second: > p [t]", "possible t"},
	{"dead from the start", "a b | t: a > b [t]", "never t; possible t"},
	{"dead behind an earlier one", "a*1 | first: a > a [t]; second: a > a [t]", ""},
	{"dead behind an inhibitor", "a*1 b | t: a > a ! a [t]; u: > b [u]", "never t"},
	{"dead in an unbounded net", "p a | t: > p [t]; u: a > a [u]", "never u"},
	{"dead by conflict", "a*1 b c | s1: a > b; s2: a > c; t: b > b [t]; u: a > a [u]", "never t"},
	{"live", "a*1 b | t: a > b [t]; u: b > a [u]", "at most 1 t per u"},
	{"deadlock at the end", "a*2 | t: a > [t]", "at most 2 t per session; at most 1 t per session"},
	{"end in a terminal place", "a*1 done. | t: a > done [t]", ""},
	{"deadlock beside a terminal place", "a*1 b done. | t: a > done [t]; u: a > b [u]", ""},
	{"deadlock from the start", "a | t: a > a [t]", ""},
	{"deadlock of two locks", "x*1 y*1 ax by done. | a1: x > ax [a1]; b1: y > by [b1]; a2: ax y > x y done [a2]; b2: by x > x y done [b2]", "never a2 before b1"},
	{"no deadlock while a result is waited for", "a*1 | t: a > a [t] deferred reserve", ""},
	{"reserve that fails", "a*1 b | t: a > b [t] deferred reserve", "at most 1 t per session; never t after t succeeds"},
	{"backup before delete", "ready*1 backedUp | backup: ready > ready backedUp [backup] deferred reserve; delete: ready backedUp > ready [delete]", "never delete before backup; never delete before backup succeeds; at most 1 delete per backup; never delete without approval; possible delete"},
	{"approval", "a*1 b | ask: a > b manual [deploy]; op: b > a manual operator [drop]", "never deploy without approval; never drop without operator approval; never deploy without operator approval"},
	{"a late result", "a*1 p | hold: a > a p [x] deferred; lock: a > [lock]", "never x after lock; never lock before x succeeds"},
	{"a late result behind an earlier transition", "p q | shut: ? q [x]; open: > p [x] deferred; close: > q 0 q [close]", "never x after close"},
	{"budget refilled", "budget*1 | push: budget > [push]; test: > budget 0 budget [test] deferred", "at most 1 push per test; at most 1 push per session; never push before test"},
	{"read keeps the token", "a*1 b | t: ? a > b 0 b [t]", "possible t"},
	{"a structural cycle", "a*1 b n | s1: a > b; s2: b > a; t: > n 0 n [t]", "possible t"},
	{"wrong order", "a*1 b c | commit: a > b [commit]; review: b > c [review]; push: b > a [push]; push2: c > a [push]", "never push before review; never push before commit"},
	{"rounding keeps what may not be enabled", "p armed b | fill: > p [fill]; arm: p p p > armed [arm]; first: p > [t]; second: armed > b [t]; bad: b > [bad]", "never bad"},
	{"rounding and an inhibitor", "p q b | fill: > p [fill]; drain: p p p > q [drain]; t: q > b ! p [t]; bad: b > [bad]", "never bad"},
	{"rounding and a structural transition", "p armed b lost | fill: > p [fill]; take: p p p > armed [take]; s: p armed > lost; t: armed > b [t]; bad: b > [bad]", "never bad"},
	{"rounding and a success that lapses", "p armed lock b | fill: > p [fill]; arm: p p p > armed [arm]; t: p > b [t] deferred; lapse: b > [lapse]", "possible lapse"},
	{"fewest calls, not fewest events", "a*1 b c*1 c1 c2 ok | x: a > b [x] deferred reserve; z: b > ok [z] deferred reserve; m: c > c1 [m]; n: c1 > c2 [n]; o: c2 > ok [o]; bad: ok > [bad]", "never bad"},
	{"a reset does not grow", "p z n | t: 0 p > p p z [t]; dead: n > p [dead]", ""},
	{"a choice between few and very many", "p z | first: p p p p p p p p p p > p p p p p p p p p p p [t]; mid: p p p > p p p z [t]; second: > p [t]", ""},
	{"rounding and a watched success that lapses", "p b q | fill: > p [fill]; drain: p p p > q [drain]; t: p > b ! b [t] deferred; z: q > ! b [z]", "never z after t succeeds"},
	{"at most nothing", "a*1 | t: a > a [t]", "at most 0 t per session; at most 0 nothing per session; never nothing"},
}

func TestAnalysisGolden(t *testing.T) {
	var b strings.Builder
	for _, c := range analysisCases {
		n := compile(t, parseNet(t, c.name, c.net))
		fmt.Fprintf(&b, "# %s\n%s", c.net, n.Analyze(5000))
		set, err := petri.NewSet(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.Split(c.asserts, ";") {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			a, err := petri.ParseAssertion(text)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "  %s\n", set.Prove(a, 5000))
		}
		b.WriteByte('\n')
	}
	const file = "testdata/analysis.golden"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("differs from %s; got\n%s", file, b.String())
	}
}

// Seven counters that run to seven: 8^7 = 2,097,152 reachable states.
func twoMillion() petri.Definition {
	d := petri.Definition{Name: "two-million", InitialMarking: map[string]int{}}
	for i := range 7 {
		p := fmt.Sprintf("p%d", i)
		d.Places = append(d.Places, p)
		d.InitialMarking[p] = 7
		d.Transitions = append(d.Transitions, petri.Transition{Name: "t" + p, Inputs: []string{p}, Tools: []string{"x" + p}})
	}
	d.Places = append(d.Places, "sum")
	for i := range d.Transitions {
		d.Transitions[i].Outputs = []string{"sum"}
	}
	in := make([]string, 49)
	for i := range in {
		in[i] = "sum"
	}
	d.Transitions = append(d.Transitions, petri.Transition{Name: "end", Inputs: in, Tools: []string{"end"}})
	return d
}

func TestTwoMillionStatesEndInsideTheLimit(t *testing.T) {
	d := twoMillion()
	n := compile(t, d)
	set, err := petri.NewSet(n)
	if err != nil {
		t.Fatal(err)
	}
	limit := petri.LoadStates
	if os.Getenv("GUARDRAILS_PETRI_HISTORIES") != "" {
		limit = petri.ValidateStates
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p := set.Prove(petri.Assertion{Tool: "end"}, limit)
	runtime.ReadMemStats(&after)
	if p.Status != petri.NotProved || p.States > limit {
		t.Error(p)
	}
	t.Logf("%v; %d MiB allocated in all", p, (after.TotalAlloc-before.TotalAlloc)>>20)
	if r := n.Analyze(limit); r.Complete || r.States > limit {
		t.Error(r)
	}
}

func TestParseAssertion(t *testing.T) {
	for _, text := range []string{
		"never x", "never x before y", "never x before y succeeds", "never x after y", "never x after y succeeds",
		"never x without approval", "never x without operator approval", "at most 3 push per session",
		"at most 0 push per test", "at most 1 push per successful test", "possible deploy",
		`never "with space" before "\"quoted\""`, "never before before after", `at most 1 x per "session"`, `at most 1 x per "successful"`,
		"never file.write", "never 削除",
	} {
		a, err := petri.ParseAssertion(text)
		if err != nil || a.String() != text {
			t.Errorf("%s: %s, %v", text, a, err)
		}
	}
	for text, want := range map[string]string{
		"":                            `column 1: expected "never", "at most" or "possible", found the end`,
		"never":                       "column 6: expected the name of a tool, found the end",
		"  always x":                  `column 3: expected "never", "at most" or "possible", found "always"`,
		"never x befor y":             `column 9: expected the end, "before", "after" or "without", found "befor"`,
		"never x before":              "column 15: expected the name of a tool, found the end",
		"never x before y z":          `column 18: the assertion should end here, not go on with "z"`,
		"never x without permission":  `column 17: expected "approval", found "permission"`,
		"at least 3 x per session":    `column 4: expected "most", found "least"`,
		"at most many x per session":  `column 9: expected a number up to 1000000000, found "many"`,
		"at most -1 x per session":    `column 9: expected a number up to 1000000000, found "-1"`,
		"at most 3 x each session":    `column 13: expected "per", found "each"`,
		"at most 3 x per x":           `column 17: "x" can't be counted per itself`,
		`never "x`:                    `column 7: "x is not a tool name in double quotes`,
		"at most 99999999999 x per y": `column 9: expected a number up to 1000000000, found "99999999999"`,
	} {
		_, err := petri.ParseAssertion(text)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParseAssertion(f *testing.F) {
	for _, s := range []string{"never x before y succeeds", `at most 3 "a b" per session`, "possible x", `never "`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := petri.ParseAssertion(text)
		if err != nil {
			return
		}
		if again, err := petri.ParseAssertion(a.String()); err != nil || again != a {
			t.Errorf("%q reads as %s, which reads as %+v, %v", text, a, again, err)
		}
	})
}

// Assertions look only at the nets that matter to them.
func TestProofOverManyNets(t *testing.T) {
	var defs []petri.Definition
	for i := range 60 {
		// Alone each has four states; the product would have 4^60.
		defs = append(defs, parseNet(t, fmt.Sprintf("n%d", i), fmt.Sprintf("budget*3 | use: budget > [x%d bash]", i)))
	}
	defs = append(defs, parseNet(t, "require", "done | test: 0 done > done [test] deferred; deploy: done > [deploy]"))
	defs = append(defs, parseNet(t, "sometimes", "p*1 | bash: p > [bash]; test: p > p [test]"))
	set := newSet(t, defs...)
	for text, want := range map[string]string{
		"never deploy before test succeeds": "never deploy before test succeeds: proved (4 states)",
		"at most 3 bash per session":        "at most 3 bash per session: proved (6 states)",
		"at most 0 bash per session":        "at most 0 bash per session: refuted by bash",
		"never test after bash":             "never test after bash: proved (4 states)",
	} {
		a, err := petri.ParseAssertion(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Prove(a, petri.LoadStates); got.String() != want {
			t.Errorf("%s, over %v", got, got.Nets)
		}
	}
}

// Two structural transitions may each read what the other takes in the same
// round; coverability must not order them.
func TestCoverabilityFollowsRounds(t *testing.T) {
	n := compile(t, parseNet(t, "n", "p*1 q*1 r s | s1: p > r ? q; s2: q > s ? p; t: r s > r s [t]"))
	_, possible, complete := petri.Covered(n)
	i, _ := n.TransitionIndex("t")
	if got := n.EnabledTools(n.Initial()); len(got) != 1 || !complete || !possible[i] {
		t.Error(got, complete, possible)
	}
}

// That a rule blocks for good is what it was written for.
func TestRulesHaveNoDeadlocks(t *testing.T) {
	d := parseNet(t, "limit", "budget*1 | push: budget > [push]")
	if r := compile(t, d).Analyze(100); r.DeadlockCount != 1 {
		t.Error(r)
	}
	d.Restricts = true
	if r := compile(t, d).Analyze(100); r.DeadlockCount != 0 {
		t.Error(r)
	}
}

// A call with several names must not disturb the index.
func TestIndexStaysAsItIs(t *testing.T) {
	set := newSet(t, parseNet(t, "y", "p*1 | t: p > p [y]"), parseNet(t, "x1", "p*1 | t: p > p [x]"),
		parseNet(t, "x2", "p*1 | t: p > p [x]"), parseNet(t, "x3", "p*1 | t: p > p [x]"))
	for _, names := range [][]string{{"x", "y"}, {"x"}} {
		p, err := set.Plan(petri.Call{Names: names}, set.Initial)
		if err != nil {
			t.Fatal(err)
		}
		if len(names) == 1 && (len(p.Opinions) != 3 || p.Opinions[0].Net != 1) {
			t.Error(p.Opinions)
		}
	}
}
