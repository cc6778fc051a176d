package petri

import (
	"cmp"
	"slices"
)

// layout puts the nodes of a net in layers, left to right: places are the nodes
// 0 to len(places)-1, transitions those after them. Edges that would lead back
// are left out while layers are found; within a layer, nodes stand near their
// neighbours (the barycentre heuristic of Sugiyama et al. 1981).
type layout struct {
	layers [][]int
	layer  []int // by node
	row    []int // by node: its position in the layer
}

func (n *Net) layout(edges []edge) layout {
	nodes := len(n.places) + len(n.transitions)
	next := make([][]int, nodes)
	near := make([][]int, nodes)
	for _, e := range edges {
		from, to := e.place, len(n.places)+e.transition
		if e.toPlace {
			from, to = to, from
		}
		near[from] = append(near[from], to)
		near[to] = append(near[to], from)
		if e.what == flow {
			next[from] = append(next[from], to)
		}
	}
	l := layout{layer: make([]int, nodes), row: make([]int, nodes)}
	for i := range l.layer {
		l.layer[i] = -1
	}
	// Breadth first from what is marked in the beginning, then from what is left:
	// each node one layer after the first that leads to it.
	var queue []int
	begin := func(node int) {
		if l.layer[node] < 0 {
			l.layer[node] = 0
			if node >= len(n.places) {
				l.layer[node] = 1 // even layers are places, odd ones transitions
			}
			queue = append(queue, node)
		}
	}
	walk := func() {
		for len(queue) > 0 {
			node := queue[0]
			queue = queue[1:]
			for _, to := range next[node] {
				if l.layer[to] < 0 {
					l.layer[to] = l.layer[node] + 1
					queue = append(queue, to)
				}
			}
		}
	}
	for p := range n.places {
		if n.given.at(p) > 0 {
			begin(p)
		}
	}
	walk()
	for t := range n.transitions {
		if len(n.transitions[t].inputs) == 0 {
			begin(len(n.places) + t)
		}
	}
	walk()
	for node := range nodes {
		begin(node)
		walk()
	}
	for node := range nodes {
		for len(l.layers) <= l.layer[node] {
			l.layers = append(l.layers, nil)
		}
		l.layers[l.layer[node]] = append(l.layers[l.layer[node]], node)
	}
	l.number()
	for range 4 {
		for _, nodes := range l.layers {
			at := make(map[int]float64)
			for _, node := range nodes {
				sum, count := float64(l.row[node]), 1.0
				for _, other := range near[node] {
					sum, count = sum+float64(l.row[other]), count+1
				}
				at[node] = sum / count
			}
			slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
			l.number()
		}
	}
	return l
}

func (l *layout) number() {
	for _, nodes := range l.layers {
		for i, node := range nodes {
			l.row[node] = i
		}
	}
}
