// Package engine answers checks: it holds what stands around a policy, that is
// once-only answers, arrival times and the form of decisions. It knows no bus, so
// that the same engine answers on NATS and on the command line.
package engine

import (
	"context"
	"time"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// Config is what an engine needs. Every field must be set.
type Config struct {
	// Policy returns the policy in force; nil: none is.
	Policy func() *policy.Policy
	// Answers remembers what was answered.
	Answers Answers
	// Version is the provider's, for decisions.
	Version string
	// Fault is told of panics in policies; the answer is an error in any case.
	Fault func(error)
}

// Engine answers checks. It is safe for concurrent use; callers that need the
// checks of a session in order call it in that order.
type Engine struct{ cfg Config }

// New returns an engine.
func New(cfg Config) *Engine { return &Engine{cfg} }

// Request is one check as it arrived.
type Request struct {
	Scope   string
	Check   *protocol.Check
	Hash    string    // of the document's bytes
	Arrived time.Time // the only time that a decision may depend on
	// Commit is asked once, when all is decided and before anything is kept. It
	// returns false where the caller can no longer be answered in time; nil: it
	// always can.
	Commit func() bool
}

// Answer decides a check, or repeats the answer that it gave to the same
// document before. It returns nil, and nothing is kept, only where Commit says no.
// The caller may keep the decision and must not change it.
func (e *Engine) Answer(ctx context.Context, r Request) *protocol.Decision {
	p := e.cfg.Policy()
	if p == nil {
		return e.Error(r.Check.RequestID, r.Hash, &protocol.Error{
			Code: protocol.CodePolicyUnavailable, Problem: "no policy is loaded"})
	}
	key := Key{Scope: r.Scope, RequestID: r.Check.RequestID}
	claim, err := e.cfg.Answers.Claim(ctx, key, r.Hash, r.Arrived)
	switch {
	case err != nil:
		return e.Error(r.Check.RequestID, r.Hash, &protocol.Error{
			Code: protocol.CodeStateUnavailable, Problem: "the store of answers failed: " + err.Error()})
	case claim.State == Answered:
		repeat := *claim.Decision
		repeat.Replayed = true
		return &repeat
	case claim.State == Reused:
		return e.Error(r.Check.RequestID, r.Hash, &protocol.Error{
			Code: protocol.CodeRequestIDReused, Field: "requestId",
			Problem: "was used for another request in this scope; use a new one, a UUID is best"})
	case claim.State == Pending:
		return e.Error(r.Check.RequestID, r.Hash, &protocol.Error{
			// Not overloaded: on that a caller's posture may be open, and the
			// request may be about to be refused.
			Code: protocol.CodeInternal, Problem: "the same request is being judged; ask again"})
	}
	kept := false
	defer func() { // also where a panic passes through
		if !kept {
			e.cfg.Answers.Release(ctx, key)
		}
	}()
	d := e.decide(p, r)
	if r.Commit != nil && !r.Commit() {
		return nil
	}
	if d.Decision == protocol.VerdictError {
		return d // errors are never remembered
	}
	times := p.Times()
	keep := times.Answers
	if d.Ask != nil {
		keep = max(keep, times.AskExpire)
	}
	if err := e.cfg.Answers.Keep(ctx, key, d, r.Arrived.Add(keep)); err != nil {
		return e.Error(r.Check.RequestID, r.Hash, &protocol.Error{
			Code: protocol.CodeStateUnavailable, Problem: "the store of answers failed: " + err.Error()})
	}
	kept = true
	return d
}

func (e *Engine) decide(p *policy.Policy, r Request) *protocol.Decision {
	v := p.Decide(r.Check)
	for _, fault := range v.Faults {
		e.cfg.Fault(fault)
	}
	d := e.decision(p, r.Check.RequestID, r.Hash)
	d.Decision, d.Code, d.Reason = v.Decision, v.Code, v.Reason
	if v.Findings != nil {
		d.Findings = v.Findings
	}
	if v.Warnings != nil {
		d.Warnings = v.Warnings
	}
	if d.Decision == protocol.VerdictAsk {
		d.Ask = &protocol.Ask{Prompt: v.Reason, ExpiresAt: r.Arrived.Add(p.Times().AskExpire).UTC()}
	}
	return d
}

// Error makes the decision that answers a message that can't be judged. The
// requestID may be empty where none could be made out.
func (e *Engine) Error(requestID, hash string, problem *protocol.Error) *protocol.Decision {
	d := e.decision(e.cfg.Policy(), requestID, hash)
	d.Decision, d.Code, d.Reason = protocol.VerdictError, problem.Code, problem.Error()
	return d
}

func (e *Engine) decision(p *policy.Policy, requestID, hash string) *protocol.Decision {
	d := &protocol.Decision{
		ProtocolVersion: protocol.Version,
		RequestID:       requestID,
		RequestHash:     hash,
		Findings:        []protocol.Finding{},
		Warnings:        []string{},
		Provider:        protocol.Provider{ID: protocol.ServiceName, Version: e.cfg.Version},
	}
	if p != nil {
		d.Provider.PolicyHash = p.Hash()
	}
	return d
}

// Status returns the state of the session that was asked for, or of all. This
// version's policies keep none: a named session has no nets.
func (e *Engine) Status(r *protocol.StatusRequest) *protocol.Status {
	s := &protocol.Status{Sessions: []protocol.SessionStatus{}}
	if r.SessionID != "" {
		s.Sessions = append(s.Sessions, protocol.SessionStatus{
			Session: r.SessionID,
			Nets:    []protocol.NetStatus{},
			Pending: []protocol.PendingStatus{},
			Asks:    []protocol.AskStatus{},
		})
	}
	return s
}

// PolicyHash names the policy in force; empty: none is.
func (e *Engine) PolicyHash() string {
	if p := e.cfg.Policy(); p != nil {
		return p.Hash()
	}
	return ""
}
