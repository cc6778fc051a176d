package petri

import (
	"fmt"
	"strconv"
	"strings"
)

// AssertionKind is the form of an Assertion.
type AssertionKind uint8

const (
	NeverKind      AssertionKind = iota // never X
	BeforeKind                          // never X before Y
	AfterKind                           // never X after Y
	UnapprovedKind                      // never X without approval
	AtMostKind                          // at most N X per session, or per Y
	PossibleKind                        // possible X
)

// Assertion is something that must hold in every history. The zero value
// asserts that no tool of the empty name is let through, which is true.
type Assertion struct {
	Kind AssertionKind
	Tool string // X
	// Other is Y: another tool. With AtMostKind empty: per session.
	Other string
	// Succeeds narrows Y to calls that have succeeded. Without it a call of Y
	// counts once it is let through, and for "per Y" again when it succeeds.
	Succeeds bool
	Operator bool // of UnapprovedKind: the approval of an operator
	Most     int  // N
}

// String returns the assertion in the form that ParseAssertion reads.
func (a Assertion) String() string {
	x, y := quoteTool(a.Tool), quoteTool(a.Other)
	succeeds := ""
	if a.Succeeds {
		succeeds = " succeeds"
	}
	switch a.Kind {
	case BeforeKind:
		return "never " + x + " before " + y + succeeds
	case AfterKind:
		return "never " + x + " after " + y + succeeds
	case UnapprovedKind:
		if a.Operator {
			return "never " + x + " without operator approval"
		}
		return "never " + x + " without approval"
	case AtMostKind:
		switch {
		case a.Other == "":
			y = "session"
		case a.Succeeds:
			y = "successful " + y
		case a.Other == "session":
			y = `"session"`
		}
		return fmt.Sprintf("at most %d %s per %s", a.Most, x, y)
	case PossibleKind:
		return "possible " + x
	}
	return "never " + x
}

func quoteTool(name string) string {
	if name == "" || strings.ContainsAny(name, " \t\r\n\"\\#") || name == "successful" || !isPlain(name) {
		return strconv.Quote(name)
	}
	return name
}

func isPlain(s string) bool {
	return strconv.Quote(s) == `"`+s+`"` && !strings.ContainsFunc(s, isSpace)
}

// AssertionError is a mistake in the text of an assertion.
type AssertionError struct {
	Column  int // from 1, in bytes
	Problem string
}

// Error returns "column N: problem".
func (e *AssertionError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Problem) }

// ParseAssertion reads an assertion:
//
//	never X
//	never X before Y
//	never X before Y succeeds
//	never X after Y
//	never X after Y succeeds
//	never X without approval
//	never X without operator approval
//	at most N X per session
//	at most N X per Y
//	at most N X per successful Y
//	possible X
//
// X and Y are tool names, in double quotes where they hold spaces. The error is
// an [*AssertionError].
func ParseAssertion(text string) (Assertion, error) {
	p := &assertionParser{text: text}
	a := p.assertion()
	if p.err == nil && p.peek() != "" {
		p.fail("the assertion should end here, not go on with %q", p.peek())
	}
	if p.err != nil {
		return Assertion{}, p.err
	}
	return a, nil
}

type assertionParser struct {
	text string
	pos  int
	err  *AssertionError
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' }

func (p *assertionParser) fail(format string, args ...any) {
	if p.err == nil {
		p.skip()
		p.err = &AssertionError{p.pos + 1, fmt.Sprintf(format, args...)}
	}
}

func (p *assertionParser) skip() {
	for p.pos < len(p.text) && isSpace(rune(p.text[p.pos])) {
		p.pos++
	}
}

// peek returns the next word as it is written; a quoted one with its quotes.
func (p *assertionParser) peek() string {
	p.skip()
	rest := p.text[p.pos:]
	if quoted, err := strconv.QuotedPrefix(rest); err == nil && rest[0] == '"' {
		return quoted
	}
	if i := strings.IndexFunc(rest, isSpace); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

func (p *assertionParser) next() string {
	word := p.peek()
	p.pos += len(word)
	return word
}

// accept takes a word if it is next.
func (p *assertionParser) accept(word string) bool {
	if p.err == nil && p.peek() == word {
		p.next()
		return true
	}
	return false
}

func (p *assertionParser) expect(word string) {
	if p.err == nil && !p.accept(word) {
		p.fail("expected %q, found %s", word, p.found())
	}
}

func (p *assertionParser) found() string {
	if word := p.peek(); word != "" {
		return strconv.Quote(word)
	}
	return "the end"
}

func (p *assertionParser) tool() string {
	word := p.peek()
	switch {
	case p.err != nil:
	case word == "":
		p.fail("expected the name of a tool, found the end")
	case word[0] == '"':
		name, err := strconv.Unquote(word)
		if err != nil || name == "" {
			p.fail("%s is not a tool name in double quotes", word)
			return ""
		}
		p.next()
		return name
	default:
		return p.next()
	}
	return ""
}

func (p *assertionParser) assertion() (a Assertion) {
	switch {
	case p.accept("never"):
		a.Tool = p.tool()
		switch {
		case p.accept("before"):
			a.Kind = BeforeKind
			a.Other, a.Succeeds = p.tool(), p.accept("succeeds")
		case p.accept("after"):
			a.Kind = AfterKind
			a.Other, a.Succeeds = p.tool(), p.accept("succeeds")
		case p.accept("without"):
			a.Kind = UnapprovedKind
			a.Operator = p.accept("operator")
			p.expect("approval")
		case p.err == nil && p.peek() != "":
			p.fail("expected the end, \"before\", \"after\" or \"without\", found %s", p.found())
		}
	case p.accept("at"):
		p.expect("most")
		a.Kind = AtMostKind
		a.Most = p.number()
		a.Tool = p.tool()
		p.expect("per")
		if !p.accept("session") {
			a.Succeeds = p.accept("successful")
			before := p.pos
			if a.Other = p.tool(); p.err == nil && a.Other == a.Tool {
				p.pos = before
				p.fail("%q can't be counted per itself", a.Tool)
			}
		}
	case p.accept("possible"):
		a.Kind, a.Tool = PossibleKind, p.tool()
	default:
		p.fail("expected \"never\", \"at most\" or \"possible\", found %s", p.found())
	}
	return a
}

func (p *assertionParser) number() int {
	if p.err != nil {
		return 0
	}
	word := p.peek()
	n, err := strconv.ParseUint(word, 10, 31)
	if err != nil || n > MaxTokens {
		p.fail("expected a number up to %d, found %s", MaxTokens, p.found())
		return 0
	}
	p.next()
	return int(n)
}
