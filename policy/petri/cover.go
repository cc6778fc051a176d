package petri

import (
	"encoding/binary"
	"math"
	"slices"
)

// MaxCoverNodes is how many nodes a coverability tree may have.
const MaxCoverNodes = 20_000

// omega stands for any number of tokens.
const omega = math.MaxInt

// cover is what the coverability tree of the relaxed net says of the real one.
type cover struct {
	complete bool
	bound    []int  // by place: omega where none is known
	possible []bool // by transition: it may be enabled somewhere
}

// relaxed is a transition of the relaxed net.
type relaxed struct {
	index  int
	needs  []arc
	effect []arc // what is gained or, negative, lost
}

// coverability builds the tree of Karp & Miller (Parallel Program Schemata,
// 1969) for a relaxed net that covers everything the real one reaches: no
// transition has priority, structural ones fire one by one when they like,
// inhibitors don't inhibit and resets take nothing. A token that is reserved
// counts as still in its place. A structural transition may read what another
// one takes in the same round, so such a read is relaxed, too.
func (n *Net) coverability() cover {
	c := n.tree()
	for p := range c.bound {
		if !c.complete {
			c.bound[p] = omega
		}
		if k, ok := n.refilled(p); ok {
			c.bound[p] = min(c.bound[p], k)
		}
	}
	return c
}

// refilled bounds a place to which only transitions add that empty it first: a
// budget, a flag. Tokens that are reserved and come back would add to that.
func (n *Net) refilled(place int) (bound int, ok bool) {
	together := 0 // what structural transitions put there in one round
	for i := range n.transitions {
		t := &n.transitions[i]
		adds := 0
		for _, a := range t.outputs {
			if a.place == place {
				adds = a.weight
			}
		}
		if adds > 0 && !slices.Contains(t.reset, place) {
			return 0, false
		}
		if t.reserve && slices.ContainsFunc(t.inputs, func(a arc) bool { return a.place == place }) {
			return 0, false
		}
		if t.structural() {
			together += adds
		} else {
			bound = max(bound, adds)
		}
	}
	return max(bound, together, n.given.at(place)), true
}

func (n *Net) tree() cover {
	c := cover{bound: make([]int, len(n.places)), possible: make([]bool, len(n.transitions))}
	rules := n.relax()
	type node struct {
		m      []int
		parent int
	}
	nodes := []node{{n.given.decode(nil), -1}}
	key := func(m []int) string {
		b := make([]byte, 0, 2*len(m))
		for _, k := range m {
			b = binary.AppendUvarint(b, uint64(k))
		}
		return string(b)
	}
	seen := map[string]bool{key(nodes[0].m): true}
	for i := 0; i < len(nodes); i++ {
		m := nodes[i].m
		for p, k := range m {
			c.bound[p] = max(c.bound[p], k)
		}
		for _, r := range rules {
			if slices.ContainsFunc(r.needs, func(a arc) bool { return m[a.place] < a.weight }) {
				continue
			}
			c.possible[r.index] = true
			next := slices.Clone(m)
			for _, a := range r.effect {
				if next[a.place] != omega {
					next[a.place] += a.weight
				}
			}
			for j := i; j >= 0; j = nodes[j].parent {
				accelerate(next, nodes[j].m)
			}
			if k := key(next); !seen[k] {
				if len(nodes) >= MaxCoverNodes {
					return c
				}
				seen[k] = true
				nodes = append(nodes, node{next, i})
			}
		}
	}
	c.complete = true
	return c
}

// accelerate makes a place omega where the way from an ancestor can be gone
// again and again and gains there.
func accelerate(m, ancestor []int) {
	for p := range m {
		if m[p] < ancestor[p] {
			return
		}
	}
	for p := range m {
		if m[p] > ancestor[p] {
			m[p] = omega
		}
	}
}

func (n *Net) relax() (rules []relaxed) {
	taken := make([]bool, len(n.places)) // by a structural transition
	for _, i := range n.structural {
		for _, a := range n.transitions[i].inputs {
			taken[a.place] = true
		}
	}
	for i := range n.transitions {
		t := &n.transitions[i]
		if !t.structural() && !slices.ContainsFunc(t.tools, func(tool string) bool { return !n.uses[tool].free }) {
			continue // every call of it is free
		}
		needs := slices.Clone(t.inputs)
		for _, p := range t.read {
			if !t.structural() || !taken[p] {
				needs = append(needs, arc{p, 1})
			}
		}
		weights := make(map[int]int)
		for _, a := range t.inputs {
			weights[a.place] -= a.weight
		}
		for _, a := range t.outputs {
			weights[a.place] += a.weight
		}
		r := relaxed{index: i, needs: needs}
		for p := range n.places {
			if w := weights[p]; w != 0 {
				r.effect = append(r.effect, arc{p, w})
			}
		}
		rules = append(rules, r)
	}
	return rules
}
