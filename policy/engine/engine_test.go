package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/policy/engine"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

const text = `version: 1
default: block
asks: { expire: 3m }
state: { answers: 1m }
zones:
  - { id: workspace, path: ".", files: { read: allow, write: ask } }
`

func loaded(t *testing.T, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse(policy.File{Name: "policy.yaml", Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type bench struct {
	*engine.Engine
	policy *policy.Policy
	faults []error
}

func newBench(t *testing.T, answers engine.Answers) *bench {
	b := &bench{policy: loaded(t, text)}
	b.Engine = engine.New(engine.Config{
		Policy: func() *policy.Policy { return b.policy }, Answers: answers, Version: "1.2.3",
		Fault: func(err error) { b.faults = append(b.faults, err) },
	})
	return b
}

func request(op, path string, at time.Time) engine.Request {
	c := &protocol.Check{
		ProtocolVersion: "1", RequestID: "r-1", Caller: protocol.Caller{ExtensionID: "x"},
		Action:  protocol.Action{Resource: protocol.Resource{Kind: protocol.KindFile}, Operation: op, Targets: []protocol.Target{{Path: path}}},
		Context: protocol.Context{Cwd: "/repo"}, Options: protocol.Options{Interactive: true},
	}
	return engine.Request{Scope: "s", Check: c, Hash: protocol.Hash([]byte(op + path)), Arrived: at}
}

func valid(t *testing.T, d *protocol.Decision) *protocol.Decision {
	t.Helper()
	if err := d.Validate(); err != nil {
		t.Errorf("%v: %+v", err, d)
	}
	return d
}

func TestAnswer(t *testing.T) {
	b := newBench(t, engine.NewMemory())
	r := request("read", "x", noon)
	d := valid(t, b.Answer(ctx, r))
	if d.Decision != protocol.VerdictAllow || d.Code != protocol.CodePolicy || d.Replayed || d.RequestHash != r.Hash || d.RequestID != "r-1" ||
		d.Provider.PolicyHash != b.policy.Hash() || d.Provider.Version != "1.2.3" || d.Ask != nil || len(d.Findings) != 1 || d.Warnings == nil {
		t.Errorf("got %+v", d)
	}
}

// The same document gets the same answer, marked, though the policy has changed.
func TestReplay(t *testing.T) {
	b := newBench(t, engine.NewMemory())
	r := request("read", "x", noon)
	first := b.Answer(ctx, r)
	b.policy = loaded(t, "version: 1\ndefault: block\n")
	r.Arrived = noon.Add(59 * time.Second)
	again := valid(t, b.Answer(ctx, r))
	if !again.Replayed || first.Replayed {
		t.Errorf("replayed: first %v, again %v", first.Replayed, again.Replayed)
	}
	again.Replayed = false
	one, _ := json.Marshal(first)
	two, _ := json.Marshal(again)
	if string(one) != string(two) {
		t.Errorf("got\n%s\nand then\n%s", one, two)
	}
	r.Arrived = noon.Add(time.Minute)
	if later := b.Answer(ctx, r); later.Replayed || later.Decision != protocol.VerdictBlock {
		t.Errorf("after its time: %+v", later)
	}
}

func TestRequestIDReused(t *testing.T) {
	b := newBench(t, engine.NewMemory())
	b.Answer(ctx, request("read", "x", noon))
	d := valid(t, b.Answer(ctx, request("read", "y", noon)))
	if d.Decision != protocol.VerdictError || d.Code != protocol.CodeRequestIDReused || !strings.Contains(d.Reason, "requestId") {
		t.Errorf("got %+v", d)
	}
	other := request("read", "y", noon)
	other.Scope = "another"
	if d := b.Answer(ctx, other); !d.Allows() {
		t.Errorf("in another scope: %+v", d)
	}
}

// An error is decided anew, also with another document.
func TestErrorsAreNotRemembered(t *testing.T) {
	b := newBench(t, engine.NewMemory())
	for range 2 {
		if d := valid(t, b.Answer(ctx, request("read", "~root/x", noon))); d.Decision != protocol.VerdictError || d.Replayed {
			t.Errorf("got %+v", d)
		}
	}
	if d := b.Answer(ctx, request("read", "x", noon)); !d.Allows() {
		t.Errorf("after an error: %+v", d)
	}
}

func TestAsk(t *testing.T) {
	b := newBench(t, engine.NewMemory())
	zone := time.FixedZone("", 3600)
	r := request("write", "x", noon.In(zone))
	d := valid(t, b.Answer(ctx, r))
	if d.Decision != protocol.VerdictAsk || d.Ask == nil || !d.Ask.ExpiresAt.Equal(noon.Add(3*time.Minute)) || d.Ask.ExpiresAt.Location() != time.UTC || d.Ask.Prompt != d.Reason {
		t.Fatalf("got %+v", d)
	}
	// It is remembered as long as it may be answered, which is longer than other answers.
	r.Arrived = noon.Add(3*time.Minute - time.Second)
	if again := b.Answer(ctx, r); !again.Replayed || !again.Ask.ExpiresAt.Equal(d.Ask.ExpiresAt) {
		t.Errorf("a repeat: %+v", again)
	}
	r.Check.Options.Interactive = false
	r.Hash, r.Check.RequestID = protocol.Hash([]byte("other")), "r-2"
	if d := valid(t, b.Answer(ctx, r)); d.Decision != protocol.VerdictBlock || d.Code != protocol.CodeApprovalRequired || d.Ask != nil {
		t.Errorf("with nobody to ask: %+v", d)
	}
}

func TestNoPolicy(t *testing.T) {
	b := newBench(t, engine.NewMemory())
	p := b.policy
	b.policy = nil
	d := valid(t, b.Answer(ctx, request("read", "x", noon)))
	if d.Decision != protocol.VerdictError || d.Code != protocol.CodePolicyUnavailable || d.Provider.PolicyHash != "" || b.PolicyHash() != "" {
		t.Errorf("got %+v", d)
	}
	b.policy = p
	if d := b.Answer(ctx, request("read", "x", noon)); !d.Allows() || b.PolicyHash() != p.Hash() {
		t.Errorf("with a policy again: %+v", d)
	}
	b.policy = new(policy.Policy)
	if d := valid(t, b.Answer(ctx, request("read", "other", noon.Add(time.Hour)))); d.Code != protocol.CodePolicyUnavailable {
		t.Errorf("with the zero policy: %+v", d)
	}
}

// broken is a store that fails.
type broken struct {
	engine.Answers
	claim, keep error
	released    int
}

func (b *broken) Claim(ctx context.Context, k engine.Key, hash string, now time.Time) (engine.Claim, error) {
	if b.claim != nil {
		return engine.Claim{}, b.claim
	}
	return b.Answers.Claim(ctx, k, hash, now)
}

func (b *broken) Keep(ctx context.Context, k engine.Key, d *protocol.Decision, until time.Time) error {
	if b.keep != nil {
		return b.keep
	}
	return b.Answers.Keep(ctx, k, d, until)
}

func (b *broken) Release(ctx context.Context, k engine.Key) {
	b.released++
	b.Answers.Release(ctx, k)
}

func TestStoreFails(t *testing.T) {
	store := &broken{Answers: engine.NewMemory(), claim: errors.New("lost")}
	b := newBench(t, store)
	if d := valid(t, b.Answer(ctx, request("read", "x", noon))); d.Code != protocol.CodeStateUnavailable || d.Decision != protocol.VerdictError {
		t.Errorf("claim: %+v", d)
	}
	store.claim, store.keep = nil, errors.New("full")
	if d := valid(t, b.Answer(ctx, request("read", "x", noon))); d.Code != protocol.CodeStateUnavailable || store.released != 1 {
		t.Errorf("keep: %+v, released %d times", d, store.released)
	}
	store.keep = nil
	if d := b.Answer(ctx, request("read", "x", noon)); !d.Allows() || store.released != 1 {
		t.Errorf("again: %+v, released %d times", d, store.released)
	}
}

// A panic of a policy is told, answered as an error, and leaves nothing pending.
func TestFault(t *testing.T) {
	b := newBench(t, engine.NewMemory())
	for range 2 {
		if d := valid(t, b.Answer(ctx, request("no such operation", "/x", noon))); d.Code != protocol.CodePolicyFailed || d.Decision != protocol.VerdictError {
			t.Errorf("got %+v", d)
		}
	}
	if len(b.faults) != 2 {
		t.Errorf("faults %v", b.faults)
	}
	if d := b.Answer(ctx, request("read", "x", noon)); !d.Allows() {
		t.Errorf("afterwards: %+v", d)
	}
}

// Of the same request sent many times at once, one is decided.
func TestConcurrentRepeats(t *testing.T) {
	b := newBench(t, engine.NewMemory())
	var wg sync.WaitGroup
	var mu sync.Mutex
	fresh := 0
	for range 32 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			d := b.Answer(ctx, request("read", "x", noon))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case d.Allows() && !d.Replayed:
				fresh++
			case !d.Allows() && d.Code != protocol.CodeInternal:
				t.Errorf("got %+v", d)
			}
		}()
	}
	wg.Wait()
	if fresh != 1 {
		t.Errorf("decided %d times", fresh)
	}
}

func TestErrorAndStatus(t *testing.T) {
	b := newBench(t, engine.NewMemory())
	d := valid(t, b.Error("", "", &protocol.Error{Code: protocol.CodeInvalidRequest, Field: "action", Problem: "is missing"}))
	if d.Allows() || d.Code != protocol.CodeInvalidRequest || !strings.Contains(d.Reason, "action") {
		t.Errorf("got %+v", d)
	}
	if s := b.Status(&protocol.StatusRequest{}); len(s.Sessions) != 0 || s.Validate() != nil {
		t.Errorf("all: %+v", s)
	}
	if s := b.Status(&protocol.StatusRequest{SessionID: "s-42"}); len(s.Sessions) != 1 || s.Sessions[0].Session != "s-42" || s.Validate() != nil {
		t.Errorf("one: %+v", s)
	}
}
