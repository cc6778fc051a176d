package petri

import (
	"fmt"
	"slices"
)

// Set is the nets of a policy, with an index by tool name. It is immutable and
// safe for concurrent use.
type Set struct {
	nets   []*Net
	byName map[string]int
	byTool map[string][]int // the nets that speak of a tool, in order
}

// NewSet makes a set of nets, in the order in which their opinions stand. The
// names of the nets must differ.
func NewSet(nets ...*Net) (*Set, error) {
	s := &Set{nets: slices.Clone(nets), byName: make(map[string]int, len(nets)), byTool: make(map[string][]int)}
	for i, n := range nets {
		if first, twice := s.byName[n.name]; twice {
			return nil, fmt.Errorf("nets %d and %d are both named %q", first, i, n.name)
		}
		s.byName[n.name] = i
		for tool := range n.uses {
			s.byTool[tool] = append(s.byTool[tool], i)
		}
	}
	return s, nil
}

// Len returns how many nets the set has.
func (s *Set) Len() int { return len(s.nets) }

// Net returns a net by index.
func (s *Set) Net(i int) *Net { return s.nets[i] }

// Index returns the index of a net by name; false if there is none.
func (s *Set) Index(name string) (int, bool) {
	i, ok := s.byName[name]
	return i, ok
}

// Knows reports whether a net speaks of a tool: the names that none knows need
// not be looked at further.
func (s *Set) Knows(tool string) bool { return len(s.byTool[tool]) > 0 }

// speaking returns the nets that speak of any of the names, in order. The
// result may be part of the index and must not be changed.
func (s *Set) speaking(names []string) []int {
	var all []int
	merged := false
	for _, name := range names {
		switch nets := s.byTool[name]; {
		case len(nets) == 0:
		case all == nil:
			all = nets
		default:
			all = append(slices.Clip(all), nets...)
			merged = true
		}
	}
	if merged {
		slices.Sort(all)
		all = slices.Compact(all)
	}
	return all
}

// View gives the marking of a net, by its index in the set, and whether the net
// is active. A net that was never marked has its Initial marking. A view is asked
// only for nets that speak of the call.
type View func(net int) (m Marking, active bool)

// Initial is the view of a session in which nothing has happened: every net is
// active.
func (s *Set) Initial(net int) (Marking, bool) { return s.nets[net].initial, true }
