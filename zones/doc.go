// Package zones judges where things happen: the paths that an action touches,
// and the folders that commands run in.
//
// [Compile] makes a [Set] of zones, and [Set.Judge] adds what they find on a
// check to an opinion. The set is immutable and safe for concurrent use, and the
// same check always gets the same findings.
//
// What the package promises: a protected zone is outranked by nothing; a path
// that can't be made out is an error and a command that can't be made out at
// least an ask; what no zone granted is left, target by target; and the work on
// one check is bounded, whatever it holds.
//
// What it can't see: links, unless the check gives a realPath or the set resolves
// them; hard links and mounts; that two names are one file where the file system
// ignores case; what changes between the check and the act; and what a program
// opens that its command line does not name.
package zones
