package shell

import "strconv"

// Reading is what a piece of shell source, or an argument vector, could run.
type Reading struct {
	// Commands has every command that could run, in source order, whatever the
	// control flow.
	Commands []Command
	// Opaque has the places that can't be known. A reading with any is never
	// harmless, whatever its commands are.
	Opaque []Opaque
}

// Opaque is a place that can't be known from the text.
type Opaque struct {
	Reason     string // one clause of plain English
	Start, End int    // byte offsets in the source
}

// Command is one simple command.
type Command struct {
	// Words has the program first, without the assignments before it. It is
	// empty where nothing but redirections are carried out (`> file`, or a
	// redirection of a whole loop).
	Words []Word
	// Assigns has the assignments that could hold while the command runs: its
	// own NAME=value prefixes first, then those that the source makes anywhere
	// for the shell itself (`X=1;`, export, for, read, …).
	Assigns []Assign
	// Dir is where it runs.
	Dir Dir
	// Redirects has the files that the shell opens for it.
	Redirects []Redirect
	// Function says that the first word certainly calls a function of the same
	// source, whose body's commands are in the reading in their own right.
	Function bool
	// Start and End are byte offsets in the source.
	Start, End int
}

// Word is one word of a command. Brace expansion has been done: the words that
// come from one `{a,b}` share their offsets.
type Word struct {
	// Text is the word's value when Known, else its source text.
	Text string
	// Known says that the value is certain from the text alone, but for what
	// Glob, Tilde and ValueTilde say.
	Known bool
	// Glob says that the word has unquoted glob characters: Text is a pattern,
	// in which quoted ones are preceded by a backslash.
	Glob bool
	// Tilde says that the word begins with an unquoted ~ or ~/, which expands
	// to the home directory. A Text that begins with ~ and has no Tilde is a
	// name like any other.
	Tilde bool
	// ValueTilde says the same of what follows the = in a word NAME=~…, which
	// bash expands although it is no assignment.
	ValueTilde bool
	// Prefix is the certain beginning of the value of a word that isn't Known;
	// often empty.
	Prefix string
	// Single says of a word that isn't Known that it is exactly one word all
	// the same, because what is unknown is quoted. Otherwise it may become
	// none, one or several.
	Single bool
	// Start and End are byte offsets in the source; both 0 in an [Argv].
	Start, End int
}

// Assign is an assignment to a variable.
type Assign struct {
	Name       string
	Value      Word // not Known where the value isn't in the text
	Start, End int
}

// Dir is the directory in which a command runs, relative to the one in which
// the source starts. The zero value is that very directory.
type Dir struct {
	// Steps are literal arguments of cd, to be followed in order from the
	// start; a step may be absolute, or begin with ~ for the home directory (a
	// directory that is really named so is written ./~).
	Steps []string
	// Unknown says that the directory isn't certain; Steps is empty then.
	Unknown bool
	// Either, if not empty, has the Steps of all the directories that an
	// Unknown one could be: after `cd sub;`, which may fail, sub or the start.
	Either [][]string
}

// Redirect is a file that the shell opens for a command. Duplicated file
// descriptors, here-documents, here-strings and the standard streams' own
// devices (/dev/null, /dev/stdout, …) are none.
type Redirect struct {
	Target Word
	Access Access
}

// Access is what happens to a file. The zero value is the strictest in use.
type Access uint8

const (
	AccessWrite  Access = iota // created, changed, or its mode or owner changed
	AccessRead                 // its content is read
	AccessDelete               // removed, or moved away
	AccessList                 // only its name or metadata is read
)

// String returns the name of the access in lower case.
func (a Access) String() string {
	switch a {
	case AccessWrite:
		return "write"
	case AccessRead:
		return "read"
	case AccessDelete:
		return "delete"
	case AccessList:
		return "list"
	}
	return "access " + strconv.Itoa(int(a))
}
