package rules

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The words that are no names where they stand.
const (
	humanApproval = "human-approval"
	perSession    = "session"
)

// forms shows how a line goes on after its first word.
var forms = map[string]string{
	"map":     `map TOOL.FIELD PATTERN as NAME, such as: map bash.command "git push" as push`,
	"require": "require A before B, such as: require test before deploy",
	"block":   "block A, such as: block mkfs",
	"limit":   "limit A to N per session, or limit A to N per B, such as: limit push to 3 per session",
}

// meant has the first words that people take for those of the language.
var meant = map[string]string{
	"alias": "map", "rename": "map", "name": "map",
	"need": "require", "needs": "require", "must": "require", "requires": "require",
	"deny": "block", "forbid": "block", "never": "block", "ban": "block", "disallow": "block",
	"max": "limit", "cap": "limit", "at": "limit",
}

// timeUnits are not what a limit counts by: rules know no time.
var timeUnits = map[string]bool{
	"second": true, "seconds": true, "minute": true, "minutes": true,
	"hour": true, "hours": true, "day": true, "days": true, "week": true, "weeks": true,
}

// nearest returns the word of known that word is probably a misspelling of.
func nearest(word string, known ...string) string {
	lower := strings.ToLower(word)
	best, found := 3, ""
	for _, k := range known {
		if d := distance(lower, k); d < best && 2*d <= len(k) {
			best, found = d, k
		}
	}
	return found
}

// distance counts the bytes to put in, take out, change or swap with their
// neighbour between two words.
func distance(a, b string) int {
	if len(a) > 32 { // no keyword is near
		return len(a)
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}

// nameProblem says what is wrong with a tool's name, or "".
func nameProblem(name string) string {
	if utf8.RuneCountInString(name) > MaxName {
		return fmt.Sprintf("the name has more than %d characters; no tool's name is longer", MaxName)
	}
	if name == humanApproval {
		return humanApproval + " is a person's word and no tool; it stands in: require human-approval before B"
	}
	for i, r := range name {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
		case i > 0 && (unicode.IsMark(r) || strings.ContainsRune("-.:/@+", r)):
		case r == '"', r == '\'':
			return fmt.Sprintf("%s is not a tool's name; write it without quotes", name)
		case r == '*', r == '?':
			return fmt.Sprintf("%s is not a tool's name: rules take no patterns for names; write a line for each tool", name)
		case r == ',':
			return fmt.Sprintf("%s is not a tool's name; write a line for each tool", name)
		case i == 0:
			return fmt.Sprintf("%s is not a tool's name; a name begins with a letter, a digit or _", name)
		default:
			return fmt.Sprintf("%s is not a tool's name: %q can't stand in it; names have letters, digits and _ - . : / @ +", name, r)
		}
	}
	return ""
}
