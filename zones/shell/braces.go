package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// fields reads a word that is brace-expanded: mostly one, but {a,b} is two.
// The result is never empty.
func (r *reader) fields(w *syntax.Word) []Word {
	if r.words++; r.words > MaxWords {
		r.limit("the commands have more than %d words", MaxWords)
	}
	if r.full || !hasBrace(w) {
		return []Word{r.word(w)}
	}
	start, end := r.span(w)
	unsure := []Word{{Text: r.source[start:end], Start: start, End: end}}

	// SplitBraces changes the word that it is given.
	split := *w
	if !syntax.SplitBraces(&split) || !plainBraces(split.Parts) {
		return unsure
	}
	var words []Word
	for part, err := range expand.BracesSeq(nil, &split) {
		if err != nil || len(words) == MaxBraceWords {
			r.opaque("a brace expansion makes too many words", start, end)
			words = nil
			break
		}
		// What was tried counts, whether or not it comes to be used.
		if r.words++; r.words > MaxWords {
			r.limit("the commands have more than %d words", MaxWords)
			return unsure
		}
		// A word that expands to nothing unquoted is none: {,x}.
		if !vanishes(part.Parts) {
			words = append(words, r.parts(part.Parts, start, end))
		}
	}
	if len(words) == 0 {
		return unsure
	}
	return words
}

// vanishes says whether parts have nothing at all, not even an empty quote.
func vanishes(parts []syntax.WordPart) bool {
	for _, p := range parts {
		if lit, ok := p.(*syntax.Lit); !ok || lit.Value != "" {
			return false
		}
	}
	return true
}

// hasBrace says whether a word has what may be a brace expansion. Where it
// has not, all shells take its braces as they stand.
func hasBrace(w *syntax.Word) bool {
	open, inside := false, false
	for _, p := range w.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			continue
		}
		for i := 0; i < len(lit.Value); i++ {
			switch lit.Value[i] {
			case '\\':
				i++
			case '{':
				open = true
			case ',':
				inside = inside || open
			case '.':
				inside = inside || open && strings.HasPrefix(lit.Value[i:], "..")
			}
		}
	}
	return inside
}

// plainBraces says whether the parts have a brace expansion that every shell
// with braces reads alike: no brace is left over, and a sequence is of numbers
// or of letters of one case.
func plainBraces(parts []syntax.WordPart) bool {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			for i := 0; i < len(p.Value); i++ {
				switch p.Value[i] {
				case '\\':
					i++
				case '{', '}':
					return false
				}
			}
		case *syntax.BraceExp:
			if p.Sequence && !plainSequence(p) {
				return false
			}
			for _, e := range p.Elems {
				if !plainBraces(e.Parts) {
					return false
				}
			}
		}
	}
	return true
}

func plainSequence(b *syntax.BraceExp) bool {
	lower, upper, number := 0, 0, 0
	for _, e := range b.Elems {
		text := e.Lit()
		switch {
		case isDigits(text) && len(text) < 10:
			number++
		case len(text) == 1 && text[0] >= 'a' && text[0] <= 'z':
			lower++
		case len(text) == 1 && text[0] >= 'A' && text[0] <= 'Z':
			upper++
		}
	}
	// A step after two letters is a number; that is rare enough to leave out.
	return max(lower, upper, number) == len(b.Elems)
}
