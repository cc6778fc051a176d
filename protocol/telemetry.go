package protocol

import "github.com/go-json-experiment/json/jsontext"

// Blocked is the telemetry of a refusal, in the shape that other tools know.
type Blocked struct {
	Feature    string         `json:"feature"` // policies or permissionGate
	ToolName   string         `json:"toolName"`
	Input      jsontext.Value `json:"input"`
	Reason     string         `json:"reason"`
	UserDenied bool           `json:"userDenied,omitzero"`
}

// DecodeBlocked reads and validates the telemetry of a refusal.
func DecodeBlocked(doc []byte) (*Blocked, *Error) { return decode[Blocked](doc) }

// Validate says what is wrong with the document; nil means that it may be sent.
func (b *Blocked) Validate() *Error {
	switch {
	case b.Feature == "":
		return missing("feature")
	case b.Feature != "policies" && b.Feature != "permissionGate":
		return invalid("feature", "must be policies or permissionGate, not %s", quote(b.Feature))
	case b.ToolName == "":
		return missing("toolName")
	case b.Input == nil || b.Input.Kind() == 'n':
		return missing("input")
	case b.Reason == "":
		return missing("reason")
	}
	return nil
}

// Dangerous is the telemetry of a dangerous command, in the shape that other tools know.
type Dangerous struct {
	Command     string `json:"command"`
	Description string `json:"description"`
	Pattern     string `json:"pattern"`
}

// DecodeDangerous reads and validates the telemetry of a dangerous command.
func DecodeDangerous(doc []byte) (*Dangerous, *Error) { return decode[Dangerous](doc) }

// Validate says what is wrong with the document; nil means that it may be sent.
func (d *Dangerous) Validate() *Error {
	switch {
	case d.Command == "":
		return missing("command")
	case d.Description == "":
		return missing("description")
	case d.Pattern == "":
		return missing("pattern")
	}
	return nil
}
