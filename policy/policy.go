package policy

import (
	"time"

	"github.com/guardrails-provider/guardrails-provider/protocol"
	"github.com/guardrails-provider/guardrails-provider/zones"
)

// Mode says whether decisions bind.
type Mode string

// The modes. In shadow mode a policy decides as usual and answers allow.
const (
	ModeEnforce Mode = "enforce"
	ModeShadow  Mode = "shadow"
)

// Policy is a compiled policy. The zero value refuses everything: use [Load],
// [Parse] or [Starter].
type Policy struct {
	hash     string
	mode     Mode
	fallback protocol.Verdict // what the file calls default
	kinds    map[string]bool
	zones    *zones.Set
	numZones int
	times    Times
}

// Times are the durations that a policy sets.
type Times struct {
	AskExpire  time.Duration // how long an ask may be answered
	Answers    time.Duration // how long answers are remembered for repeats
	StateIdle  time.Duration // after which the state of an idle session is forgotten
	StateLease time.Duration // after which reserved tokens come back
	RunIdle    time.Duration // after which an idle run ends
}

// DefaultTimes returns the durations where a policy sets none.
func DefaultTimes() Times {
	return Times{
		AskExpire:  5 * time.Minute,
		Answers:    10 * time.Minute,
		StateIdle:  24 * time.Hour,
		StateLease: 10 * time.Minute,
		RunIdle:    30 * time.Minute,
	}
}

// Hash names the policy's contents, as policyHash in decisions: "sha256:…". For
// a policy of one file it is the SHA-256 of that file.
func (p *Policy) Hash() string { return p.hash }

// Mode returns whether decisions bind.
func (p *Policy) Mode() Mode { return p.mode }

// Default returns the verdict where nobody grants.
func (p *Policy) Default() protocol.Verdict { return p.fallback }

// Zones returns how many zones the policy has.
func (p *Policy) Zones() int { return p.numZones }

// ProtectedZones returns how many of them are protected.
func (p *Policy) ProtectedZones() int {
	if p.zones == nil {
		return 0
	}
	return p.zones.Protected()
}

// Times returns the durations that the policy sets.
func (p *Policy) Times() Times { return p.times }
