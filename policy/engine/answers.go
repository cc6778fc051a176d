package engine

import (
	"context"
	"time"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// Answers is what makes a request be decided once only, however often it is
// sent. All methods are safe for concurrent use. Every implementation is held to
// one conformance suite.
type Answers interface {
	// Claim takes a request up. Where it returns Fresh, the caller has to Keep
	// an answer or Release the claim.
	Claim(ctx context.Context, key Key, hash string, now time.Time) (Claim, error)
	// Keep remembers the answer to a claimed request until a time; a later Keep
	// of the same request takes its place.
	Keep(ctx context.Context, key Key, d *protocol.Decision, until time.Time) error
	// Release gives a claim up: the next one of the same request is Fresh.
	Release(ctx context.Context, key Key)
}

// Key names a request: ids are unique within a scope.
type Key struct{ Scope, RequestID string }

// Claim is what is known of a request that was sent.
type Claim struct {
	State    State
	Decision *protocol.Decision // with Answered; not to be changed
}

// State says what became of a request before. The zero value lets nothing be
// decided.
type State uint8

// The states of a request.
const (
	Reused   State = iota // the id was used with another hash
	Pending               // the same request is being decided
	Answered              // the same request was answered
	Fresh                 // nothing is known of it; it is claimed now
)
