package programs

import (
	"regexp"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// A codeCheck says of the code that is the first operand of a program, or the
// value of one of its options, whether it certainly runs no command.
type codeCheck func(code string) bool

// codeChecks are the checks that an entry can name.
var codeChecks = map[string]codeCheck{"awk": harmlessAwk, "sed": harmlessSed}

// harmlessAwk says whether an awk program can't start anything nor open a
// file: that takes system(), a pipe, getline, a > behind a print, or what gawk
// writes with an @ (extensions, includes, calls of a function by a name that is
// a value).
func harmlessAwk(code string) bool {
	_, printed, _ := strings.Cut(code, "print")
	return !strings.Contains(code, "system") && !strings.Contains(code, "getline") && !strings.Contains(code, "\\\n") && !strings.ContainsAny(code, "|@") && !strings.Contains(printed, ">")
}

// sedCommand is a sed command that can't start anything or open a file: an
// optional address, then p, d, q, =, n, N, h, H, g, G, x or a substitution
// with harmless flags.
var sedCommand = regexp.MustCompile(`^(?:(?:[0-9]+|\$|/(?:[^/\\\n]|\\[^\n])*/)(?:,(?:[+~]?[0-9]+|\$|/(?:[^/\\\n]|\\[^\n])*/))?!?)?[ ]*` +
	`(?:[pdqQ=nNhHgGxDP]|` +
	`s/(?:[^/\\\n]|\\[^\n])*/(?:[^/\\\n]|\\[^\n])*/[gpiI0-9]*|` +
	`s\|(?:[^|\\\n]|\\[^\n])*\|(?:[^|\\\n]|\\[^\n])*\|[gpiI0-9]*|` +
	`s#(?:[^#\\\n]|\\[^\n])*#(?:[^#\\\n]|\\[^\n])*#[gpiI0-9]*|` +
	`s,(?:[^,\\\n]|\\[^\n])*,(?:[^,\\\n]|\\[^\n])*,[gpiI0-9]*|` +
	`s@(?:[^@\\\n]|\\[^\n])*@(?:[^@\\\n]|\\[^\n])*@[gpiI0-9]*)[ ]*$`)

// harmlessSed says whether a sed script consists of commands that start
// nothing. GNU sed has a command and a flag of the substitution, both e, that
// run their text. A bracket may hide a delimiter, so that what has one next to
// a bracket isn't understood.
func harmlessSed(code string) bool {
	if sedCommand.MatchString(code) {
		return !hidesDelimiter(code)
	}
	// Commands are separated by ; where a substitution has none inside.
	parts := strings.Split(code, ";")
	for _, part := range parts {
		if !sedCommand.MatchString(strings.TrimSpace(part)) || hidesDelimiter(part) {
			return false
		}
	}
	return len(parts) > 1
}

// hidesDelimiter says whether a bracket expression has a character in it that
// may be read as a delimiter.
func hidesDelimiter(code string) bool {
	for {
		_, rest, ok := strings.Cut(code, "[")
		if !ok {
			return false
		}
		inside, after, ok := strings.Cut(rest, "]")
		if !ok || strings.ContainsAny(inside, `/|#,@;\`) {
			return true
		}
		code = after
	}
}

// codeRuns says whether the code that a program is given may run a command.
func (u *usage) codeRuns(check codeCheck) bool {
	if u.unread || u.unsure {
		return true
	}
	given, fromOption := []shell.Word{}, false
	for _, f := range u.flags {
		for _, o := range f.options {
			if !o.first {
				continue
			}
			fromOption = true
			if o.role.file || f.value == nil {
				return true // code in a file
			}
			given = append(given, *f.value)
		}
	}
	if !fromOption && len(u.operands) > 0 {
		given = append(given, u.operands[0])
	}
	for _, w := range given {
		if !w.Known || w.Glob || !check(w.Text) {
			return true
		}
	}
	return false
}
