package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/zones/programs"
	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// commands adds the names of the commands that a field's value would run, and
// says whether every one of them has a name for sure.
func (in *naming) commands(v *value, quoted []line) (all bool) {
	var reading shell.Reading
	switch v.kind {
	case valueText:
		reading = shell.Read(v.text)
	case valueArgv:
		reading = shell.Argv(v.argv)
	default:
		in.doubt(v.text, "", "it is not shell source")
		return false
	}
	for _, o := range reading.Opaque {
		excerpt := v.text
		if v.kind == valueText && 0 <= o.Start && o.Start < o.End && o.End <= len(v.text) {
			excerpt = v.text[o.Start:o.End]
		}
		in.doubt(excerpt, "", o.Reason)
	}
	all, some := len(reading.Opaque) == 0, false
	for i := range reading.Commands {
		c := &reading.Commands[i]
		if c.Function {
			continue // its body's commands are in the reading
		}
		some = true
		all = in.command(c, quoted) && all
	}
	return all && some
}

// command adds the name of one command and says whether it has one for sure.
func (in *naming) command(c *shell.Command, quoted []line) (sure bool) {
	if len(c.Words) == 0 { // it only opens files
		return false
	}
	excerpt := "" // put together only where it is needed
	said := func() string {
		if excerpt == "" {
			texts := make([]string, len(c.Words))
			for i, w := range c.Words {
				texts[i] = w.Text
			}
			excerpt = strings.Join(texts, " ")
		}
		return excerpt
	}
	sure = true
	if hidden := programs.Describe(c.Words).Opaque; hidden != "" {
		in.doubt(said(), "", hidden)
		sure = false
	}
	for _, a := range c.Assigns {
		sure = sure && !programs.Steering(a.Name)
	}
	sure = sure && len(c.Redirects) == 0 // the files that the shell opens are no part of a name
	known := !slices.ContainsFunc(c.Words, func(w shell.Word) bool { return !w.Known || w.Glob })
	for i := range quoted {
		l := &quoted[i]
		p := &l.pattern.command
		switch {
		case !l.shape.mayFit(c.Words, known):
		case p.MatchesPlainly(c.Words):
			in.List = append(in.List, l.name)
			return sure && p.MatchesSurely(c.Words)
		case !known && p.MatchesAny(c.Words):
			in.doubt(said(), l.name, "a word of it can't be known from the text")
		}
	}
	return false
}

// shape is what a command must have in any case to fit a pattern; asking it
// first costs a small part of matching.
type shape struct {
	program string   // the last element of the program's path; empty: any
	words   []string // the literal words after it that are no options
}

func shapeOf(p programs.Pattern) shape {
	// The pattern is known to be one plain command; behind a program word a
	// leading * is a word as well.
	const before = "pattern "
	var s shape
	for _, c := range shell.Read(before + p.String()).Commands {
		for i, w := range c.Words[1:] {
			switch {
			case w.Glob: // *
			case i == 0:
				s.program = path.Base(w.Text)
			case !strings.HasPrefix(w.Text, "-"):
				s.words = append(s.words, w.Text)
			}
		}
	}
	return s
}

// mayFit is false only where the pattern can't fit. Words that aren't known may
// be anything.
func (s *shape) mayFit(words []shell.Word, known bool) bool {
	if first := &words[0]; s.program != "" && first.Known && path.Base(first.Text) != s.program {
		return false
	}
	if !known {
		return true
	}
	for _, want := range s.words {
		if !slices.ContainsFunc(words[1:], func(w shell.Word) bool { return w.Text == want }) {
			return false
		}
	}
	return true
}
