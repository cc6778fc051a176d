package shell

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The limits of a reading. Beyond one of them a reading gets an [Opaque] that
// covers the whole source, besides whatever was derived before.
const (
	// MaxSource is the longest source, and the longest argument vector, in
	// bytes. The parser's recursion has no limit of its own and a stack that
	// overflows can't be recovered from: measured at this size, the most
	// recursive sources (`((((…`) need under 256 MB of the 1 GB allowed.
	MaxSource = 64 << 10
	// MaxNesting is how deep brackets may stand in one another, as counted
	// before parsing, and compound commands and substitutions after it.
	MaxNesting = 100
	// MaxBrackets is how many opening brackets and backquotes the source may
	// have. It bounds the nesting where quotes mislead the count of MaxNesting.
	MaxBrackets = 4096
	// MaxCommands is how many commands a reading has.
	MaxCommands = 1000
	// MaxWords is how many words the commands of a reading have together, those
	// that brace expansion tries included.
	MaxWords = 8192
	// MaxBraceWords is how many words one brace expansion makes.
	MaxBraceWords = 1024
	// MaxAssigns is how many assignments are followed.
	MaxAssigns = 256
	// MaxDirs is how many directories are kept apart for one command; with
	// more, its directory is unknown.
	MaxDirs = 4
)

// unreadable says why source must not be given to the parser, or "".
func unreadable(source string) string {
	switch {
	case len(source) > MaxSource:
		return fmt.Sprintf("the source is longer than %d bytes", MaxSource)
	case strings.IndexByte(source, 0) >= 0:
		return "the source has a NUL byte"
	case strings.IndexByte(source, '\r') >= 0:
		// To bash it is a character of the word; to the parser, a space.
		return "the source has a carriage return"
	case !utf8.ValidString(source):
		return "the source is not valid UTF-8"
	}
	depth, total := 0, 0
	for i := range len(source) {
		switch source[i] {
		case '(', '{', '[':
			depth++
			total++
		case '`':
			total++
		case ')', '}', ']':
			// A closing bracket in a comment or quotes may close nothing.
			depth = max(depth-1, 0)
		}
		if depth > MaxNesting {
			return fmt.Sprintf("brackets are nested deeper than %d", MaxNesting)
		}
		if total > MaxBrackets {
			return fmt.Sprintf("the source has more than %d brackets", MaxBrackets)
		}
	}
	return ""
}
