package engine

import (
	"context"
	"sync"
	"time"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// Limits of a Memory. The oldest answers are forgotten first; a repeat of a
// forgotten one is decided anew, which gives the same answer while the policy is
// the same.
const (
	// MaxAnswers is how many answers are remembered.
	MaxAnswers = 1 << 14
	// MaxAnswerBytes is how much their texts may take.
	MaxAnswerBytes = 64 << 20
)

// Memory is an Answers within one process. Use NewMemory.
type Memory struct {
	mu    sync.Mutex
	known map[Key]*remembered
	// answered has what has an answer, the oldest at first; what is before it is
	// forgotten.
	answered []*remembered
	first    int
	bytes    int // of the answers
}

// remembered is one request; its answer is nil while it is being decided.
type remembered struct {
	key    Key
	hash   string
	answer *protocol.Decision
	until  time.Time
	bytes  int
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{known: make(map[Key]*remembered)}
}

// Claim implements [Answers].
func (m *Memory) Claim(_ context.Context, key Key, hash string, now time.Time) (Claim, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(now)
	r := m.known[key]
	switch {
	case r == nil || r.answer != nil && !now.Before(r.until):
		m.known[key] = &remembered{key: key, hash: hash}
		return Claim{State: Fresh}, nil
	case r.hash != hash:
		return Claim{State: Reused}, nil
	case r.answer == nil:
		return Claim{State: Pending}, nil
	}
	return Claim{State: Answered, Decision: r.answer}, nil
}

// Keep implements [Answers].
func (m *Memory) Keep(_ context.Context, key Key, d *protocol.Decision, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.known[key]
	if r == nil {
		return nil // forgotten meanwhile: decided anew if it is repeated
	}
	m.bytes -= r.bytes
	again := r.answer != nil
	r.answer, r.until, r.bytes = d, until, size(d)
	m.bytes += r.bytes
	if !again { // else it has its place
		m.answered = append(m.answered, r)
	}
	return nil
}

// forget drops the oldest answers that expired or are too many.
func (m *Memory) forget(now time.Time) {
	for m.first < len(m.answered) {
		old := m.answered[m.first]
		if len(m.answered)-m.first <= MaxAnswers && m.bytes <= MaxAnswerBytes && now.Before(old.until) {
			break
		}
		if m.known[old.key] == old { // else it expired, and the id is in use again
			delete(m.known, old.key)
		}
		m.bytes -= old.bytes
		m.answered[m.first] = nil
		m.first++
	}
	if m.first > len(m.answered)/2 { // so that each is moved once on average
		m.answered = append(m.answered[:0], m.answered[m.first:]...)
		clear(m.answered[len(m.answered):cap(m.answered)])
		m.first = 0
	}
}

// size is about what a decision takes in memory: its texts, and a constant for
// each finding that is more than what they need besides.
func size(d *protocol.Decision) int {
	const each = 128
	n := len(d.Reason) + each
	for i := range d.Findings {
		f := &d.Findings[i]
		n += len(f.Reason) + len(f.Remediation) + each
	}
	for _, w := range d.Warnings {
		n += len(w)
	}
	if d.Ask != nil {
		n += len(d.Ask.Prompt)
	}
	return n
}

// Release implements [Answers].
func (m *Memory) Release(_ context.Context, key Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.known[key]; r != nil && r.answer == nil {
		delete(m.known, key)
	}
}
