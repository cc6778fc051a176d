package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Decision answers a check. The zero value allows nothing.
type Decision struct {
	ProtocolVersion string            `json:"protocolVersion"`
	RequestID       string            `json:"requestId"` // empty only in an error to a message without one
	Decision        Verdict           `json:"decision"`
	Code            Code              `json:"code"`
	Reason          string            `json:"reason"`
	Findings        []Finding         `json:"findings"`
	Warnings        []string          `json:"warnings"`
	Ask             *Ask              `json:"ask,omitzero"` // with decision ask
	Replayed        bool              `json:"replayed,omitzero"`
	RequestHash     string            `json:"requestHash,omitzero"`
	Budget          map[string]Budget `json:"budget,omitzero"`
	Provider        Provider          `json:"provider"`
}

// Finding is one opinion on the check. Policy and Rule are opaque names. Target
// is the index of the target it is about; nil: the check as a whole. Readers take
// verdicts that they don't know: a block must stay one, whatever a later version
// says in its findings.
type Finding struct {
	Policy      string  `json:"policy"`
	Rule        string  `json:"rule,omitzero"`
	Decision    Verdict `json:"decision"`
	Target      *int    `json:"target,omitzero"`
	Reason      string  `json:"reason"`
	Remediation string  `json:"remediation,omitzero"`
}

// Ask is what a person is to be asked, and until when the answer counts.
type Ask struct {
	Prompt    string    `json:"prompt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// Budget is what a run used of one budget, of how much.
type Budget struct {
	Used  float64 `json:"used"`
	Limit float64 `json:"limit"`
}

// Provider says who decided: the service, its version, and the hash of the
// policy's contents.
type Provider struct {
	ID         string `json:"id"`
	Version    string `json:"version,omitzero"`
	PolicyHash string `json:"policyHash,omitzero"`
}

// Allows is the one predicate for "may proceed", of exactly one shape: the
// decision is the word allow.
func (d *Decision) Allows() bool { return d != nil && d.Decision == VerdictAllow }

// DecodeDecision reads and validates a decision. A caller ignores what gives an
// error here, except that an unknown verdict (Field "decision") for its own
// request is an answer that does not allow.
func DecodeDecision(doc []byte) (*Decision, *Error) { return decode[Decision](doc) }

// Validate says what is wrong with the decision; nil means that it may be sent.
// Codes that are not known are valid, so that later versions may add some.
func (d *Decision) Validate() *Error {
	if err := checkVersion(d.ProtocolVersion); err != nil {
		return err
	}
	if d.RequestID != "" || d.Decision != VerdictError {
		if err := checkRequestID(d.RequestID); err != nil {
			return err
		}
	}
	switch {
	case d.Decision == "":
		return missing("decision")
	case !d.Decision.Answers():
		return invalid("decision", "must be allow, block, ask or error, not %s", quote(string(d.Decision)))
	case d.Code == "":
		return missing("code")
	case d.Provider.ID == "":
		return missing("provider.id")
	case d.RequestHash == "" && d.Decision != VerdictError:
		return missing("requestHash")
	case d.Decision == VerdictAsk && d.Ask == nil:
		return missing("ask")
	}
	if err := checkHash("requestHash", d.RequestHash); err != nil {
		return err
	}
	if err := checkHash("provider.policyHash", d.Provider.PolicyHash); err != nil {
		return err
	}
	for i := range d.Findings {
		if err := d.Findings[i].validate(fmt.Sprintf("findings[%d].", i)); err != nil {
			return err
		}
	}
	if d.Ask != nil && d.Ask.Prompt == "" {
		return missing("ask.prompt")
	}
	if d.Ask != nil && noTime(d.Ask.ExpiresAt) {
		return missing("ask.expiresAt")
	}
	return nil
}

func (f *Finding) validate(at string) *Error {
	switch {
	case f.Policy == "":
		return missing(at + "policy")
	case f.Decision == "":
		return missing(at + "decision")
	case f.Target != nil && (*f.Target < 0 || *f.Target >= MaxTargets):
		return invalid(at+"target", "must be the index of a target, from 0 to %d", MaxTargets-1)
	}
	return nil
}

const hashPrefix = "sha256:"

// Hash returns the hash of a document as requestHash carries it: "sha256:" and
// the SHA-256 of the very bytes in lower-case hexadecimal.
func Hash(doc []byte) string {
	sum := sha256.Sum256(doc)
	var text [len(hashPrefix) + 2*sha256.Size]byte
	copy(text[:], hashPrefix)
	hex.Encode(text[len(hashPrefix):], sum[:])
	return string(text[:])
}

func checkHash(field, h string) *Error {
	if h == "" {
		return nil
	}
	digits, ok := strings.CutPrefix(h, hashPrefix)
	if !ok || len(digits) != 2*sha256.Size || strings.Trim(digits, "0123456789abcdef") != "" {
		return invalid(field, "must be sha256: and 64 hexadecimal digits, not %s", quote(h))
	}
	return nil
}
