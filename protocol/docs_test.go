package protocol_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

const guide = "../docs/protocol.md"

// fenced finds the JSON examples of the guide with the word before each: a
// comment such as <!-- check --> or <!-- check, refused: field: problem -->.
var fenced = regexp.MustCompile("(?ms)(?:^<!-- (.*?) -->\n)?^```json\n(.*?)^```")

// TestGuideExamples holds the JSON of the guide to the schemas and to Go.
func TestGuideExamples(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(string(text), "```json"), len(fenced.FindAll(text, -1)); got != want {
		t.Fatalf("%d blocks of JSON, %d found", got, want)
	}
	seen := map[string]int{}
	for i, m := range fenced.FindAllSubmatch(text, -1) {
		name, refused, isRefused := strings.Cut(string(m[1]), ", refused: ")
		doc := m[2]
		if name == "event" {
			opened, err := protocol.Open(protocol.ChannelCheck, structuredHeader, doc)
			if err != nil {
				t.Errorf("example %d: %v", i, err)
				continue
			}
			name, doc = "check", opened.Document
		}
		found := false
		for _, w := range wires() {
			if w.name != name {
				continue
			}
			found = true
			seen[name]++
			_, err := w.decode(doc)
			bySchema := verdict(compile(t, name), doc)
			if isRefused {
				if err == nil || err.Error() != refused {
					t.Errorf("example %d, %s: %v, the guide says %s", i, name, err, refused)
				}
				if bySchema == nil {
					t.Errorf("example %d, %s: the schema takes it", i, name)
				}
				continue
			}
			if err != nil || bySchema != nil {
				t.Errorf("example %d, %s: Go: %v, schema: %v\n%s", i, name, err, bySchema, doc)
			}
		}
		if !found {
			t.Errorf("example %d is of no document: %q", i, m[1])
		}
	}
	for _, name := range []string{"check", "decision", "approval", "result", "run", "operator-ask", "operator-approval", "operator-nets", "status-request"} {
		if seen[name] == 0 {
			t.Errorf("the guide has no example of %s", name)
		}
	}
}

// TestGuideSaysWhatTheCodeSays looks for figures, codes and subjects in the guide.
func TestGuideSaysWhatTheCodeSays(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	has := func(what string) {
		t.Helper()
		if !strings.Contains(string(text), what) {
			t.Errorf("the guide does not say %s", what)
		}
	}
	has(fmt.Sprintf("%d bytes", protocol.MaxDocument))
	has(fmt.Sprintf("%d characters", protocol.MaxName))
	has(fmt.Sprintf("%d printable ASCII characters", protocol.MaxRequestID))
	has(fmt.Sprintf("%d targets", protocol.MaxTargets))
	has(fmt.Sprintf("1 to %d", protocol.MaxTimeoutMs))
	has(fmt.Sprintf("`%s`", protocol.QueueGroup))
	var subjects protocol.Subjects
	for _, c := range channels(t) {
		has("`" + subjects.On(c, ""))
	}
	// The table has every error code on its side of the posture line.
	for _, c := range protocol.ErrorCodes() {
		row := fmt.Sprintf("| `%s` | refuse |", c)
		if c.NobodyJudged() {
			row = fmt.Sprintf("| `%s` | posture |", c)
		}
		has(row)
	}
	for _, w := range wires() {
		has("schemas/" + w.name + ".json")
	}
}
