package protocol

// Verdict is what a decision says, or a finding within it. The zero value is no
// verdict at all and, like any value that is not known, allows nothing.
type Verdict string

// The four verdicts of a decision, and VerdictWarn, which only a finding may
// have: an allow with a line under warnings.
const (
	VerdictAllow Verdict = "allow"
	VerdictWarn  Verdict = "warn"
	VerdictAsk   Verdict = "ask"
	VerdictError Verdict = "error"
	VerdictBlock Verdict = "block"
)

// Answers says whether a decision may have this verdict.
func (v Verdict) Answers() bool {
	switch v {
	case VerdictAllow, VerdictAsk, VerdictError, VerdictBlock:
		return true
	}
	return false
}

// Known says whether a finding may have this verdict.
func (v Verdict) Known() bool { return v == VerdictWarn || v.Answers() }

// Stricter says whether v restricts more than w: block > error > ask > warn >
// allow. What is not known is as strict as block.
func (v Verdict) Stricter(w Verdict) bool { return v.rank() > w.rank() }

func (v Verdict) rank() int {
	switch v {
	case VerdictAllow:
		return 0
	case VerdictWarn:
		return 1
	case VerdictAsk:
		return 2
	case VerdictError:
		return 3
	}
	return 4
}

// Code says why a decision came out as it did.
type Code string

// Codes of allow, block and ask.
const (
	CodePolicy           Code = "policy"
	CodeDefault          Code = "default"
	CodeApproved         Code = "approved"
	CodeRejected         Code = "rejected"
	CodeApprovalTimeout  Code = "approval-timeout"
	CodeApprovalRequired Code = "approval-required"
	CodeStateChanged     Code = "state-changed"
	CodeBudget           Code = "budget"
	CodeShadow           Code = "shadow"
)

// Codes of error.
const (
	CodeInvalidRequest       Code = "invalid-request"
	CodeUnsupportedVersion   Code = "unsupported-version"
	CodeUnsupportedKind      Code = "unsupported-kind"
	CodeUnsupportedOperation Code = "unsupported-operation"
	CodeTooLarge             Code = "too-large"
	CodeRequestIDReused      Code = "request-id-reused"
	CodeIdentityMismatch     Code = "identity-mismatch"
	CodeUnknownRequest       Code = "unknown-request"
	CodePolicyFailed         Code = "policy-failed"
	CodeOverloaded           Code = "overloaded"
	CodePolicyUnavailable    Code = "policy-unavailable"
	CodeStateUnavailable     Code = "state-unavailable"
	CodeInternal             Code = "internal"
)

// ErrorCodes lists every code of an error decision.
func ErrorCodes() []Code {
	return []Code{
		CodeInvalidRequest, CodeUnsupportedVersion, CodeUnsupportedKind, CodeUnsupportedOperation,
		CodeTooLarge, CodeRequestIDReused, CodeIdentityMismatch, CodeUnknownRequest, CodePolicyFailed,
		CodeOverloaded, CodePolicyUnavailable, CodeStateUnavailable, CodeInternal,
	}
}

// NobodyJudged says whether an error with this code means that nobody could
// judge the check, so that the caller's posture decides. Every other error is a
// refusal whatever the posture, codes that are not known included: crafted
// input would be a way through otherwise.
func (c Code) NobodyJudged() bool {
	switch c {
	case CodeOverloaded, CodePolicyUnavailable, CodeStateUnavailable,
		CodeUnsupportedVersion, CodeUnsupportedKind, CodeUnsupportedOperation:
		return true
	}
	return false
}
