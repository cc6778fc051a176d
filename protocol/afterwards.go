package protocol

// Approval is a user's answer to an ask. Only an explicit true approves.
type Approval struct {
	ProtocolVersion string  `json:"protocolVersion"`
	RequestID       string  `json:"requestId"`
	Approved        bool    `json:"approved"`
	Approver        string  `json:"approver,omitzero"`
	Reason          string  `json:"reason,omitzero"`
	Caller          Caller  `json:"caller,omitzero"`  // as in the check, to spare the provider a look-up
	Context         Context `json:"context,omitzero"` // likewise
}

func (*Approval) requiredMember() string { return "approved" }

// DecodeApproval reads and validates an approval.
func DecodeApproval(doc []byte) (*Approval, *Error) { return decode[Approval](doc) }

// Validate says what is wrong with the approval; nil means that it may be sent.
func (a *Approval) Validate() *Error {
	if err := checkEnvelope(a.ProtocolVersion, a.RequestID, a.Caller, a.Context); err != nil {
		return err
	}
	return checkNames(named{"approver", a.Approver})
}

// Outcome says how an allowed action ended.
type Outcome string

// The outcomes of an action.
const (
	OutcomeSuccess   Outcome = "success"
	OutcomeFailure   Outcome = "failure"
	OutcomeCancelled Outcome = "cancelled"
)

// Result says how an allowed action ended and what it used.
type Result struct {
	ProtocolVersion string  `json:"protocolVersion"`
	RequestID       string  `json:"requestId"`
	Outcome         Outcome `json:"outcome"`
	Usage           Usage   `json:"usage,omitzero"`
	Caller          Caller  `json:"caller,omitzero"`
	Context         Context `json:"context,omitzero"`
}

// Usage is what an action used.
type Usage struct {
	DurationMs   Count   `json:"durationMs,omitzero"`
	Tokens       Count   `json:"tokens,omitzero"`
	CostUSD      float64 `json:"costUsd,omitzero"`
	LinesAdded   Count   `json:"linesAdded,omitzero"`
	LinesRemoved Count   `json:"linesRemoved,omitzero"`
	ReworkLines  Count   `json:"reworkLines,omitzero"`
}

// DecodeResult reads and validates a result.
func DecodeResult(doc []byte) (*Result, *Error) { return decode[Result](doc) }

// Validate says what is wrong with the result; nil means that it may be sent.
func (r *Result) Validate() *Error {
	if err := checkEnvelope(r.ProtocolVersion, r.RequestID, r.Caller, r.Context); err != nil {
		return err
	}
	switch r.Outcome {
	case OutcomeSuccess, OutcomeFailure, OutcomeCancelled:
	case "":
		return missing("outcome")
	default:
		return invalid("outcome", "must be success, failure or cancelled, not %s", quote(string(r.Outcome)))
	}
	return r.Usage.validate()
}

func (u *Usage) validate() *Error {
	for _, n := range [...]struct {
		field string
		n     Count
	}{
		{"durationMs", u.DurationMs}, {"tokens", u.Tokens}, {"linesAdded", u.LinesAdded},
		{"linesRemoved", u.LinesRemoved}, {"reworkLines", u.ReworkLines},
	} {
		if err := checkCount("usage.", n.field, n.n); err != nil {
			return err
		}
	}
	return checkCost("usage.", u.CostUSD)
}

// RunEvent is what happened to a run.
type RunEvent string

// The events of a run.
const (
	RunStart     RunEvent = "start"
	RunFinish    RunEvent = "finish"
	RunViolation RunEvent = "violation" // the caller itself noticed one
)

// Run says that a run begins or ends, or that its caller noticed a violation.
type Run struct {
	ProtocolVersion string      `json:"protocolVersion"`
	RunID           string      `json:"runId"`
	Event           RunEvent    `json:"event"`
	TaskID          string      `json:"taskId,omitzero"`
	Intent          string      `json:"intent,omitzero"`
	TestResults     TestResults `json:"testResults,omitzero"`
	RuleID          string      `json:"ruleId,omitzero"`      // of a violation
	Description     string      `json:"description,omitzero"` // of a violation
	AutoCorrected   bool        `json:"autoCorrected,omitzero"`
	Caller          Caller      `json:"caller,omitzero"`
	Context         Context     `json:"context,omitzero"`
}

// TestResults is how the tests of a run came out.
type TestResults struct {
	Ran     bool  `json:"ran,omitzero"`
	Passed  Count `json:"passed,omitzero"`
	Failed  Count `json:"failed,omitzero"`
	Skipped Count `json:"skipped,omitzero"`
}

// DecodeRun reads and validates a run document.
func DecodeRun(doc []byte) (*Run, *Error) { return decode[Run](doc) }

// Validate says what is wrong with the document; nil means that it may be sent.
func (r *Run) Validate() *Error {
	if err := checkVersion(r.ProtocolVersion); err != nil {
		return err
	}
	if r.RunID == "" {
		return missing("runId")
	}
	switch r.Event {
	case RunStart, RunFinish:
	case RunViolation:
		if r.RuleID == "" {
			return missing("ruleId")
		}
	case "":
		return missing("event")
	default:
		return invalid("event", "must be start, finish or violation, not %s", quote(string(r.Event)))
	}
	for _, n := range [...]struct {
		field string
		n     Count
	}{{"passed", r.TestResults.Passed}, {"failed", r.TestResults.Failed}, {"skipped", r.TestResults.Skipped}} {
		if err := checkCount("testResults.", n.field, n.n); err != nil {
			return err
		}
	}
	if err := checkNames(named{"runId", r.RunID}, named{"taskId", r.TaskID}, named{"ruleId", r.RuleID}); err != nil {
		return err
	}
	if err := r.Caller.validate("caller", false); err != nil {
		return err
	}
	return r.Context.validate()
}

// checkEnvelope checks what approvals and results have in common.
func checkEnvelope(version, requestID string, caller Caller, context Context) *Error {
	if err := checkVersion(version); err != nil {
		return err
	}
	if err := checkRequestID(requestID); err != nil {
		return err
	}
	if err := caller.validate("caller", false); err != nil {
		return err
	}
	return context.validate()
}
