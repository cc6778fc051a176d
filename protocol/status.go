package protocol

import "strconv"

// StatusRequest asks for the state of one session, or of all. The empty body is
// a valid request for all.
type StatusRequest struct {
	SessionID string `json:"sessionId,omitzero"`
}

// DecodeStatusRequest reads and validates a request for the status.
func DecodeStatusRequest(doc []byte) (*StatusRequest, *Error) {
	if len(doc) == 0 {
		return new(StatusRequest), nil
	}
	return decode[StatusRequest](doc)
}

// Validate says what is wrong with the request; nil means that it may be sent.
func (r *StatusRequest) Validate() *Error { return checkNames(named{"sessionId", r.SessionID}) }

// Status is the state of sessions.
type Status struct {
	Sessions []SessionStatus `json:"sessions"`
}

// DecodeStatus reads and validates a status.
func DecodeStatus(doc []byte) (*Status, *Error) { return decode[Status](doc) }

// Validate says what is wrong with the status; nil means that it may be sent.
func (s *Status) Validate() *Error {
	for i := range s.Sessions {
		if s.Sessions[i].Session == "" {
			return missing("sessions[" + strconv.Itoa(i) + "].session")
		}
	}
	return nil
}

// SessionStatus is the state of one session, as data and as text.
type SessionStatus struct {
	Session string          `json:"session"`
	Nets    []NetStatus     `json:"nets"`
	Pending []PendingStatus `json:"pending"`
	Asks    []AskStatus     `json:"asks"`
	Text    string          `json:"text"`
}

// NetStatus is a net in a session: every place with its tokens, and the tools
// that could be used now.
type NetStatus struct {
	Name         string           `json:"name"`
	Scope        string           `json:"scope"`
	Active       bool             `json:"active"`
	Marking      map[string]Count `json:"marking"`
	EnabledTools []string         `json:"enabledTools"`
}

// PendingStatus is an allowed call whose result is still to come.
type PendingStatus struct {
	RequestID string `json:"requestId"`
	Tool      string `json:"tool,omitzero"`
}

// AskStatus is an ask without an answer yet.
type AskStatus struct {
	RequestID string `json:"requestId"`
	Prompt    string `json:"prompt,omitzero"`
}
