package rules

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner reads the words of one line. What it finds wrong is noted where it
// stands.
type scanner struct {
	line   string // without a line end
	number int    // from 1
	at     int    // byte offset of what is read next
	wrong  bool   // something was noted
	note   func(Mistake)
}

// mistake notes what is wrong at a byte offset of the line.
func (s *scanner) mistake(at int, format string, args ...any) {
	s.wrong = true
	s.note(Mistake{
		Line: s.number, Column: utf8.RuneCountInString(s.line[:at]) + 1,
		Problem: fmt.Sprintf(format, args...),
	})
}

// readable notes what no line may have, and says whether it is free of it.
func (s *scanner) readable() bool {
	switch {
	case len(s.line) > MaxLine:
		s.mistake(0, "the line has %d bytes; at most %d are read: write several rules", len(s.line), MaxLine)
		return false
	case !utf8.ValidString(s.line):
		s.mistake(0, "the line is not valid UTF-8; save the file as UTF-8")
		return false
	}
	for i, r := range s.line {
		switch {
		case r == '\t':
		case unicode.IsControl(r):
			s.mistake(i, "%U is a control character; take it out", r)
			return false
		case r != ' ' && unicode.IsSpace(r), r == '\u200b', r == '\ufeff':
			s.mistake(i, "%U looks like a space and is none; write a plain space", r)
			return false
		}
	}
	return true
}

// skip goes to the next word and says whether there is one.
func (s *scanner) skip() bool {
	s.at += len(s.line[s.at:]) - len(strings.TrimLeft(s.line[s.at:], " \t"))
	return s.at < len(s.line) && s.line[s.at] != '#'
}

// word reads up to the next space or comment. It is empty at the line's end.
func (s *scanner) word() (word string, at int) {
	if !s.skip() {
		return "", s.at
	}
	at = s.at
	if i := strings.IndexAny(s.line[at:], " \t#"); i >= 0 {
		s.at += i
	} else {
		s.at = len(s.line)
	}
	return s.line[at:s.at], at
}

// peek returns the next word without reading it.
func (s *scanner) peek() string {
	ahead := *s
	word, _ := ahead.word()
	return word
}

// delimited reads what stands between two of the quote at which the scanner
// is, where a backslash takes the quote's meaning off. It returns the raw text,
// and false after noting a mistake.
func (s *scanner) delimited(quote byte, what string) (raw string, at int, ok bool) {
	at = s.at
	for i := at + 1; i < len(s.line); i++ {
		switch s.line[i] {
		case '\\':
			i++
		case quote:
			raw = s.line[at+1 : i]
			s.at = i + 1
			if s.at < len(s.line) && !strings.ContainsRune(" \t#", rune(s.line[s.at])) {
				if quote == '/' {
					s.mistake(s.at, `%s ends before %s; write \/ for a slash in it, and flags inside, as in /(?i)drop/`, what, s.peek())
				} else {
					s.mistake(s.at, `%s ends before %s; write \" for a quote in it, and a space after it`, what, s.peek())
				}
				return raw, at, false
			}
			return raw, at, true
		}
	}
	s.mistake(at, "%s does not end; expected a second %c in this line", what, quote)
	s.at = len(s.line)
	return "", at, false
}
