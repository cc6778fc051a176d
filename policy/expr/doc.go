// Package expr is the CEL of a policy: guards, which say whether a transition
// may cover a call, and records, which keep something of a call in meta when the
// transition fires.
//
// An [Env] belongs to one net: it knows the types of meta, from the first values,
// and the places. An expression may name
//
//	input    the call's input object, map(string, dyn); whole numbers are int
//	tool     the name as which the call is judged, string
//	targets  list of objects with uri, path, realPath, command and argv
//	context  object with cwd, home, sessionId and runId
//	caller   object with extensionId, agentId and swarmId
//	meta     object with what records keep, typed by its first value
//	marking  map(string, int), from the net's places to their tokens
//
// and call the standard functions and macros of CEL, but for those of time, and
// covers(dir, path). Fields of objects that a check leaves out are empty, and
// has() is false for them.
//
// What the package promises: an expression is compiled and type-checked before it
// is ever used, with the position of each mistake; what it yields depends on its
// variables alone, the order of keys included; it ends inside [MaxCost], whatever
// it is; a missing field, a limit or a panic is an error and never true or false.
// Everything compiled is immutable and safe for concurrent use.
//
// What it can't see: CEL itself lets || and && decide where one side does, even if
// the other one fails, and so do exists and all. Types of what comes from the
// input are known only when the expression runs.
package expr
