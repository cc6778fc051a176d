package rules

import (
	"regexp/syntax"
	"strings"
)

// maxLiterals is how many literals stand for one regex; where a text must have
// one of more than these, the regex is simply tried.
const maxLiterals = 16

// literal is a text that a regex needs. With fold it is lower case, of ASCII
// only, and fits in any case.
type literal struct {
	text string
	fold bool
}

// literals returns texts of which at least one is in everything that the regex
// fits; nil: nothing is known. Trying them first costs a small part of a regex,
// and most regexes of a tool fit few of its calls.
func literals(regex string) []literal {
	parsed, err := syntax.Parse(regex, syntax.Perl)
	if err != nil {
		return nil
	}
	return needed(parsed)
}

func needed(re *syntax.Regexp) []literal {
	switch re.Op {
	case syntax.OpLiteral:
		l := literal{text: string(re.Rune)}
		if re.Flags&syntax.FoldCase != 0 {
			l = literal{strings.ToLower(l.text), true}
			if !isASCII(l.text) {
				return nil
			}
		}
		return []literal{l}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []literal
		for _, sub := range re.Sub {
			if n := needed(sub); shortest(n) > shortest(best) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range re.Sub {
			n := needed(sub)
			if n == nil || len(all)+len(n) > maxLiterals {
				return nil
			}
			all = append(all, n...)
		}
		return all
	}
	return nil
}

// shortest measures how much a set of literals tells.
func shortest(all []literal) int {
	if all == nil {
		return -1
	}
	n := len(all[0].text)
	for _, l := range all {
		n = min(n, len(l.text))
	}
	return n
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// haystack is a text in which many patterns are looked for.
type haystack struct {
	text  string
	lower string // once it was needed
	state uint8  // of lower: not asked for, there, or not to be had
}

const (
	lowerUnknown uint8 = iota
	lowerReady
	lowerNone
)

// mayFit says whether the text has one of the literals; true where that can't
// be told, as with letters beyond ASCII, some of which fold to ASCII.
func (h *haystack) mayFit(needs []literal) bool {
	if needs == nil {
		return true
	}
	for _, l := range needs {
		if !l.fold {
			if strings.Contains(h.text, l.text) {
				return true
			}
			continue
		}
		if h.state == lowerUnknown {
			h.state = lowerNone
			if isASCII(h.text) {
				h.lower, h.state = strings.ToLower(h.text), lowerReady
			}
		}
		if h.state == lowerNone || strings.Contains(h.lower, l.text) {
			return true
		}
	}
	return false
}
