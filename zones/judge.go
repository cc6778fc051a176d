package zones

import (
	"slices"

	"github.com/guardrails-provider/guardrails-provider/policy/opinion"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// Judge adds the zones' findings on a check to an opinion, in the order of the
// zones and then of the targets, and leaves what none of them granted. A path
// that can't be made out is an error finding, also where there are no zones.
func (s *Set) Judge(c *protocol.Check, into *opinion.Opinion) {
	j := judgement{set: s, into: into, around: s.around(&c.Context)}
	j.buffer = j.room[:0]
	op := opIndex(c.Action.Operation)
	for i := range c.Action.Targets {
		switch t := &c.Action.Targets[i]; c.Action.Resource.Kind {
		case protocol.KindFile:
			j.judgeFile(i, t, op)
		case protocol.KindProcess:
			j.judgeProcess(i, t)
		default: // zones have no opinion on other kinds
			into.Leave(i, "This action on a "+c.Action.Resource.Kind)
		}
	}
	j.finish()
}

// judgement is the work on one check.
type judgement struct {
	set    *Set
	into   *opinion.Opinion
	around surroundings
	found  []found
	seen   map[found]bool // the same, once there are many
	buffer []*zone
	room   [8]*zone
	names  [4]place
	meets  int // comparisons of patterns that were made
}

// found is a finding before it is put in order. Its Target points into a shared
// table, so that equal findings are equal.
type found struct {
	opinion.Finding
	order int
}

// manyFound is how many findings are searched one by one.
const manyFound = 32

// noZone is the order of findings that no zone made: after all zones.
const noZone = int(^uint(0) >> 1)

func (j *judgement) add(order, target int, rule string, v protocol.Verdict, reason string) {
	j.push(found{order: order, Finding: opinion.Finding{Finding: protocol.Finding{
		Policy: PolicyName, Rule: rule, Decision: v, Target: opinion.Target(target), Reason: reason,
	}}})
}

// push adds a finding that is not there yet: a path and its realPath often say
// the same.
func (j *judgement) push(f found) {
	switch {
	case len(j.found) < manyFound:
		if slices.Contains(j.found, f) {
			return
		}
	case j.seen == nil:
		j.seen = make(map[found]bool)
		for _, have := range j.found {
			j.seen[have] = true
		}
		fallthrough
	default:
		if j.seen[f] {
			return
		}
		j.seen[f] = true
	}
	j.found = append(j.found, f)
}

// invalid adds the error finding of a target that can't be made out.
func (j *judgement) invalid(target int, reason string) {
	j.fault(target, protocol.CodeInvalidRequest, reason)
}

// failed adds the error finding of a target that could not be judged.
func (j *judgement) failed(target int, reason string) {
	j.fault(target, protocol.CodePolicyFailed, reason)
}

func (j *judgement) fault(target int, code protocol.Code, reason string) {
	j.push(found{order: noZone, Finding: opinion.Finding{Code: code, Finding: protocol.Finding{
		Policy: PolicyName, Decision: protocol.VerdictError, Target: opinion.Target(target), Reason: reason,
	}}})
}

func (j *judgement) finish() {
	slices.SortStableFunc(j.found, func(a, b found) int {
		if a.order != b.order {
			if a.order < b.order {
				return -1
			}
			return 1
		}
		return *a.Target - *b.Target
	})
	for i := range j.found {
		j.into.Add(j.found[i].Finding)
	}
}
