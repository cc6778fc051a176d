package rules

import (
	"slices"
	"strings"
)

// Namer gives calls the names that rules and nets speak of. It is immutable and
// safe for concurrent use. What a call costs depends on the map lines of its own
// tool, and on no other.
type Namer struct {
	tools map[string]*tool
}

// tool is what is known of the calls with one own name.
type tool struct {
	fields  []string          // of the input that any of its lines looks at
	lines   *lines            // for every call
	actions map[string]action // for calls with such an action: their lines instead
}

// action is what is known of the calls of a tool with one action.
type action struct {
	name  string // TOOL.ACTION
	lines *lines
}

// lines are map lines that look at the same calls.
type lines struct {
	whole  []line   // regexes and words, in their order
	quoted [][]line // quoted commands in their order, for each field of the tool
}

// line is a map line.
type line struct {
	field   int // index in the tool's fields
	pattern *Pattern
	shape   shape // of a quoted command
	name    string
}

// The fields of an input that have a meaning here.
const (
	fieldCommand = "command"
	fieldAction  = "action"
)

// NewNamer compiles the map lines of all texts, in their order. A name of the
// form TOOL.ACTION counts where the texts speak of it, or spoken has it: give it
// every tool's name that a net has.
func NewNamer(spoken []string, texts ...*Text) *Namer {
	b := builder{maps: make(map[string][]ordered), namer: &Namer{tools: make(map[string]*tool)}}
	for _, t := range texts {
		for i := range t.Maps {
			m := &t.Maps[i]
			b.maps[m.Tool] = append(b.maps[m.Tool], ordered{b.count, m})
			b.count++
		}
	}
	for name := range b.maps {
		b.tool(name)
	}
	for _, name := range spoken {
		b.actions(name)
	}
	for _, t := range texts {
		for _, name := range t.Tools() {
			b.actions(name)
		}
	}
	return b.namer
}

// ordered is a map line with its place among all of them.
type ordered struct {
	order int
	*Map
}

type builder struct {
	maps  map[string][]ordered // by tool
	count int
	namer *Namer
}

// tool returns the entry of an own name, made with its own lines.
func (b *builder) tool(name string) *tool {
	t := b.namer.tools[name]
	if t == nil {
		t = new(tool)
		b.namer.tools[name] = t
		t.lines = t.compile(b.maps[name])
	}
	return t
}

// actions enters a name as TOOL.ACTION, at every dot that may be the one. Lines
// that look at TOOL.ACTION stand among those of TOOL, in the order of all.
func (b *builder) actions(name string) {
	for dot := range len(name) {
		if name[dot] != '.' || dot == 0 || dot == len(name)-1 {
			continue
		}
		t, verb := b.tool(name[:dot]), name[dot+1:]
		if _, ok := t.actions[verb]; ok {
			continue
		}
		if t.actions == nil {
			t.actions = make(map[string]action)
			t.field(fieldAction)
		}
		a := action{name: name, lines: t.lines}
		if own := b.maps[name]; len(own) > 0 {
			all := slices.Concat(b.maps[name[:dot]], own)
			slices.SortFunc(all, func(x, y ordered) int { return x.order - y.order })
			a.lines = t.compile(all)
		}
		t.actions[verb] = a
	}
}

// field returns the index of a field, entering it where it is new.
func (t *tool) field(name string) int {
	if i := slices.Index(t.fields, name); i >= 0 {
		return i
	}
	t.fields = append(t.fields, name)
	return len(t.fields) - 1
}

func (t *tool) compile(maps []ordered) *lines {
	ls := new(lines)
	for _, m := range maps {
		l := line{field: t.field(m.Field), pattern: &m.Pattern, name: m.Name}
		if !m.Pattern.quoted {
			ls.whole = append(ls.whole, l)
			continue
		}
		l.shape = shapeOf(m.Pattern.command)
		for len(ls.quoted) <= l.field {
			ls.quoted = append(ls.quoted, nil)
		}
		ls.quoted[l.field] = append(ls.quoted[l.field], l)
	}
	return ls
}

// Names is what a Namer finds. The zero value is ready to use, and to be used
// again.
type Names struct {
	// List has every name that is certain, in the order in which they are
	// judged, and is never empty. A name stands as often as commands have it.
	List []string
	// Doubts says what else the call may be. With any, List is not all there is
	// to judge: the call deserves at least an ask.
	Doubts []Doubt
}

// MaxDoubts is how many doubts are listed of one call: one is enough to ask.
const MaxDoubts = 20

// Doubt is a part of a call whose name can't be known.
type Doubt struct {
	Excerpt string // what it is about, in the caller's words; may be empty
	Name    string // the name that it may have; empty: it may be anything
	Reason  string // one clause of plain English
}

// String says it in words.
func (d Doubt) String() string {
	var b strings.Builder
	if d.Excerpt != "" {
		b.WriteString("`" + d.Excerpt + "` ")
	} else {
		b.WriteString("the call ")
	}
	if d.Name != "" {
		b.WriteString("may be " + d.Name)
	} else {
		b.WriteString("can't be named")
	}
	b.WriteString(": " + d.Reason)
	return b.String()
}

func (n *Names) doubt(excerpt, name, reason string) {
	if len(n.Doubts) < MaxDoubts {
		n.Doubts = append(n.Doubts, Doubt{show(excerpt), name, reason})
	}
}

// maxExcerpt is how many bytes of a command a doubt shows.
const maxExcerpt = 120

func show(text string) string {
	if len(text) > maxExcerpt {
		text = strings.ToValidUTF8(text[:maxExcerpt], "") + "…"
	}
	return text
}
