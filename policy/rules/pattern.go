package rules

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/zones/programs"
)

// Pattern is what a map line looks for. The zero value fits nothing.
type Pattern struct {
	text    string // as written, delimiters included
	regex   *regexp.Regexp
	needs   []literal // of the regex, one of which is in every text that it fits
	word    string
	command programs.Pattern
	quoted  bool
}

// String returns the pattern as it is written in a map line.
func (p Pattern) String() string { return p.text }

// pattern reads the PATTERN of a map line.
func (s *scanner) pattern() (Pattern, bool) {
	if !s.skip() {
		s.mistake(s.at, "the line ends here; expected a pattern: /regex/, a word or a \"quoted command\"")
		return Pattern{}, false
	}
	switch s.line[s.at] {
	case '/':
		return s.regex()
	case '"':
		return s.command()
	}
	word, at := s.word()
	if word == "as" && s.peek() != "as" {
		s.at = at
		s.mistake(at, "the pattern is missing before as; expected /regex/, a word or a \"quoted command\"")
		return Pattern{}, true // the rest may have mistakes of its own
	}
	if strings.ContainsAny(word, "\"'") {
		s.mistake(at, "%s has quotes in it; write the whole pattern in double quotes, as in \"git push\"", word)
		s.at = len(s.line)
		return Pattern{}, false
	}
	return Pattern{text: word, word: word}, true
}

func (s *scanner) regex() (Pattern, bool) {
	raw, at, ok := s.delimited('/', "the regular expression")
	if !ok {
		return Pattern{}, false
	}
	if raw == "" {
		s.mistake(at, "the regular expression is empty; to fit every text, write /^/")
		return Pattern{}, true
	}
	regex, err := regexp.Compile(raw)
	if err != nil {
		var where *syntax.Error
		offset, problem := -1, err.Error() // the slash: where in the regex isn't certain
		if errors.As(err, &where) {
			if strings.Count(raw, where.Expr) == 1 {
				offset = strings.Index(raw, where.Expr)
			}
			problem = fmt.Sprintf("%s in %s", where.Code, where.Expr)
			if where.Code == syntax.ErrInvalidPerlOp {
				problem = where.Expr + " is not in RE2, which has no look-around and no atomic groups"
			} else if where.Code == syntax.ErrInvalidEscape {
				problem = where.Expr + " is no escape of RE2, which has no back-references either"
			}
		}
		s.mistake(at+1+offset, "not a regular expression: %s", problem)
		return Pattern{}, true
	}
	return Pattern{text: "/" + raw + "/", regex: regex, needs: literals(raw)}, true
}

func (s *scanner) command() (Pattern, bool) {
	raw, at, ok := s.delimited('"', "the quoted command")
	if !ok {
		return Pattern{}, false
	}
	var text strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' {
			if i++; raw[i] != '"' && raw[i] != '\\' {
				s.mistake(at+i, `\%c is no escape here; write \\ for a backslash and \" for a quote`, raw[i])
				return Pattern{}, true
			}
		}
		text.WriteByte(raw[i])
	}
	p, err := programs.ParsePattern(text.String())
	if err != nil {
		problem := strings.TrimPrefix(err.Error(), fmt.Sprintf("%v: %q: ", programs.ErrPattern, text.String()))
		s.mistake(at, "not a command pattern: %s", problem)
		return Pattern{}, true
	}
	return Pattern{text: `"` + raw + `"`, command: p, quoted: true}, true
}

// fits says whether a regex or word is in the text of a field.
func (p *Pattern) fits(t *haystack) bool {
	if p.regex != nil {
		return t.mayFit(p.needs) && p.regex.MatchString(t.text)
	}
	return p.word != "" && hasWord(t.text, p.word)
}

// hasWord says whether word stands in text with no letter, digit or _ right
// before or after it.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !isWordByte(text[i-1])) && (end == len(text) || !isWordByte(text[end])) {
			return true
		}
		from = i + 1
	}
}

func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}
