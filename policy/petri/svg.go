package petri

import (
	"fmt"
	"html"
	"math"
	"strings"
	"unicode/utf8"
)

const (
	svgColumn = 170.0
	svgRow    = 110.0
	svgMargin = 70.0
	svgRadius = 24.0
	svgHigh   = 46.0 // of a transition's box
	svgWide   = 124.0
	svgChars  = 20 // of a label, before it is cut
)

// SVG draws the net as a picture that stands on its own, with the tokens of a
// marking. Whole names are in the titles that a pointer brings up.
func (n *Net) SVG(m Marking) string {
	edges := n.edges()
	l := n.layout(edges)
	rows := 1
	for _, nodes := range l.layers {
		rows = max(rows, len(nodes))
	}
	x := func(node int) float64 { return svgMargin + svgColumn*float64(l.layer[node]) }
	y := func(node int) float64 {
		// Short layers are centred.
		return svgMargin + 20 + svgRow*(float64(l.row[node])+float64(rows-len(l.layers[l.layer[node]]))/2)
	}
	wide := 2*svgMargin + svgColumn*float64(max(len(l.layers)-1, 0))
	high := 2*svgMargin + 20 + svgRow*float64(rows-1) + 30

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="sans-serif" font-size="12" text-anchor="middle">`+"\n", wide, high, wide, high)
	fmt.Fprintf(&b, "<title>%s</title>\n", svgText(n.name))
	b.WriteString(`<defs>
<marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L10 5L0 10z" fill="#445"/></marker>
<marker id="none" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" orient="auto"><circle cx="5" cy="5" r="4" fill="#fff" stroke="#a33"/></marker>
</defs>
<rect width="100%" height="100%" fill="#fff"/>
`)
	pairs := make(map[[2]int]int) // arcs between two nodes, so that they don't lie on each other
	for _, e := range edges {
		p, t := e.place, len(n.places)+e.transition
		k := pairs[[2]int{p, t}]
		pairs[[2]int{p, t}]++
		px, py, tx, ty := x(p), y(p), x(t), y(t)
		curve(&b, e, px, py, tx, ty, k)
	}
	for p, name := range n.places {
		n.svgPlace(&b, m, p, name, x(p), y(p))
	}
	for i := range n.transitions {
		node := len(n.places) + i
		n.transitions[i].svg(&b, x(node), y(node))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// curve draws the k-th arc between a place and a transition.
func curve(b *strings.Builder, e edge, px, py, tx, ty float64, k int) {
	dx, dy := tx-px, ty-py
	d := max(math.Hypot(dx, dy), 1)
	// Arcs bend to the side of their direction; those that lead back bend more.
	bend := 0.0
	if k > 0 || math.Abs(dx) > 1.5*svgColumn {
		bend = 26 + 14*float64(k)
		if math.Abs(dx) > 1.5*svgColumn {
			bend += math.Abs(dx) / 5
		}
	}
	mx, my := (px+tx)/2-dy/d*bend, (py+ty)/2+dx/d*bend
	// The ends lie where the line to the middle leaves the circle and the box.
	ax, ay := mx-px, my-py
	a := max(math.Hypot(ax, ay), 1)
	ax, ay = px+ax/a*(svgRadius+1), py+ay/a*(svgRadius+1)
	bx, by := mx-tx, my-ty
	scale := math.Inf(1)
	if bx != 0 {
		scale = svgWide / 2 / math.Abs(bx)
	}
	if by != 0 {
		scale = min(scale, svgHigh/2/math.Abs(by))
	}
	if !math.IsInf(scale, 1) {
		bx, by = bx*scale, by*scale
	}
	bx, by = tx+bx, ty+by
	if e.toPlace {
		ax, ay, bx, by = bx, by, ax, ay
	}
	style, label := `stroke="#445" marker-end="url(#arrow)"`, ""
	switch {
	case e.what == reading:
		style = `stroke="#447" stroke-dasharray="6 4" marker-end="url(#arrow)"`
	case e.what == inhibiting:
		style = `stroke="#a33" marker-end="url(#none)"`
	case e.what == resetting:
		style, label = `stroke="#a33" stroke-dasharray="2 3" marker-end="url(#arrow)"`, "empties"
	case e.weight > 1:
		label = itoa(e.weight)
	}
	fmt.Fprintf(b, `<path d="M%.1f %.1fQ%.1f %.1f %.1f %.1f" fill="none" %s/>`+"\n", ax, ay, mx, my, bx, by, style)
	if label != "" {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" fill="#445" stroke="#fff" stroke-width="3" paint-order="stroke">%s</text>`+"\n", (ax+2*mx+bx)/4, (ay+2*my+by)/4, label)
	}
}

func (n *Net) svgPlace(b *strings.Builder, m Marking, p int, name string, x, y float64) {
	fmt.Fprintf(b, `<g><title>%s</title><circle cx="%.1f" cy="%.1f" r="%.0f" fill="#fff" stroke="#223" stroke-width="1.5"/>`, svgText(name), x, y, svgRadius)
	for _, q := range n.terminal {
		if q == p {
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%.0f" fill="none" stroke="#223"/>`, x, y, svgRadius-4)
		}
	}
	switch k := n.tokens(m, p); {
	case k <= 0:
	case k == 1:
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="5" fill="#223"/>`, x, y)
	case k <= 5:
		for i := range k {
			angle := 2 * math.Pi * float64(i) / float64(k)
			fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="4" fill="#223"/>`, x+10*math.Sin(angle), y-10*math.Cos(angle))
		}
	default:
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-weight="bold">%d</text>`, x, y+4, k)
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f">%s</text></g>`+"\n", x, y+svgRadius+15, svgText(cut(name)))
}

func (t *transition) svg(b *strings.Builder, x, y float64) {
	fill := "#eef"
	if t.manual {
		fill = "#fed"
	}
	if t.structural() {
		fill = "#eee"
	}
	fmt.Fprintf(b, `<g><title>%s</title><rect x="%.1f" y="%.1f" width="%.0f" height="%.0f" rx="3" fill="%s" stroke="#447"/>`,
		svgText(strings.Join(append([]string{t.name}, t.tools...), " ")), x-svgWide/2, y-svgHigh/2, svgWide, svgHigh, fill)
	lines := append([]string{t.name}, t.marks()...)
	top := y + 4 - 7*float64(len(lines)-1)
	for i, line := range lines {
		style := ` font-size="10" fill="#445"`
		if i == 0 {
			style = ` font-weight="bold"`
		}
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f"%s>%s</text>`, x, top+14*float64(i), style, svgText(cut(line)))
	}
	b.WriteString("</g>\n")
}

func cut(s string) string {
	if utf8.RuneCountInString(s) <= svgChars {
		return s
	}
	return string([]rune(s)[:svgChars-1]) + "…"
}

func svgText(s string) string { return html.EscapeString(printable(s)) }
