package petri

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Compile makes a net from a definition. The error is a [Mistakes] with every
// mistake found. The definition is not kept: changing it later changes nothing.
func Compile(d Definition) (*Net, error) {
	c := compiler{def: &d, net: &Net{
		name: d.Name, restricts: d.Restricts,
		placeIndex: make(map[string]int, len(d.Places)),
		uses:       make(map[string]use),
	}}
	c.places()
	c.free()
	c.tokens()
	c.transitions()
	if len(c.mistakes) > 0 {
		return nil, c.mistakes
	}
	n := c.net
	v := n.given.decode(nil)
	if err := n.advance(v, nil); err != nil {
		return nil, Mistakes{{"initialMarking", fmt.Sprintf("the structural transitions never come to rest: %v", err)}}
	}
	n.initial = encode(v)
	n.covered = sync.OnceValue(n.coverability)
	return n, nil
}

type compiler struct {
	def      *Definition
	net      *Net
	mistakes Mistakes
}

func (c *compiler) places() {
	if len(c.def.Places) > MaxPlaces {
		c.mistakes.add("places", "%d places; a net may have %d", len(c.def.Places), MaxPlaces)
		c.def.Places = c.def.Places[:MaxPlaces]
	}
	n := c.net
	for i, name := range c.def.Places {
		path := fmt.Sprintf("places[%d]", i)
		if name == "" {
			c.mistakes.add(path, "a place needs a name")
		} else if first, twice := n.placeIndex[name]; twice {
			c.mistakes.add(path, "%q is already places[%d]", name, first)
			continue
		}
		n.placeIndex[name] = i
	}
	n.places = slices.Clone(c.def.Places)
	n.terminal = c.set("terminalPlaces", c.def.TerminalPlaces)
}

// place returns a place's index; -1, with a mistake, where there is none.
func (c *compiler) place(path, name string) int {
	if p, ok := c.net.placeIndex[name]; ok {
		return p
	}
	c.mistakes.add(path, "there is no place %q: add it to places, or correct the name", name)
	return -1
}

// set reads a list of places of which each counts once.
func (c *compiler) set(path string, names []string) (places []int) {
	for i, name := range names {
		at := fmt.Sprintf("%s[%d]", path, i)
		if i >= MaxPlaces {
			c.mistakes.add(at, "more than %d places", MaxPlaces)
			break
		}
		if p := c.place(at, name); p < 0 {
			continue
		} else if slices.Contains(places, p) {
			c.mistakes.add(at, "%q is named twice; once is enough", name)
		} else {
			places = append(places, p)
		}
	}
	slices.Sort(places)
	return places
}

// bag reads a list of places in which repetitions count.
func (c *compiler) bag(path string, names []string) (arcs []arc) {
	if len(names) > MaxArcs {
		c.mistakes.add(path, "%d tokens; one transition may move %d", len(names), MaxArcs)
		return nil
	}
	weights := make(map[int]int)
	for i, name := range names {
		if p, ok := c.net.placeIndex[name]; ok {
			weights[p]++
		} else {
			c.place(fmt.Sprintf("%s[%d]", path, i), name)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(weights)) {
		arcs = append(arcs, arc{p, weights[p]})
	}
	return arcs
}

func (c *compiler) free() {
	for i, tool := range c.def.FreeTools {
		path := fmt.Sprintf("freeTools[%d]", i)
		if tool == "" {
			c.mistakes.add(path, "a tool needs a name")
		} else if c.net.uses[tool].free {
			c.mistakes.add(path, "%q is named twice; once is enough", tool)
		} else {
			c.net.uses[tool] = use{free: true}
			c.net.tools = append(c.net.tools, tool)
		}
	}
}

func (c *compiler) tokens() {
	v := make([]int, len(c.net.places))
	for _, name := range slices.Sorted(maps.Keys(c.def.InitialMarking)) {
		path := "initialMarking." + name
		p, tokens := c.place(path, name), c.def.InitialMarking[name]
		if tokens < 0 || tokens > MaxTokens {
			c.mistakes.add(path, "%d tokens; a place holds 0 to %d", tokens, MaxTokens)
		} else if p >= 0 {
			v[p] = tokens
		}
	}
	c.net.given = encode(v)
}

func (c *compiler) transitions() {
	if len(c.def.Transitions) > MaxTransitions {
		c.mistakes.add("transitions", "%d transitions; a net may have %d", len(c.def.Transitions), MaxTransitions)
		return
	}
	names := make(map[string]int)
	for i := range c.def.Transitions {
		d := &c.def.Transitions[i]
		path := fmt.Sprintf("transitions[%d]", i)
		if d.Name == "" {
			c.mistakes.add(path+".name", "a transition needs a name")
		} else if first, twice := names[d.Name]; twice {
			c.mistakes.add(path+".name", "%q is already transitions[%d]", d.Name, first)
		} else {
			names[d.Name] = i
		}
		c.flags(path, d)
		t := transition{
			name: d.Name, manual: d.Manual, operator: d.Operator, deferred: d.Deferred, reserve: d.Reserve,
			reason: d.Reason, tools: slices.Clone(d.Tools),
			inputs: c.bag(path+".inputs", d.Inputs), outputs: c.bag(path+".outputs", d.Outputs),
			read: c.set(path+".read", d.Read), inhibit: c.set(path+".inhibit", d.Inhibit), reset: c.set(path+".reset", d.Reset),
		}
		c.tools(path, i, d.Tools)
		if t.structural() {
			c.net.structural = append(c.net.structural, i)
		}
		c.net.transitions = append(c.net.transitions, t)
	}
}

// flags finds the marks that make no sense together: written down, they would
// promise something that can't happen.
func (c *compiler) flags(path string, d *Transition) {
	if d.Operator && !d.Manual {
		c.mistakes.add(path, "the approval of an operator needs a manual transition")
	}
	if d.Reserve && !d.Deferred {
		c.mistakes.add(path, "reserve needs deferred: only a result gives the tokens back or spends them")
	}
	if len(d.Tools) > 0 {
		return
	}
	if d.Manual {
		c.mistakes.add(path+".tools", "a manual transition needs tools: nothing else would ask for it")
	}
	if d.Deferred {
		c.mistakes.add(path+".tools", "a deferred transition needs tools: nothing else has a result")
	}
}

func (c *compiler) tools(path string, index int, tools []string) {
	for i, tool := range tools {
		at := fmt.Sprintf("%s.tools[%d]", path, i)
		if tool == "" {
			c.mistakes.add(at, "a tool needs a name")
			continue
		}
		u, known := c.net.uses[tool]
		if !known {
			c.net.tools = append(c.net.tools, tool)
		}
		if k := len(u.transitions); k > 0 && u.transitions[k-1] == index {
			c.mistakes.add(at, "%q is named twice; once is enough", tool)
			continue
		}
		u.transitions = append(u.transitions, index)
		c.net.uses[tool] = u
	}
}
