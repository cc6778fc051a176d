// Package petri is Petri nets over tools: what must have happened before a tool
// may be called. It is pure: no I/O, no clock, no chance, no NATS. Nets are
// compiled once and immutable; firing gives a new marking and leaves the old one.
//
// A [Definition] is compiled to a [Net], nets are gathered in a [Set]. For a call,
// [Set.Plan] says what each net thinks of it and [Plan.Commit] what letting it
// through changes; [Set.Settle] says what its result changes. Where markings and
// pending entries are kept, and that a [Change] is stored as a whole or not at
// all, is the caller's business: by compare-and-set against the version that the
// markings were read from, no token is ever spent twice.
//
// [Net.Analyze] and [Set.Prove] explore what can happen, with limits by name; what
// they can't decide is "not proved". [Net.Mermaid], [Net.Dot] and [Net.SVG] draw.
//
// Everything exported is safe for concurrent use, as long as nobody changes the
// slices of a value that another goroutine reads.
//
// The package cannot see whether a call that was let through is made, nor what
// guards look at: proofs take it that guards pass and approvals are given, and
// begin with the initial markings and all nets of the set active.
package petri
