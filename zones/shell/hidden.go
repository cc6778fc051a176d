package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// comments marks a comment whose line ends in a backslash: to the parser it
// goes on in the next line, which the shell runs.
func (r *reader) comments(stmts []*syntax.Stmt) {
	if !strings.Contains(r.source, "\\\n") {
		return
	}
	var literal map[int]bool // offsets of # that are a part of some text
	for start := 0; start < len(r.source); {
		line, _, _ := strings.Cut(r.source[start:], "\n")
		end := start + len(line)
		if strings.HasSuffix(line, `\`) && strings.Contains(line, "#") {
			if literal == nil {
				literal = r.literalHashes(stmts)
			}
			for i := start; i < end; i++ {
				if r.source[i] == '#' && r.beginsWord(i) && !literal[i] {
					r.opaque("a comment ends in a backslash, so that it is not clear where it ends", i, end)
					break
				}
			}
		}
		start = end + 1
	}
}

// beginsWord says whether a word, or a comment, can begin at i.
func (r *reader) beginsWord(i int) bool {
	return i == 0 || strings.IndexByte(" \t\n;&|()<>`", r.source[i-1]) >= 0
}

// literalHashes finds the # that stand in quotes and words.
func (r *reader) literalHashes(stmts []*syntax.Stmt) map[int]bool {
	out := map[int]bool{}
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n.(type) {
			case *syntax.Lit, *syntax.SglQuoted:
				start, end := r.span(n)
				for i := start; i < end; i++ {
					if r.source[i] == '#' {
						out[i] = true
					}
				}
			}
			return true
		})
	}
	return out
}

// letHides says whether the source of a let clause, which the parser reads as
// arithmetic up to its end, has an operator that ends the command for a shell.
func letHides(text string) bool {
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte("|&;<>()\n", c) >= 0:
			return true
		}
	}
	return quote != 0
}

// prompts are variables whose value the shell expands, commands included, when
// it prints a prompt or a trace.
var prompts = map[string]bool{"PS0": true, "PS1": true, "PS2": true, "PS3": true, "PS4": true}

// runsValue says whether an assignment makes the shell, or one that is started
// with it, run what is assigned.
func runsValue(a Assign) bool {
	known, text := a.Value.Known && !a.Value.Tilde, a.Value.Text
	switch {
	case prompts[a.Name]:
		return !known || strings.ContainsAny(text, "$`\\")
	case a.Name == "PROMPT_COMMAND" || a.Name == "BASH_ENV":
		return !known || text != ""
	case a.Name == "ENV":
		// Many programs are told so of what kind of environment they are in.
		return known && strings.ContainsAny(text, "/$`.~") || !known && a.Value.Prefix != "" && strings.ContainsAny(a.Value.Prefix, "/.")
	}
	return false
}

func (r *reader) judgeAssign(a Assign) {
	if runsValue(a) {
		r.opaque("the value of "+a.Name+" may be run by the shell", a.Start, a.End)
	}
}
