package petri_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/policy/petri"
)

func drawn(t *testing.T) *petri.Net {
	return compile(t, parseNet(t, "a <net> & \"more\"", `ready*1 backedUp*7 frozen log done. | start: ready > ready; backup: ready > ready backedUp [backup] deferred reserve;
		delete: ready backedUp backedUp > done ! frozen ? log [delete remove] manual; drop: done > ready 0 backedUp [drop] manual operator`))
}

func TestDrawGolden(t *testing.T) {
	n := drawn(t)
	for file, got := range map[string]string{
		"testdata/net.mermaid": n.Mermaid(n.Initial()), "testdata/net.dot": n.Dot(n.Initial()), "testdata/net.svg": n.SVG(n.Initial()),
	} {
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("differs from %s:\n%s", file, got)
		}
	}
}

// Names are data: none of them may become markup.
func TestDrawEscapes(t *testing.T) {
	evil := "]\"; <script>alert(1)</script> \\\" %% --> x\n\x00\xff#quot;"
	n := compile(t, petri.Definition{Name: evil, Places: []string{evil}, InitialMarking: map[string]int{evil: 3},
		Transitions: []petri.Transition{{Name: evil, Inputs: []string{evil}, Tools: []string{evil}}}})
	m := n.Initial()
	svg := n.SVG(m)
	dec := xml.NewDecoder(strings.NewReader(svg))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
		if el, ok := tok.(xml.StartElement); ok && el.Name.Local == "script" {
			t.Error("a script got through")
		}
	}
	for _, line := range strings.Split(n.Mermaid(m), "\n") {
		if k := strings.Count(line, `"`); k != 0 && k != 2 || strings.Contains(strings.ReplaceAll(line, "<br/>", ""), "<") {
			t.Errorf("mermaid: %s", line)
		}
	}
	for _, line := range strings.Split(n.Dot(m), "\n") {
		plain := strings.ReplaceAll(strings.ReplaceAll(line, `\\`, ""), `\"`, "")
		if strings.Count(plain, `"`)%2 != 0 {
			t.Errorf("dot: %s", line)
		}
	}
}

func TestDrawWithoutTokens(t *testing.T) {
	n := drawn(t)
	for _, text := range []string{n.Mermaid(petri.Marking{}), n.Dot(petri.Marking{}), n.SVG(petri.Marking{})} {
		if strings.Contains(text, "●") || strings.Contains(text, `r="5"`) {
			t.Error("tokens of no marking are shown")
		}
	}
	empty := compile(t, petri.Definition{})
	_ = empty.SVG(empty.Initial()) + empty.Dot(empty.Initial()) + empty.Mermaid(empty.Initial())
}
