package petri

import (
	"encoding/binary"
	"slices"
)

// system is the product of some nets under every behaviour of their callers:
// names are called one after another, and what is deferred succeeds or fails at
// any later time. Calls with several names add nothing to it: whatever they
// reach, single calls reach too.
//
// A call that is let through, changes nothing and waits for its result can be
// made any number of times. The search therefore does not count such calls: it
// only remembers that there may be one. Everything else that waits is counted.
type system struct {
	nets  []*Net
	names []string
	users [][]int // by name: the nets in which it is not free
	// recalled says by name whether waiting calls of it must be remembered. They
	// need not where a call is let through whenever its transition could fire.
	recalled []bool
	watched  []bool // by name: its result matters even where nothing is deferred
	watch    watcher
	// most is up to where waiting calls are counted that hold no tokens of a place
	// where all are counted; beyond there may be any number. 0: all are.
	most int
	// rounded says, by net and place, where tokens are counted up to mostTokens
	// only. nil: everywhere all are.
	rounded [][]bool

	kinds   []kind
	kindIDs map[string]int
	room    []int
	one     [1]int
	tr      *trace
}

// kind is what a waiting call waits with: a name, and in each net the
// transition that its success fires.
type kind struct {
	name     int
	deferred []spot
	holds    bool // tokens are reserved, so that a failure matters, too
	exact    bool // some of them in a place where all are counted: these calls are, too
}

type spot struct{ net, transition int }

// waiting is a number of calls of a kind that have no result yet; with more,
// besides any number of calls that nobody has counted.
type waiting struct {
	kind, calls int
	more        bool
}

// state is a state of a system.
type state struct {
	markings []Marking
	watch    int
	waiting  []waiting // by kind
}

func newSystem(nets []*Net, extra []string) *system {
	s := &system{nets: nets, kindIDs: make(map[string]int), tr: new(trace)}
	index := make(map[string]int)
	add := func(name string) int {
		i, ok := index[name]
		if !ok {
			i = len(s.names)
			index[name] = i
			s.names = append(s.names, name)
			s.users = append(s.users, nil)
		}
		return i
	}
	for _, name := range extra {
		add(name)
	}
	for k, n := range nets {
		for _, tool := range n.tools {
			if !n.uses[tool].free {
				i := add(tool)
				s.users[i] = append(s.users[i], k)
			}
		}
	}
	s.recalled = make([]bool, len(s.names))
	s.watched = make([]bool, len(s.names))
	for i, name := range s.names {
		s.recalled[i] = len(s.users[i]) != 1 || slices.Contains(extra, name)
		for _, k := range s.users[i] {
			ts := nets[k].uses[name].transitions
			s.recalled[i] = s.recalled[i] || len(ts) > 1 || nets[k].transitions[ts[0]].reserve
		}
	}
	return s
}

func (s *system) start() state {
	st := state{markings: make([]Marking, len(s.nets))}
	for i, n := range s.nets {
		st.markings[i] = s.marking(i, s.vector(n.initial, 0))
	}
	return st
}

// key encodes a state; the sizes of the parts are known from the nets.
func (s *system) key(st state, buf []byte) []byte {
	for _, m := range st.markings {
		buf = append(buf, m.s...)
	}
	buf = binary.AppendUvarint(buf, uint64(st.watch))
	for _, w := range st.waiting {
		buf = binary.AppendUvarint(buf, uint64(w.kind))
		calls := uint64(w.calls) << 1
		if w.more {
			calls |= 1
		}
		buf = binary.AppendUvarint(buf, calls)
	}
	return buf
}

func (s *system) state(key string) state {
	st := state{markings: make([]Marking, len(s.nets))}
	for i, n := range s.nets {
		size := 1 + len(n.places)*int(key[0])
		st.markings[i] = Marking{key[:size]}
		key = key[size:]
	}
	rest := []byte(key)
	next := func() int {
		x, k := binary.Uvarint(rest)
		rest = rest[k:]
		return int(x)
	}
	st.watch = next()
	for len(rest) > 0 {
		kind, calls := next(), next()
		st.waiting = append(st.waiting, waiting{kind, calls >> 1, calls&1 == 1})
	}
	return st
}

// call is what calling a name in a state does.
type call struct {
	next      state // the waiting calls are those of before
	kind      int   // -1: it waits for nothing
	unchanged bool  // neither markings nor watcher moved
	approval  Approval
	bad       bool // the watcher saw what it looks for
	waits     kind
}

