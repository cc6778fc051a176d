package petri

// move is a step of a search.
type move struct {
	does  moveKind
	which int32 // a name for a call, a kind for a result
}

type moveKind uint8

const (
	moveNone         moveKind = iota
	moveCall                  // the call is made; it may wait
	moveSucceed               // a call that was counted succeeds
	moveAnother               // a call that was not counted was made and succeeds
	moveFail                  // a call that was counted fails
	moveAnotherFails          // a call that was not counted was made and fails
)

// search visits the states of a system in the order of the number of calls that
// they take, so that the first violation has a shortest history. States are kept
// as strings in one table: a million of them fit in little memory.
type search struct {
	*system
	limit int
	// visit, if set, is told of each state when its shortest history is known,
	// with whether any call is let through in it.
	visit func(id int, st state, open bool)

	ids    map[string]int32
	keys   []string
	cost   []int32 // in calls, of the shortest history known
	parent []int32
	by     []move
	done   []bool
	now    []int32 // to be expanded with the same number of calls
	later  []int32 // with one more
	buf    []byte

	full  bool // the limit was reached
	found int  // the state in which the violating call is made, or -1
	last  int  // the name of that call
}

// roundsPerState bounds the work of a search whose structural transitions take
// very many rounds: it ends as if so many fewer states had been its limit.
const roundsPerState = 50

func newSearch(s *system, limit int) *search {
	return &search{system: s, limit: limit, ids: make(map[string]int32), found: -1}
}

// run searches until everything is visited, the watcher found something, or the
// limit is reached.
func (s *search) run() {
	s.reach(s.start(), -1, move{}, 0)
	for len(s.now)+len(s.later) > 0 {
		if len(s.now) == 0 {
			s.now, s.later = s.later, s.now[:0]
		}
		// The queue is worked off by index: what a free move reaches joins its end.
		for i := 0; i < len(s.now); i++ {
			id := s.now[i]
			if s.done[id] {
				continue
			}
			s.done[id] = true
			s.expand(id)
			s.full = s.full || s.tr.rounds > roundsPerState*s.limit
			if s.found >= 0 || s.full {
				return
			}
		}
		s.now = s.now[:0]
	}
}

// reach notes a state, or a shorter history of it.
func (s *search) reach(st state, from int32, by move, calls int32) {
	st = s.close(st)
	s.buf = s.key(st, s.buf[:0])
	id, known := s.ids[string(s.buf)]
	if !known {
		if len(s.keys) >= s.limit {
			s.full = true
			return
		}
		id = int32(len(s.keys))
		key := string(s.buf)
		s.ids[key] = id
		s.keys = append(s.keys, key)
		s.cost = append(s.cost, calls)
		s.parent = append(s.parent, from)
		s.by = append(s.by, by)
		s.done = append(s.done, false)
	} else {
		if s.done[id] || s.cost[id] <= calls {
			return
		}
		s.cost[id], s.parent[id], s.by[id] = calls, from, by
	}
	if from >= 0 && calls > s.cost[from] {
		s.later = append(s.later, id)
	} else {
		s.now = append(s.now, id)
	}
}

func (s *search) expand(id int32) {
	st := s.state(s.keys[id])
	calls := s.cost[id]
	open := false
	for name := range s.names {
		for _, c := range s.calls(st, name) {
			open = open || len(s.users[name]) > 0
			switch {
			case c.bad:
				s.found, s.last = int(id), name
				return
			case c.kind < 0:
				if !c.unchanged {
					s.reach(c.next, id, move{moveCall, int32(name)}, calls+1)
				}
			case !c.unchanged:
				c.next.waiting = s.wait(st.waiting, c.kind, 1)
				s.reach(c.next, id, move{moveCall, int32(name)}, calls+1)
			case !s.recalled[name]:
				s.result(st, id, c.kind, move{moveAnother, int32(c.kind)})
			}
		}
	}
	for _, w := range st.waiting {
		holds := s.kinds[w.kind].holds
		if w.calls > 0 {
			s.result(st, id, w.kind, move{moveSucceed, int32(w.kind)})
			if holds {
				s.result(st, id, w.kind, move{moveFail, int32(w.kind)})
			}
		}
		if w.more {
			s.result(st, id, w.kind, move{moveAnother, int32(w.kind)})
			if holds {
				s.result(st, id, w.kind, move{moveAnotherFails, int32(w.kind)})
			}
		}
	}
	if s.visit != nil {
		s.visit(int(id), st, open)
	}
}

// result reaches what a result may lead to.
func (s *search) result(st state, id int32, kind int, by move) {
	calls := s.cost[id]
	for _, next := range s.settle(st, kind, by.does == moveSucceed || by.does == moveAnother) {
		if by.does == moveAnother || by.does == moveAnotherFails {
			s.reach(next, id, by, calls+1)
			continue
		}
		next.waiting = s.wait(st.waiting, kind, -1)
		s.reach(next, id, by, calls)
	}
}

// path returns the states from the first to id.
func (s *search) path(id int) (ids []int) {
	for i := int32(id); i >= 0; i = s.parent[i] {
		ids = append(ids, int(i))
	}
	for i, j := 0, len(ids)-1; i < j; i, j = i+1, j-1 {
		ids[i], ids[j] = ids[j], ids[i]
	}
	return ids
}
