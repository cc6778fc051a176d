// Package shell reads shell source, without ever running it, and derives the
// commands that it could run.
//
// [Read] takes source as bash would; [Argv] takes words that reach a program
// with no shell in between. Both return a [Reading]: the commands, wherever
// they stand (lists, pipes, groups, subshells, conditionals, loops, function
// bodies, command and process substitutions, here-documents), and the places
// that are opaque: that could not be known from the text.
//
// What the package promises:
//
//   - A command that bash could run because of the source itself is either in
//     [Reading.Commands] or covered by an entry of [Reading.Opaque].
//   - A word that is [Word.Known] has that value, whatever the machine.
//   - Comments, quoted text and the literal text of here-documents are never
//     commands.
//   - No input makes it panic or use more than bounded work; see the limits.
//
// What it can't see:
//
//   - What a program does with its words: that sudo, eval, xargs, sh or an
//     interpreter start something is the knowledge of package programs.
//   - The state that the shell starts with: its PATH, CDPATH, IFS, aliases,
//     exported functions and options, and what links in the file system mean.
//   - The values of variables. In this version a word with an expansion is
//     never known, even when the text sets the variable.
//   - Arithmetic that meets a value from outside the source: bash evaluates an
//     array index inside such a value, command substitutions included. Literal
//     text that looks made for it is opaque.
//   - Shells that read the same text differently from bash.
//
// All functions are pure and safe for concurrent use. None returns an error:
// what goes wrong is an [Opaque] of the reading.
package shell