// calls returns what calling a name may do: nothing where it is not let through,
// and one thing where all tokens are counted.
func (s *system) calls(st state, name int) []call {
	all := []call{{kind: -1, unchanged: true, next: st, waits: kind{name: name}}}
	for _, i := range s.users[name] {
		n := s.nets[i]
		var more []call
		for _, t := range s.choices(i, st.markings[i], name) {
			tr := &n.transitions[t]
			m, ok := s.through(i, t, st.markings[i])
			if !ok {
				continue
			}
			for _, c := range all {
				if m != st.markings[i] {
					c.next.markings = slices.Clone(c.next.markings)
					c.next.markings[i] = m
					c.unchanged = false
				}
				c.approval = max(c.approval, tr.approval())
				if tr.deferred {
					c.waits.deferred = append(slices.Clip(c.waits.deferred), spot{i, t})
					c.waits.holds = c.waits.holds || tr.reserve && len(tr.inputs) > 0
					c.waits.exact = c.waits.exact || tr.reserve && s.counts(i, tr)
				}
				more = append(more, c)
			}
		}
		if all = more; len(all) == 0 {
			return nil
		}
	}
	for k := range all {
		c := &all[k]
		if len(c.waits.deferred) > 0 || s.watched[name] {
			c.kind = s.kind(c.waits)
		}
		if s.watch != nil {
			c.next.watch, c.bad = s.watch(st.watch, s.names[name], calling, c.approval)
			c.unchanged = c.unchanged && c.next.watch == st.watch
		}
	}
	return all
}

// counts reports whether a transition takes tokens of a place where all are counted.
func (s *system) counts(net int, t *transition) bool {
	return slices.ContainsFunc(t.inputs, func(a arc) bool { return s.rounded == nil || !s.rounded[net][a.place] })
}

func (s *system) kind(k kind) int {
	key := binary.AppendUvarint(nil, uint64(k.name))
	for _, d := range k.deferred {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(d.net)), uint64(d.transition))
	}
	id, ok := s.kindIDs[string(key)]
	if !ok {
		id = len(s.kinds)
		s.kindIDs[string(key)] = id
		s.kinds = append(s.kinds, k)
	}
	return id
}

// settle returns what giving a call of a kind its result may do. The waiting
// calls stay as they are.
func (s *system) settle(st state, id int, succeeded bool) []state {
	k := &s.kinds[id]
	if succeeded && s.watch != nil {
		st.watch, _ = s.watch(st.watch, s.names[k.name], succeeding, NoApproval)
	}
	all := []state{st}
	for _, d := range k.deferred {
		var more []state
		for _, m := range s.results(d, st.markings[d.net], succeeded) {
			for _, next := range all {
				next.markings = slices.Clone(next.markings)
				next.markings[d.net] = m
				more = append(more, next)
			}
		}
		all = more
	}
	return all
}

// find returns where a kind stands, or would stand, among waiting calls.
func find(ws []waiting, id int) (int, bool) {
	return slices.BinarySearchFunc(ws, id, func(w waiting, id int) int { return w.kind - id })
}

// wait returns the waiting calls with one more or one fewer of a kind.
func (s *system) wait(ws []waiting, id, change int) []waiting {
	i, found := find(ws, id)
	ws = slices.Clone(ws)
	if !found {
		return slices.Insert(ws, i, waiting{kind: id, calls: change})
	}
	ws[i].calls += change
	switch {
	case ws[i].calls == 0 && !ws[i].more:
		ws = slices.Delete(ws, i, i+1)
	case s.most > 0 && ws[i].calls > s.most && !s.kinds[id].exact:
		ws[i].calls, ws[i].more = s.most, true
	}
	return ws
}

// close adds to a state the calls that can be made in it any number of times.
func (s *system) close(st state) state {
	for name := range s.names {
		if !s.recalled[name] {
			continue
		}
		for _, c := range s.calls(st, name) {
			if c.kind < 0 || !c.unchanged {
				continue
			}
			i, found := find(st.waiting, c.kind)
			if found && st.waiting[i].more {
				continue
			}
			st.waiting = slices.Clone(st.waiting)
			if !found {
				st.waiting = slices.Insert(st.waiting, i, waiting{kind: c.kind})
			}
			st.waiting[i].more = true
		}
	}
	return st
}
