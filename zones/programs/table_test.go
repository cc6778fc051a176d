package programs

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestTableIsValid(t *testing.T) {
	table, err := load(tables)
	if err != nil {
		t.Fatal(err)
	}
	entries, safe, launching := 0, 0, 0
	var count func(map[string]*node)
	count = func(nodes map[string]*node) {
		for name, n := range nodes {
			entries++
			if n.safe {
				safe++
			}
			if n.launches != "" {
				launching++
				if n.safe && len(n.unless) == 0 {
					t.Errorf("%s launches and is safe", name)
				}
			}
			count(n.subs)
		}
	}
	count(table)
	t.Logf("%d programs, %d with subcommands, %d safe, %d launching", len(table), entries, safe, launching)
	if len(table) < 100 {
		t.Errorf("only %d programs", len(table))
	}
}

func TestTableMistakes(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"unknown key", "programs: [{names: [a], sfae: true}]", "sfae"},
		{"unknown style", "programs: [{names: [a], style: x}]", "style"},
		{"unknown role", "programs: [{names: [a], operands: raed...}]", "raed"},
		{"two repeated roles", "programs: [{names: [a], operands: read... write...}]", "two repeated"},
		{"unknown word in an option", "programs: [{names: [a], options: [-x unsaef]}]", "unsaef"},
		{"option without a spelling", "programs: [{names: [a], options: [unsafe]}]", "no spelling"},
		{"option twice", "programs: [{names: [a], options: [-x, -y -x]}]", "twice"},
		{"program twice", "programs: [{names: [a]}, {names: [a]}]", "twice"},
		{"no name", "programs: [{safe: true}]", "name"},
		{"unknown set", "programs: [{names: [a], sets: [x]}]", "set of options"},
		{"other", "programs: [{names: [a], other: fine}]", "harmless"},
		{"safe launcher", "programs: [{names: [a], safe: true, launches: runs}]", "safe"},
		{"unless names no option", "programs: [{names: [a], launches: runs, unless: [-v]}]", "-v"},
		{"implied", "programs: [{names: [a], implied: text}]", "implied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := load(fstest.MapFS{"table/x.yaml": {Data: []byte(c.yaml)}})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error about %q", err, c.want)
			}
		})
	}
}

// Some of what the engine can say no entry needs yet.
func TestEntriesOfOthers(t *testing.T) {
	table, err := load(fstest.MapFS{"table/x.yaml": {Data: []byte(`
programs:
  - names: [two]
    other: harmless
    maxOperands: 2
    safe: true
  - names: [runs]
    options: [--version, --versus]
    launches: runs another command
    unless: [--version]
`)}})
	if err != nil {
		t.Fatal(err)
	}
	describe := func(source string) (bool, bool) {
		words := command(t, source)
		u := usage{node: table[words[0].Text], names: words[:1]}
		u.options(words)
		return u.safe(nil), u.opaque(words, &Description{Name: "x"}) != ""
	}
	for source, want := range map[string]bool{"two a b": true, "two a b c": false, "two a*": false, "two a/$b": false, `two "a$b"`: true} {
		if safe, _ := describe(source); safe != want {
			t.Errorf("%s: safe %v, want %v", source, safe, want)
		}
	}
	for source, want := range map[string]bool{"runs": true, "runs --version": false, "runs --ver": true, "runs --versus": true} {
		if _, opaque := describe(source); opaque != want {
			t.Errorf("%s: opaque %v, want %v", source, opaque, want)
		}
	}
}
