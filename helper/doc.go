// Package helper is the caller's side of the guardrails protocol: a program that
// is about to act asks a [Guard], and acts where [Outcome.MayProceed] says so. It
// is optional; the protocol is plain JSON on NATS and needs no library.
//
// The package promises that a check proceeds on exactly three things: a decision
// "allow" with the check's own requestId, protocol version 1 and the hash of the
// very bytes that were sent; a user's timely yes to a decision "ask"; or, where
// nobody could judge, the caller's own posture "open". The Outcome says which of
// them it was. Every zero value refuses: [Closed] is the zero [Posture], and the
// zero [Outcome] may not proceed.
//
// It promises to answer in time, whatever the bus does, and to send no check
// that has already been answered by posture: nothing is sent, or left queued for
// a later connection, while the connection is down. nats.go cannot publish "only
// if connected" in one step; an owner who wants the last microseconds of that
// closed too connects with nats.ReconnectBufSize(-1).
//
// It cannot see whether the program then does what it announced, and who really
// sent a decision: that only the provider may publish decisions is for the
// permissions of the bus. It never touches the handlers of the connection.
package helper
