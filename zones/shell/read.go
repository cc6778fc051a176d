package shell

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// Read reads source as bash would read it, and never fails: what can't be
// read is opaque.
//
// The decisions where bash itself leaves a choice: extended globs are
// recognized but never known; aliases are not expanded, and defining one is
// opaque; statements before a syntax error are derived, because bash runs them
// before it sees the error.
func Read(source string) (out Reading) {
	r := &reader{source: source}
	if reason := unreadable(source); reason != "" {
		r.opaque(reason, 0, len(source))
		return r.reading
	}
	defer func() {
		// A fault of the parser on odd source must not become a dropped command.
		if fault := recover(); fault != nil {
			r.opaque(fmt.Sprintf("%s: %v", faulty, fault), 0, len(source))
			out = r.reading
		}
	}()
	stmts, err := parse(source)
	if err != nil {
		r.opaque("it can't be parsed as bash: "+err.Error(), 0, len(source))
	}
	r.comments(stmts)
	r.survey(stmts)
	start := dirs{list: [][]string{nil}}
	if r.facts.lostDir {
		start = unknownDir
	}
	r.stmts(stmts, start)
	slices.SortStableFunc(r.reading.Commands, func(a, b Command) int { return a.Start - b.Start })
	slices.SortStableFunc(r.reading.Opaque, func(a, b Opaque) int { return a.Start - b.Start })
	return r.reading
}

// faulty begins the reason of a reading that a panic ended.
const faulty = "the reader failed on it"

// parse returns the statements before the first error, and that error.
func parse(source string) (stmts []*syntax.Stmt, first error) {
	for stmt, err := range syntax.NewParser().StmtsSeq(strings.NewReader(source)) {
		// The parser may go on after an error, and doesn't bear being stopped.
		if first == nil && err == nil {
			stmts = append(stmts, stmt)
		} else if first == nil {
			first = err
		}
	}
	return stmts, first
}

// Argv makes the reading of the one command that has exactly these words,
// started with no shell in between: nothing in them is expanded, and every
// offset is 0. An empty vector or program, a NUL byte, invalid UTF-8 and a
// vector over the limits are opaque.
func Argv(argv []string) Reading {
	opaque := func(reason string) Reading { return Reading{Opaque: []Opaque{{Reason: reason}}} }
	if len(argv) == 0 || argv[0] == "" {
		return opaque("there is no program to run")
	}
	if len(argv) > MaxWords {
		return opaque(fmt.Sprintf("the command has more than %d words", MaxWords))
	}
	size := 0
	words := make([]Word, len(argv))
	for i, text := range argv {
		size += len(text)
		switch {
		case strings.IndexByte(text, 0) >= 0:
			return opaque("a word has a NUL byte")
		case !utf8.ValidString(text):
			return opaque("a word is not valid UTF-8")
		case size > MaxSource:
			return opaque(fmt.Sprintf("the words are longer than %d bytes", MaxSource))
		}
		words[i] = Word{Text: text, Known: true}
	}
	return Reading{Commands: []Command{{Words: words}}}
}

// reader is the state of one Read.
type reader struct {
	source  string
	reading Reading
	facts   facts
	words   int  // read or tried so far
	depth   int  // of the statement lists being read
	full    bool // a limit was passed: nothing more is derived
}

func (r *reader) opaque(reason string, start, end int) {
	at := Opaque{Reason: reason, Start: start, End: end}
	if !slices.Contains(r.reading.Opaque, at) && len(r.reading.Opaque) <= MaxCommands {
		r.reading.Opaque = append(r.reading.Opaque, at)
	}
}

func (r *reader) opaqueNode(reason string, n syntax.Node) {
	start, end := r.span(n)
	r.opaque(reason, start, end)
}

// limit stops the reading; whatever follows is covered by the opaque source.
func (r *reader) limit(format string, args ...any) {
	if !r.full {
		r.full = true
		at := Opaque{Reason: fmt.Sprintf(format, args...), Start: 0, End: len(r.source)}
		r.reading.Opaque = append(r.reading.Opaque, at)
	}
}

// span returns the offsets of a node, kept inside the source.
func (r *reader) span(n syntax.Node) (start, end int) {
	start = min(int(n.Pos().Offset()), len(r.source))
	return start, max(start, min(int(n.End().Offset()), len(r.source)))
}

// stmtSpan is the span of a statement without the ; or & that ends it.
func (r *reader) stmtSpan(s *syntax.Stmt) (start, end int) {
	start, _ = r.span(s)
	end = start
	if s.Cmd != nil {
		// After coproc, the parser places a statement later than it starts.
		begin, e := r.span(s.Cmd)
		start, end = min(start, begin), e
	}
	for _, rd := range s.Redirs {
		_, e := r.span(rd)
		end = max(end, e)
	}
	return start, end
}

func (r *reader) text(n syntax.Node) string {
	start, end := r.span(n)
	return r.source[start:end]
}

// emit adds one command to the reading.
func (r *reader) emit(c Command, in dirs) {
	if r.full {
		return
	}
	if len(r.reading.Commands) == MaxCommands {
		r.limit("the source has more than %d commands", MaxCommands)
		return
	}
	c.Dir = in.dir()
	r.reading.Commands = append(r.reading.Commands, c)
}
