package petri

import (
	"fmt"
	"slices"
	"strings"
)

// blockReason says in words why a tool has to wait: what is asked for by the
// transitions that could cover it. v is the marking that blocks.
func (n *Net) blockReason(tool string, v []int) string {
	var parts []string
	for _, i := range n.uses[tool].transitions {
		text := n.transitions[i].reason
		if text == "" {
			text = n.constraint(tool, i, v)
		}
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	const most = 3 // more alternatives than that explain nothing
	if len(parts) > most {
		parts = parts[:most]
	}
	return strings.Join(parts, " Or: ")
}

// constraint puts what a transition lacks in words.
func (n *Net) constraint(tool string, i int, v []int) string {
	t := &n.transitions[i]
	var wants, sentences []string
	need := func(place, tokens int) {
		short := tokens - v[place]
		if short <= 0 {
			return
		}
		s := n.sources(place, tool, v)
		if text := s.String(short); text != "" {
			if !slices.Contains(wants, text) {
				wants = append(wants, text)
			}
			return
		}
		sentences = append(sentences, n.hopeless(tool, place))
	}
	for _, a := range t.inputs {
		need(a.place, a.weight)
	}
	for _, p := range t.read {
		need(p, 1)
	}
	for _, p := range t.inhibit {
		if v[p] == 0 {
			continue
		}
		if drains := n.drains(p, tool); len(drains) > 0 {
			sentences = append(sentences, fmt.Sprintf("%s has to wait until %s is empty: a call to %s takes from it.", tool, n.places[p], either(drains)))
		} else {
			sentences = append(sentences, fmt.Sprintf("%s is over: %s holds a token, and nothing takes it away.", tool, n.places[p]))
		}
	}
	if len(wants) > 0 {
		sentences = slices.Insert(sentences, 0, fmt.Sprintf("%s requires %s first.", tool, strings.Join(wants, " and ")))
	}
	return strings.Join(sentences, " ")
}

// hopeless says what is the matter with a place that no call fills.
func (n *Net) hopeless(tool string, place int) string {
	for i := range n.transitions {
		if t := &n.transitions[i]; t.reserve && slices.ContainsFunc(t.inputs, func(a arc) bool { return a.place == place }) {
			return fmt.Sprintf("%s has to wait for the result of a call to %s, which may hold the token in %s.", tool, either(t.tools), n.places[place])
		}
	}
	switch k := n.initial.at(place); k {
	case 0:
		return fmt.Sprintf("%s is not allowed: no call puts a token in %s.", tool, n.places[place])
	case 1:
		return fmt.Sprintf("%s is used up: the one token of %s is spent, and no call brings it back.", tool, n.places[place])
	default:
		return fmt.Sprintf("%s is used up: the %d tokens of %s are spent, and no call brings them back.", tool, k, n.places[place])
	}
}

// sources are the calls that would put tokens in a place.
type sources struct {
	succeeding, calling []string
	gain                int // the most that one of them puts there; 0: not known
}

// sources follows structural transitions back to the calls that would feed them.
func (n *Net) sources(place int, except string, v []int) (s sources) {
	visited := make([]bool, len(n.places))
	n.trackBack(place, except, v, visited, true, &s)
	return s
}

func (n *Net) trackBack(place int, except string, v []int, visited []bool, direct bool, s *sources) {
	if visited[place] {
		return
	}
	visited[place] = true
	for i := range n.transitions {
		t := &n.transitions[i]
		gain := t.gain(place)
		if gain <= 0 {
			continue
		}
		if t.structural() {
			for _, a := range t.inputs {
				if v[a.place] < a.weight {
					n.trackBack(a.place, except, v, visited, false, s)
				}
			}
			continue
		}
		for _, tool := range t.tools {
			if tool == except || n.uses[tool].free {
				continue
			}
			to := &s.calling
			if t.deferred {
				to = &s.succeeding
			}
			if !slices.Contains(*to, tool) {
				*to = append(*to, tool)
			}
			if direct {
				s.gain = max(s.gain, gain)
			}
		}
	}
}

// gain is how many tokens more than before a place holds after firing; where it
// is emptied first, how many it holds.
func (t *transition) gain(place int) (k int) {
	for _, a := range t.outputs {
		if a.place == place {
			k += a.weight
		}
	}
	if slices.Contains(t.reset, place) {
		return k
	}
	for _, a := range t.inputs {
		if a.place == place {
			k -= a.weight
		}
	}
	return k
}

// String returns "a successful call to test", "2 calls to review"; empty where
// no call helps.
func (s sources) String(short int) string {
	calls := 1
	if s.gain > 0 {
		calls = (short + s.gain - 1) / s.gain
	}
	var parts []string
	say := func(tools []string, one, many string) {
		switch {
		case len(tools) == 0:
		case calls == 1:
			parts = append(parts, "a "+one+" to "+either(tools))
		default:
			parts = append(parts, fmt.Sprintf("%d %s to %s", calls, many, either(tools)))
		}
	}
	say(s.succeeding, "successful call", "successful calls")
	say(s.calling, "call", "calls")
	return strings.Join(parts, " or ")
}

// drains are the tools whose calls take tokens from a place.
func (n *Net) drains(place int, except string) (tools []string) {
	for i := range n.transitions {
		t := &n.transitions[i]
		if t.gain(place) >= 0 && !(slices.Contains(t.reset, place) && t.gain(place) == 0) {
			continue
		}
		for _, tool := range t.tools {
			if tool != except && !n.uses[tool].free && !slices.Contains(tools, tool) {
				tools = append(tools, tool)
			}
		}
	}
	return tools
}

// either returns "a", "a or b", "a, b or c", with an end for long lists.
func either(names []string) string {
	const most = 6
	if len(names) > most {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d others", len(names)-most))
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
