package policy

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/policy/opinion"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// Judgement is what a policy makes of a check. The zero value allows nothing.
type Judgement struct {
	Decision protocol.Verdict
	Code     protocol.Code
	Reason   string
	Findings []protocol.Finding
	Warnings []string
	// Faults are panics of policies, for the log. Each has its error finding.
	Faults []error
}

// Decide asks every policy and combines what they find. It never panics. The
// check must be valid.
func (p *Policy) Decide(c *protocol.Check) Judgement {
	if p.zones == nil {
		return refuse(protocol.CodePolicyUnavailable, "no policy is loaded")
	}
	switch kind := c.Action.Resource.Kind; kind {
	case protocol.KindFile, protocol.KindProcess:
	default:
		if !p.kinds[kind] {
			return refuse(protocol.CodeUnsupportedKind, "action.resource.kind: this provider's policy does not judge "+kind)
		}
	}
	var v Judgement
	var o opinion.Opinion
	p.ask(&v, &o, "zones", func() { p.zones.Judge(c, &o) })
	for _, u := range o.Ungranted {
		o.Add(p.unclaimed(u))
	}
	v.combine(o.Findings)
	p.settle(&v, c.Options.Interactive)
	return v
}

// ask runs one policy. What it had found before a panic stands, and the panic is
// one more finding.
func (p *Policy) ask(v *Judgement, o *opinion.Opinion, name string, judge func()) {
	defer func() {
		if cause := recover(); cause != nil {
			v.Faults = append(v.Faults, fmt.Errorf("policy %s: panic: %v\n%s", name, cause, debug.Stack()))
			o.Add(opinion.Finding{Code: protocol.CodePolicyFailed, Finding: protocol.Finding{
				Policy: name, Decision: protocol.VerdictError, Reason: "The policy could not be evaluated.",
			}})
		}
	}()
	judge()
}

// defaultName is the policy of the finding that the policy's default makes.
const defaultName = "default"

func (p *Policy) unclaimed(u opinion.Ungranted) opinion.Finding {
	reason := u.What + " is covered by no policy; the default is to "
	switch p.fallback {
	case protocol.VerdictAllow:
		reason += "allow it."
	case protocol.VerdictBlock:
		reason += "block it."
	default:
		reason += "ask."
	}
	return opinion.Finding{Code: protocol.CodeDefault, Finding: protocol.Finding{
		Policy: defaultName, Decision: p.fallback, Target: opinion.Target(u.Target), Reason: reason,
	}}
}

// combine takes the strictest finding, the first of equals. No finding at all is
// no grant: a valid check has a target, and every target is granted or left.
func (v *Judgement) combine(findings []opinion.Finding) {
	if len(findings) == 0 {
		*v = Judgement{Decision: protocol.VerdictError, Code: protocol.CodePolicyFailed,
			Reason: "No policy had an opinion.", Faults: v.Faults}
		return
	}
	first := 0
	for i := range findings {
		f := &findings[i]
		if !f.Decision.Known() { // a policy made a finding without a verdict
			f.Decision, f.Code = protocol.VerdictError, protocol.CodePolicyFailed
		}
		if f.Decision.Stricter(findings[first].Decision) {
			first = i
		}
	}
	winner := &findings[first]
	v.Decision, v.Code, v.Reason = winner.Decision, winner.Code, winner.Reason
	if v.Code == "" {
		v.Code = protocol.CodePolicy
	}
	switch v.Decision {
	case protocol.VerdictWarn:
		v.Decision = protocol.VerdictAllow
	case protocol.VerdictAsk:
		v.Reason = askReason(findings)
	}
	v.list(findings)
}

// Limits on what a decision carries, so that it fits into a message however
// many commands a check holds.
const (
	maxFindings    = 2 * protocol.MaxTargets
	maxReasons     = 320 << 10 // bytes of all findings' reasons
	maxAskedByName = 20        // reasons in one prompt
)

// list takes the findings over, in their order. Where they are too many it takes
// the strictest, and a warning counts the rest, whose verdicts have counted.
func (v *Judgement) list(findings []opinion.Finding) {
	size := 0
	for i := range findings {
		size += len(findings[i].Reason)
	}
	if len(findings) > maxFindings || size > maxReasons {
		findings = v.shorten(findings)
	}
	v.Findings = make([]protocol.Finding, len(findings))
	for i := range findings {
		v.Findings[i] = findings[i].Finding
		if findings[i].Decision == protocol.VerdictWarn {
			v.Warnings = append(v.Warnings, findings[i].Reason)
		}
	}
}

func (v *Judgement) shorten(findings []opinion.Finding) []opinion.Finding {
	order := make([]int, len(findings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := findings[a].Decision, findings[b].Decision; {
		case x.Stricter(y):
			return -1
		case y.Stricter(x):
			return 1
		}
		return 0
	})
	size, n := 0, 0
	for n < len(order) && n < maxFindings {
		if size += len(findings[order[n]].Reason); size > maxReasons {
			break
		}
		n++
	}
	kept := order[:n]
	slices.Sort(kept)
	short := make([]opinion.Finding, n)
	for i, k := range kept {
		short[i] = findings[k]
	}
	v.Warnings = append(v.Warnings, fmt.Sprintf("%d findings that are no stricter are not listed.", len(findings)-n))
	return short
}

// askReason joins what one ask covers; beyond a number that people read it counts.
func askReason(findings []opinion.Finding) string {
	var reasons []string
	asks := 0
	for i := range findings {
		if findings[i].Decision != protocol.VerdictAsk {
			continue
		}
		if asks++; asks <= maxAskedByName {
			reasons = append(reasons, findings[i].Reason)
		}
	}
	if asks > maxAskedByName {
		reasons = append(reasons, fmt.Sprintf("And %d more: see the findings.", asks-maxAskedByName))
	}
	return strings.Join(reasons, "\n")
}

// settle turns the combined decision into the answer: an ask that has nobody to
// ask is a block, and in shadow mode all but errors is allowed.
func (p *Policy) settle(v *Judgement, interactive bool) {
	if p.mode == ModeShadow {
		switch v.Decision {
		case protocol.VerdictAsk, protocol.VerdictBlock:
			v.Reason = "Shadow mode: would " + string(v.Decision) + ". " + v.Reason
			v.Decision, v.Code = protocol.VerdictAllow, protocol.CodeShadow
		}
		return
	}
	if v.Decision == protocol.VerdictAsk && !interactive {
		v.Decision, v.Code = protocol.VerdictBlock, protocol.CodeApprovalRequired
		v.Reason += "\nNobody can be asked: the check is not interactive."
	}
}

func refuse(code protocol.Code, reason string) Judgement {
	return Judgement{Decision: protocol.VerdictError, Code: code, Reason: reason}
}
