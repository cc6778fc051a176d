// Package opinion is what every policy hands to the combination: findings, and
// which parts of the check nobody has granted yet. It stands apart so that the
// policies need not know the package that combines them.
package opinion

import "github.com/guardrails-provider/guardrails-provider/protocol"

// Finding is one finding, as it goes on the wire, with the code that the
// decision gets where this finding wins.
type Finding struct {
	protocol.Finding
	Code protocol.Code // empty: protocol.CodePolicy
}

// Opinion collects what policies say of one check. The zero value is ready to
// use and grants nothing. It is not safe for concurrent use.
type Opinion struct {
	Findings []Finding
	// Ungranted names what no zone has allowed: at most one line a target. While
	// it is not empty and no net grants the call, the policy's default decides.
	Ungranted []Ungranted
}

// Ungranted is a part of a check that nobody granted.
type Ungranted struct {
	Target int    // index of the target
	What   string // such as "writing /etc/passwd"
}

// Add appends a finding.
func (o *Opinion) Add(f Finding) { o.Findings = append(o.Findings, f) }

// Leave notes that nobody granted this part of a target. Only the first part of
// each target is kept: the default is one finding a target.
func (o *Opinion) Leave(target int, what string) {
	for i := range o.Ungranted {
		if o.Ungranted[i].Target == target {
			return
		}
	}
	o.Ungranted = append(o.Ungranted, Ungranted{target, what})
}

// indexes is what the Target pointers of findings point into, so that a finding
// costs no allocation. It is never written after init.
var indexes = func() (all [protocol.MaxTargets]int) {
	for i := range all {
		all[i] = i
	}
	return all
}()

// Target returns the index of a target in the form that a finding carries. The
// value it points to is shared and must not be changed.
func Target(i int) *int { return &indexes[i] }
