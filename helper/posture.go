package helper

import "github.com/guardrails-provider/guardrails-provider/protocol"

// Posture is what the caller does where nobody could judge an action. Every
// value but [Open] does not proceed.
type Posture uint8

// The two postures.
const (
	Closed Posture = iota // do not act: the zero value
	Open                  // act unjudged: only for what is low in risk
)

// ReadsOpen is a posture by function for [WithPostureFunc]: reading, listing and
// examining files is open, everything else closed.
func ReadsOpen(a protocol.Action) Posture {
	if a.Resource.Kind != protocol.KindFile {
		return Closed
	}
	switch a.Operation {
	case protocol.OpRead, protocol.OpList, protocol.OpStat:
		return Open
	}
	return Closed
}

// opens asks the posture; a panic in its function is closed.
func (g *Guard) opens(a protocol.Action) (open bool) {
	defer func() {
		if recover() != nil {
			open = false
		}
	}()
	return g.posture(a) == Open
}
