package bus

import "sync"

// lanes runs jobs on a bounded number of workers. Jobs of one key run one after
// the other, in the order in which they were put; jobs of different keys don't
// wait for each other while a worker is free.
type lanes[J any] struct {
	run   func(J)
	limit int
	room  int // bytes that the jobs may have

	mu      sync.Mutex
	lanes   map[string]*lane[J]
	waiting int // jobs put and not yet done
	bytes   int // that they have
	closed  bool
	idle    *sync.Cond // waiting reached zero

	ready   chan *lane[J]
	workers sync.WaitGroup
}

type lane[J any] struct {
	key  string
	jobs []sized[J]
}

// sized is a job and the bytes that it keeps in memory.
type sized[J any] struct {
	job   J
	bytes int
}

// newLanes starts the workers. At most limit jobs wait or run at a time, and as
// many as have room bytes together.
func newLanes[J any](workers, limit, room int, run func(J)) *lanes[J] {
	l := &lanes[J]{
		run:   run,
		limit: limit,
		room:  room,
		lanes: make(map[string]*lane[J]),
		// A lane is in the channel only while it has a job that waits, so
		// sending never blocks.
		ready: make(chan *lane[J], limit),
	}
	l.idle = sync.NewCond(&l.mu)
	l.workers.Add(workers)
	for range workers {
		go l.work()
	}
	return l
}

// put hands a job to the lane of its key. It returns false, at once, where a
// limit is reached or the lanes are closed.
func (l *lanes[J]) put(key string, job J, bytes int) bool {
	l.mu.Lock()
	if l.closed || l.waiting >= l.limit || l.bytes+bytes > l.room {
		l.mu.Unlock()
		return false
	}
	l.waiting++
	l.bytes += bytes
	if of := l.lanes[key]; of != nil {
		of.jobs = append(of.jobs, sized[J]{job, bytes})
		l.mu.Unlock()
		return true
	}
	of := &lane[J]{key: key, jobs: []sized[J]{{job, bytes}}}
	l.lanes[key] = of
	l.mu.Unlock()
	l.ready <- of
	return true
}

func (l *lanes[J]) work() {
	defer l.workers.Done()
	for of := range l.ready {
		l.mu.Lock()
		next := of.jobs[0]
		l.mu.Unlock()
		l.run(next.job)
		l.mu.Lock()
		of.jobs[0] = sized[J]{} // for the garbage collector
		of.jobs = of.jobs[1:]
		more := len(of.jobs) > 0
		if !more {
			delete(l.lanes, of.key)
		}
		l.waiting--
		l.bytes -= next.bytes
		if l.waiting == 0 {
			l.idle.Broadcast()
		}
		l.mu.Unlock()
		if more { // to the end of the line: other sessions first
			l.ready <- of
		}
	}
}

// load returns how many jobs wait or run.
func (l *lanes[J]) load() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting
}

// close takes no more jobs, waits until those that it took are done, and ends
// the workers.
func (l *lanes[J]) close() {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.closed = true
	for l.waiting > 0 {
		l.idle.Wait()
	}
	l.mu.Unlock()
	close(l.ready) // nobody sends any more: nothing waits, and put refuses
	l.workers.Wait()
}
