// Package programs is what is known about programs, as data: which options
// take a value, which forms only read, what happens to the files among the
// operands, and which programs start others.
//
// [Describe] tells what is known of one derived command. [ParsePattern] makes
// a pattern of words, as policies write them, and a [Pattern] is matched
// against a command with the same knowledge: `git push` is found in
// `git -C x push origin`, and not in `git stash push`. [Steering] names the
// environment variables that change what a program does or runs.
//
// [Unwrap] and [RunsInstalled] find the command that another runs, where that
// is plain to see.
//
// The data is in table/*.yaml, whose head comments say how an entry is
// written; a new entry needs no Go. It is decoded strictly, once, and a test
// validates all of it; it never changes afterwards, so that everything here is
// safe for concurrent use.
//
// What the package promises: [Description.Safe] is true only for a program of
// the table, called by its bare name or from a folder of system programs, all
// of whose options were read and are listed as harmless, and which then only
// reads. Everything else is not safe. Abbreviated long options are understood
// for matching, but never safe.
//
// What it can't see: aliases and functions of the shell, what the machine has
// installed under a name, and configuration files (a pager, an external diff,
// a hook) that make a reading program run another. Commands inside wrappers,
// shells and interpreters are not followed in this version: such a command is
// opaque.
package programs
