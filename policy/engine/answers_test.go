package engine_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/guardrails-provider/guardrails-provider/policy/engine"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

var (
	ctx  = context.Background()
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

func TestMemory(t *testing.T) {
	testAnswers(t, func(*testing.T) engine.Answers { return engine.NewMemory() })
}

// testAnswers is what every implementation of Answers is held to.
func testAnswers(t *testing.T, open func(*testing.T) engine.Answers) {
	key := engine.Key{Scope: "swarm-a", RequestID: "r-1"}
	answer := func(id string) *protocol.Decision {
		return &protocol.Decision{RequestID: id, Decision: protocol.VerdictBlock, Code: protocol.CodePolicy}
	}
	claim := func(t *testing.T, a engine.Answers, key engine.Key, hash string, now time.Time, want engine.State) engine.Claim {
		t.Helper()
		c, err := a.Claim(ctx, key, hash, now)
		if err != nil || c.State != want {
			t.Fatalf("claim of %v: state %d, want %d (%v)", key, c.State, want, err)
		}
		if (c.Decision != nil) != (want == engine.Answered) {
			t.Fatalf("claim of %v: state %d with decision %v", key, c.State, c.Decision)
		}
		return c
	}
	keep := func(t *testing.T, a engine.Answers, key engine.Key, d *protocol.Decision, until time.Time) {
		t.Helper()
		if err := a.Keep(ctx, key, d, until); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("claim, keep, repeat", func(t *testing.T) {
		a := open(t)
		claim(t, a, key, "h", noon, engine.Fresh)
		claim(t, a, key, "h", noon, engine.Pending)
		claim(t, a, key, "other", noon, engine.Reused) // also while it is pending
		keep(t, a, key, answer("r-1"), noon.Add(time.Minute))
		c := claim(t, a, key, "h", noon.Add(time.Second), engine.Answered)
		if c.Decision.RequestID != "r-1" || c.Decision.Decision != protocol.VerdictBlock {
			t.Errorf("the answer is %+v", c.Decision)
		}
		claim(t, a, key, "other", noon.Add(time.Second), engine.Reused)
	})
	t.Run("release", func(t *testing.T) {
		a := open(t)
		claim(t, a, key, "h", noon, engine.Fresh)
		a.Release(ctx, key)
		claim(t, a, key, "other", noon, engine.Fresh)
	})
	t.Run("a release takes no answer away", func(t *testing.T) {
		a := open(t)
		claim(t, a, key, "h", noon, engine.Fresh)
		keep(t, a, key, answer("r-1"), noon.Add(time.Minute))
		a.Release(ctx, key)
		claim(t, a, key, "h", noon, engine.Answered)
		a.Release(ctx, engine.Key{RequestID: "never claimed"})
	})
	t.Run("expiry", func(t *testing.T) {
		a := open(t)
		claim(t, a, key, "h", noon, engine.Fresh)
		keep(t, a, key, answer("r-1"), noon.Add(time.Minute))
		claim(t, a, key, "h", noon.Add(time.Minute-time.Nanosecond), engine.Answered)
		claim(t, a, key, "other", noon.Add(time.Minute), engine.Fresh)
		claim(t, a, key, "h", noon.Add(time.Minute), engine.Reused)
	})
	t.Run("scopes are apart", func(t *testing.T) {
		a := open(t)
		claim(t, a, key, "h", noon, engine.Fresh)
		claim(t, a, engine.Key{Scope: "swarm-b", RequestID: "r-1"}, "h", noon, engine.Fresh)
		claim(t, a, engine.Key{Scope: "", RequestID: "r-1"}, "h", noon, engine.Fresh)
		claim(t, a, engine.Key{Scope: "swarm-a", RequestID: "r-2"}, "h", noon, engine.Fresh)
		// Whatever joins them, they are two things.
		claim(t, a, engine.Key{Scope: "a/b", RequestID: "c"}, "h", noon, engine.Fresh)
		claim(t, a, engine.Key{Scope: "a", RequestID: "b/c"}, "h", noon, engine.Fresh)
	})
	t.Run("the latest answer", func(t *testing.T) {
		a := open(t)
		claim(t, a, key, "h", noon, engine.Fresh)
		keep(t, a, key, answer("first"), noon.Add(time.Minute))
		keep(t, a, key, answer("second"), noon.Add(2*time.Minute))
		if c := claim(t, a, key, "h", noon.Add(90*time.Second), engine.Answered); c.Decision.RequestID != "second" {
			t.Errorf("the answer is %q", c.Decision.RequestID)
		}
	})
	t.Run("one of many is fresh", func(t *testing.T) {
		a := open(t)
		for round := range 50 {
			key := engine.Key{RequestID: fmt.Sprint(round)}
			var wg sync.WaitGroup
			var mu sync.Mutex
			states := map[engine.State]int{}
			for range 16 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					c, err := a.Claim(ctx, key, "h", noon)
					if err != nil {
						t.Error(err)
					}
					if c.State == engine.Fresh {
						if err := a.Keep(ctx, key, answer("x"), noon.Add(time.Minute)); err != nil {
							t.Error(err)
						}
					}
					mu.Lock()
					states[c.State]++
					mu.Unlock()
				}()
			}
			wg.Wait()
			if states[engine.Fresh] != 1 || states[engine.Reused] != 0 {
				t.Fatalf("states %v", states)
			}
		}
	})
}

// At MaxAnswers the oldest are forgotten, what is pending never.
func TestMemoryForgetsTheOldest(t *testing.T) {
	m := engine.NewMemory()
	key := func(i int) engine.Key { return engine.Key{RequestID: fmt.Sprint(i)} }
	state := func(i int) engine.State {
		c, err := m.Claim(ctx, key(i), "h", noon)
		if err != nil {
			t.Fatal(err)
		}
		return c.State
	}
	until := noon.Add(time.Hour)
	if state(-1) != engine.Fresh {
		t.Fatal("not fresh")
	}
	for i := range engine.MaxAnswers {
		state(i)
		_ = m.Keep(ctx, key(i), &protocol.Decision{}, until)
		_ = m.Keep(ctx, key(i), &protocol.Decision{}, until) // takes no second place
	}
	for _, i := range []int{0, 1, engine.MaxAnswers - 1} {
		if state(i) != engine.Answered {
			t.Errorf("%d is forgotten before its time", i)
		}
	}
	state(engine.MaxAnswers)
	_ = m.Keep(ctx, key(engine.MaxAnswers), &protocol.Decision{}, until)
	if state(1) != engine.Answered || state(engine.MaxAnswers) != engine.Answered {
		t.Error("more than the oldest was forgotten")
	}
	if state(0) != engine.Fresh {
		t.Error("the oldest is remembered")
	}
	if state(-1) != engine.Pending {
		t.Error("what is pending was forgotten")
	}
}
