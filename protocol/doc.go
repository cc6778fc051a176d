// Package protocol is the wire: every document, subject and code of the
// guardrails protocol, version 1, with their validation and their three
// encodings (plain JSON, CloudEvents structured, CloudEvents binary).
//
// The package promises that a document is read in exactly one way: member names
// are case-sensitive, a name that stands twice, text that is not UTF-8, and a
// value of the wrong type are errors that name the field; members that the
// protocol does not know are ignored. null and the empty string count as left out.
//
// It cannot see whether a document is true: who sent it, and whether the sender
// then does what it announced, is for the bus and for the caller.
//
// All functions are safe for concurrent use. The zero value of every type that
// stands for an answer refuses: the zero [Decision] does not allow.
package protocol

// Version is the protocolVersion of every document that this package reads and writes.
const Version = "1"

// Limits of the wire. A document beyond MaxDocument is refused with
// [CodeTooLarge], one beyond another limit with [CodeInvalidRequest].
const (
	// MaxDocument is the size of a message body, in bytes. It equals the
	// default max_payload of a NATS server.
	MaxDocument = 1 << 20
	// MaxRequestID is the length of a requestId, in characters (all ASCII).
	MaxRequestID = 128
	// MaxName is the length of a name (extension, agent, swarm, session, run,
	// task, tool, operation, …), in characters.
	MaxName = 256
	// MaxTargets is the number of targets of one check.
	MaxTargets = 1000
	// MaxCount is the greatest whole number that a document may carry: beyond it
	// JSON numbers are no longer exact in every language.
	MaxCount = 1<<53 - 1
	// MaxCost is the greatest costUsd, in US dollars.
	MaxCost = 1e12
)

// The time that a caller waits for its answer, in milliseconds, counted by the
// provider from receipt.
const (
	DefaultTimeoutMs = 1000
	MinTimeoutMs     = 1
	MaxTimeoutMs     = 600000
)
