// Package policy is what a provider decides by: a check goes in, a verdict comes
// out. It loads policy files, asks every policy for its opinion, and combines
// the opinions by strictness.
//
// A loaded [Policy] is immutable and safe for concurrent use. The same policy
// and the same check always give the same verdict. A policy that fails, by an
// error or a panic, makes an error finding and never a shorter list of findings.
//
// The package cannot see what the caller does after its answer, and it never
// runs anything: it judges what the check says.
package policy
