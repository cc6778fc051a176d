package petri

import (
	"slices"
	"strings"
)

// Net is a compiled net. It is immutable and safe for concurrent use. Places
// and transitions are known by their index in the Definition.
type Net struct {
	name        string
	places      []string
	placeIndex  map[string]int
	terminal    []int
	transitions []transition
	structural  []int
	tools       []string // in the order in which they are first named, free ones first
	uses        map[string]use
	given       Marking // as the definition has it
	initial     Marking // after structural advance
	restricts   bool
	covered     func() cover // computed when it is first asked for
}

// use is what a net says of one tool.
type use struct {
	free        bool
	transitions []int // those that name the tool, in file order
}

type arc struct{ place, weight int }

type transition struct {
	name                                string
	manual, operator, deferred, reserve bool
	inputs, outputs                     []arc // by place, each place once
	read, inhibit, reset                []int
	tools                               []string
	reason                              string
}

func (t *transition) structural() bool { return len(t.tools) == 0 }

// Name returns the net's name.
func (n *Net) Name() string { return n.name }

// Restricts reports whether the net only blocks and never grants.
func (n *Net) Restricts() bool { return n.restricts }

// Places returns the names of the places, by index.
func (n *Net) Places() []string { return slices.Clone(n.places) }

// Tools returns the names that the net speaks of: the free ones, then those of
// transitions, in file order.
func (n *Net) Tools() []string { return slices.Clone(n.tools) }

// Free reports whether a tool is always free in this net.
func (n *Net) Free(tool string) bool { return n.uses[tool].free }

// Transitions returns how many transitions the net has.
func (n *Net) Transitions() int { return len(n.transitions) }

// Transition returns the transition with an index, written as a definition has
// it: places in the order of the net, repeated by weight. The caller owns it.
func (n *Net) Transition(i int) Transition {
	t := &n.transitions[i]
	return Transition{
		Name: t.name, Manual: t.manual, Operator: t.operator, Deferred: t.deferred, Reserve: t.reserve,
		Inputs: n.repeat(t.inputs), Outputs: n.repeat(t.outputs),
		Read: n.named(t.read), Inhibit: n.named(t.inhibit), Reset: n.named(t.reset),
		Tools: slices.Clone(t.tools), Reason: t.reason,
	}
}

// TransitionIndex returns the index of a transition by name; false if there is none.
func (n *Net) TransitionIndex(name string) (int, bool) {
	i := slices.IndexFunc(n.transitions, func(t transition) bool { return t.name == name })
	return i, i >= 0
}

func (n *Net) repeat(arcs []arc) (names []string) {
	for _, a := range arcs {
		for range a.weight {
			names = append(names, n.places[a.place])
		}
	}
	return names
}

func (n *Net) named(places []int) (names []string) {
	for _, p := range places {
		names = append(names, n.places[p])
	}
	return names
}

// Initial returns the marking that a session begins with: the definition's,
// after the structural transitions have fired.
func (n *Net) Initial() Marking { return n.initial }

// Format returns a marking as text, every place in file order: "ready:1, working:0".
// For a marking of another net it returns "".
func (n *Net) Format(m Marking) string {
	if !n.Accepts(m) {
		return ""
	}
	var b strings.Builder
	for i, name := range n.places {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
		b.WriteByte(':')
		b.WriteString(itoa(m.at(i)))
	}
	return b.String()
}

// Status returns the line that a status shows: "deploys (active): ready:1".
func (n *Net) Status(m Marking, active bool) string {
	word := "inactive"
	if active {
		word = "active"
	}
	return n.name + " (" + word + "): " + n.Format(m)
}

// Enabled returns the indexes of the transitions that are enabled, in file
// order, structural ones among them; nil for a marking of another net.
func (n *Net) Enabled(m Marking) (enabled []int) {
	if !n.Accepts(m) {
		return nil
	}
	v := m.decode(nil)
	for i := range n.transitions {
		if n.transitions[i].enabled(v) {
			enabled = append(enabled, i)
		}
	}
	return enabled
}

// EnabledTools returns the names of the tools that an enabled transition covers
// and that are not free anyway, in the order of Tools.
func (n *Net) EnabledTools(m Marking) (tools []string) {
	if !n.Accepts(m) {
		return nil
	}
	v := m.decode(nil)
	for _, tool := range n.tools {
		if u := n.uses[tool]; !u.free && n.first(v, u) >= 0 {
			tools = append(tools, tool)
		}
	}
	return tools
}

// first returns the first enabled transition of a use, -1 if there is none.
func (n *Net) first(v []int, u use) int {
	for _, i := range u.transitions {
		if n.transitions[i].enabled(v) {
			return i
		}
	}
	return -1
}
