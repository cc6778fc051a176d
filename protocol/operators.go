package protocol

import (
	"strconv"
	"time"
)

// OperatorAsk is an action that waits for an operator; secrets are redacted.
type OperatorAsk struct {
	ProtocolVersion string    `json:"protocolVersion"`
	RequestID       string    `json:"requestId"`
	Scope           string    `json:"scope"`
	Prompt          string    `json:"prompt"`
	Findings        []Finding `json:"findings"`
	RequestHash     string    `json:"requestHash"`
	ExpiresAt       time.Time `json:"expiresAt"`
	Caller          Caller    `json:"caller"`
	Action          Action    `json:"action"`
	Context         Context   `json:"context,omitzero"`
}

func (a *OperatorAsk) leaveOut() { a.Action.Attributes.leaveOut() }

// DecodeOperatorAsk reads and validates an operator's ask.
func DecodeOperatorAsk(doc []byte) (*OperatorAsk, *Error) { return decode[OperatorAsk](doc) }

// Validate says what is wrong with the ask; nil means that it may be sent.
func (a *OperatorAsk) Validate() *Error {
	if err := checkEnvelope(a.ProtocolVersion, a.RequestID, a.Caller, a.Context); err != nil {
		return err
	}
	if a.Caller.ExtensionID == "" {
		return missing("caller.extensionId")
	}
	if err := checkScopeField(a.Scope); err != nil {
		return err
	}
	switch {
	case a.Prompt == "":
		return missing("prompt")
	case a.RequestHash == "":
		return missing("requestHash")
	case noTime(a.ExpiresAt):
		return missing("expiresAt")
	}
	if err := checkHash("requestHash", a.RequestHash); err != nil {
		return err
	}
	for i := range a.Findings {
		if err := a.Findings[i].validate("findings[" + strconv.Itoa(i) + "]."); err != nil {
			return err
		}
	}
	return a.Action.validate()
}

// OperatorApproval is an operator's answer: an approval with the scope of the check.
type OperatorApproval struct {
	ProtocolVersion string `json:"protocolVersion"`
	RequestID       string `json:"requestId"`
	Scope           string `json:"scope,omitzero"`
	Approved        bool   `json:"approved"`
	Approver        string `json:"approver,omitzero"`
	Reason          string `json:"reason,omitzero"`
}

func (*OperatorApproval) requiredMember() string { return "approved" }

// DecodeOperatorApproval reads and validates an operator's answer.
func DecodeOperatorApproval(doc []byte) (*OperatorApproval, *Error) {
	return decode[OperatorApproval](doc)
}

// Validate says what is wrong with the answer; nil means that it may be sent.
func (a *OperatorApproval) Validate() *Error {
	if err := checkEnvelope(a.ProtocolVersion, a.RequestID, Caller{}, Context{}); err != nil {
		return err
	}
	if err := checkScopeField(a.Scope); err != nil {
		return err
	}
	return checkNames(named{"approver", a.Approver})
}

// OperatorNets activates or deactivates a net for a session. It carries no protocolVersion.
type OperatorNets struct {
	SessionID string `json:"sessionId"`
	Net       string `json:"net"`
	Active    bool   `json:"active"`
}

func (*OperatorNets) requiredMember() string { return "active" }

// DecodeOperatorNets reads and validates the document.
func DecodeOperatorNets(doc []byte) (*OperatorNets, *Error) { return decode[OperatorNets](doc) }

// Validate says what is wrong with the document; nil means that it may be sent.
func (n *OperatorNets) Validate() *Error {
	switch {
	case n.SessionID == "":
		return missing("sessionId")
	case n.Net == "":
		return missing("net")
	}
	return checkNames(named{"sessionId", n.SessionID}, named{"net", n.Net})
}

func checkScopeField(scope string) *Error {
	if err := CheckScope(scope); err != nil {
		return invalid("scope", "%v", err)
	}
	return nil
}
