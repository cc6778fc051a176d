package petri

import (
	"fmt"
	"strings"
	"unicode"
)

// A drawing shows places as circles with their tokens, transitions as boxes with
// their tools. Read arcs are dashed, inhibitor arcs end in a circle, reset arcs
// are dotted. Names are escaped for the format: a net can't smuggle markup into
// a page. The marking may be one of another net: then no tokens are shown.

// edge is an arc as it is drawn.
type edge struct {
	place, transition int
	toPlace           bool
	weight            int
	what              edgeKind
}

type edgeKind uint8

const (
	flow edgeKind = iota
	reading
	inhibiting
	resetting
)

func (n *Net) edges() (edges []edge) {
	for i := range n.transitions {
		t := &n.transitions[i]
		for _, a := range t.inputs {
			edges = append(edges, edge{a.place, i, false, a.weight, flow})
		}
		for _, p := range t.read {
			edges = append(edges, edge{p, i, false, 1, reading})
		}
		for _, p := range t.inhibit {
			edges = append(edges, edge{p, i, false, 1, inhibiting})
		}
		for _, a := range t.outputs {
			edges = append(edges, edge{a.place, i, true, a.weight, flow})
		}
		for _, p := range t.reset {
			edges = append(edges, edge{p, i, true, 1, resetting})
		}
	}
	return edges
}

// tokens returns the tokens of a place for a drawing, -1 where none are to be shown.
func (n *Net) tokens(m Marking, place int) int {
	if !n.Accepts(m) {
		return -1
	}
	return m.at(place)
}

// dots shows tokens as dots, many of them as a number.
func dots(tokens int) string {
	switch {
	case tokens < 0:
		return ""
	case tokens == 0:
		return "0"
	case tokens <= 5:
		return strings.Repeat("●", tokens)
	}
	return "●×" + itoa(tokens)
}

// marks are the words below a transition's name: its tools and what is special.
func (t *transition) marks() (lines []string) {
	if len(t.tools) > 0 {
		tools := t.tools
		const most = 4
		more := ""
		if len(tools) > most {
			tools, more = tools[:most], ", …"
		}
		lines = append(lines, strings.Join(tools, ", ")+more)
	}
	var words []string
	for _, w := range []struct {
		is   bool
		word string
	}{
		{t.structural(), "by itself"}, {t.manual && !t.operator, "approval"}, {t.operator, "operator approval"},
		{t.deferred, "on success"}, {t.reserve, "reserves"},
	} {
		if w.is {
			words = append(words, w.word)
		}
	}
	if len(words) > 0 {
		lines = append(lines, strings.Join(words, ", "))
	}
	return lines
}

// printable replaces what no drawing can show.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '�'
	}, strings.ToValidUTF8(s, "�"))
}

// Mermaid draws the net as a Mermaid flowchart, with the tokens of a marking.
func (n *Net) Mermaid(m Marking) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for p, name := range n.places {
		label := mermaidText(name)
		if d := dots(n.tokens(m, p)); d != "" {
			label += "<br/>" + d
		}
		fmt.Fprintf(&b, "  p%d((\"%s\"))\n", p, label)
	}
	for i := range n.transitions {
		t := &n.transitions[i]
		label := mermaidText(t.name)
		for _, line := range t.marks() {
			label += "<br/>" + mermaidText(line)
		}
		fmt.Fprintf(&b, "  t%d[\"%s\"]\n", i, label)
	}
	for _, e := range n.edges() {
		from, to := fmt.Sprintf("p%d", e.place), fmt.Sprintf("t%d", e.transition)
		if e.toPlace {
			from, to = to, from
		}
		arrow := "-->"
		switch {
		case e.what == reading:
			arrow = "-. reads .->"
		case e.what == inhibiting:
			arrow = "--o"
		case e.what == resetting:
			arrow = "-. empties .->"
		case e.weight > 1:
			arrow = fmt.Sprintf("-->|%d|", e.weight)
		}
		fmt.Fprintf(&b, "  %s %s %s\n", from, arrow, to)
	}
	b.WriteString("  classDef transition fill:#eef,stroke:#447;\n")
	for i := range n.transitions {
		fmt.Fprintf(&b, "  class t%d transition;\n", i)
	}
	return b.String()
}

// mermaidText escapes everything but letters, digits and harmless signs as an
// entity code, so that no label ends early or becomes markup.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range printable(s) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune(" .,:-_/+*=…", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}

// Dot draws the net in the language of Graphviz, with the tokens of a marking.
func (n *Net) Dot(m Marking) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph \"%s\" {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n", dotText(n.name))
	for p, name := range n.places {
		label := dotText(name)
		if d := dots(n.tokens(m, p)); d != "" {
			label += `\n` + d
		}
		shape := "circle"
		for _, q := range n.terminal {
			if q == p {
				shape = "doublecircle"
			}
		}
		fmt.Fprintf(&b, "  p%d [shape=%s, label=\"%s\"];\n", p, shape, label)
	}
	for i := range n.transitions {
		t := &n.transitions[i]
		label := dotText(t.name)
		for _, line := range t.marks() {
			label += `\n` + dotText(line)
		}
		fmt.Fprintf(&b, "  t%d [shape=box, style=filled, fillcolor=\"#eeeeff\", label=\"%s\"];\n", i, label)
	}
	for _, e := range n.edges() {
		from, to := fmt.Sprintf("p%d", e.place), fmt.Sprintf("t%d", e.transition)
		if e.toPlace {
			from, to = to, from
		}
		style := ""
		switch {
		case e.what == reading:
			style = " [style=dashed]"
		case e.what == inhibiting:
			style = " [arrowhead=odot]"
		case e.what == resetting:
			style = ` [style=dotted, label="empties"]`
		case e.weight > 1:
			style = fmt.Sprintf(" [label=%d]", e.weight)
		}
		fmt.Fprintf(&b, "  %s -> %s%s;\n", from, to, style)
	}
	b.WriteString("}\n")
	return b.String()
}

func dotText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable(s))
}
