package policy_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// fence is a block of YAML in a page; "refused" stands behind yaml where the
// text says that it does not load.
var fence = regexp.MustCompile("(?ms)^```yaml( refused)?\n(.*?)^```$")

// The policies in the pages load, or are refused where the page says so. A
// fragment stands without its version.
func TestPoliciesInDocs(t *testing.T) {
	for page, least := range map[string]int{"../docs/policy.md": 5, "../docs/zones.md": 3} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := fence.FindAllStringSubmatch(string(text), -1)
		if len(blocks) < least || len(blocks) != strings.Count(string(text), "```yaml") {
			t.Errorf("%s: %d blocks are read of %d", page, len(blocks), strings.Count(string(text), "```yaml"))
		}
		for _, b := range blocks {
			body := b[2]
			if !strings.Contains(body, "version:") {
				body = "version: 1\n" + body
			}
			_, err := policy.Parse(policy.File{Name: page, Text: []byte(body)})
			if refused := b[1] != ""; refused != (err != nil) {
				t.Errorf("refused: want %v, got %v:\n%s", refused, err, body)
			}
		}
	}
}

// quoted is what a cell of a table has in backquotes.
var quoted = regexp.MustCompile("`([^`]*)`")

// The tables of the page on zones say what its first policy decides.
func TestTablesInDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/zones.md")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(policy.File{Name: "zones.md", Text: []byte("version: 1\n" + fence.FindStringSubmatch(string(text))[2])})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(c shortCheck, zone, want string) {
		t.Helper()
		c.Interactive = true
		v := p.Decide(c.decode(t))
		got := string(v.Decision)
		if v.Code == protocol.CodeDefault {
			got = "default"
		}
		if got != want {
			t.Errorf("%+v: got %s, the page says %s\n%s", c, got, want, v.Reason)
		}
		for _, f := range v.Findings {
			if zone != "" && f.Rule != "" && f.Rule != zone {
				t.Errorf("%+v: zone %s spoke, the page says %s", c, f.Rule, zone)
			}
		}
	}
	paths, commands := 0, 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) == 4 && strings.HasPrefix(cells[0], "`"):
			target := []protocol.Target{{Path: quoted.FindStringSubmatch(cells[0])[1]}}
			expect(shortCheck{Operation: "read", Targets: target}, cells[1], cells[2])
			expect(shortCheck{Operation: "write", Targets: target}, cells[1], cells[3])
			paths++
		case len(cells) == 2 && strings.HasPrefix(cells[0], "`"):
			for _, m := range quoted.FindAllStringSubmatch(cells[0], -1) {
				expect(shortCheck{Kind: "process", Operation: "exec", Targets: []protocol.Target{{Command: m[1]}}}, "", cells[1])
				commands++
			}
		}
	}
	if paths < 6 || commands < 12 {
		t.Errorf("only %d paths and %d commands are read", paths, commands)
	}
}
