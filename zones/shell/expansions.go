package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// expansions derives the commands inside the command and process substitutions
// below a node, which is no statement, and marks expansions that run more than
// they show.
func (r *reader) expansions(n syntax.Node, in dirs) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			if n.Backquotes && strings.Contains(r.text(n), `\`) {
				r.opaqueNode("backslashes inside backquotes change how the text is read", n)
			}
			r.stmts(n.Stmts, in)
			return false
		case *syntax.ProcSubst:
			r.stmts(n.Stmts, in)
			return false
		case *syntax.ParamExp:
			if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
				if op := n.Exp.Word; op == nil || op.Lit() == "" || strings.Contains(op.Lit(), "P") {
					r.opaqueNode("an expansion is read again as a prompt, which runs the commands in it", n)
				}
			}
		case *syntax.ExtGlob:
			if strings.ContainsAny(n.Pattern.Value, "$`(<>") {
				r.opaqueNode("an extended glob has expansions that are not followed", n)
			}
		case *syntax.Lit:
			if hasExpansion(n.Value) {
				// The parser keeps some text as it stands; none of it may hide
				// what the shell would run.
				r.opaqueNode("an expansion stands where it is not followed", n)
			}
		}
		return true
	})
}

// hasExpansion says whether literal text still has an expansion that runs
// commands, one not behind a backslash.
func hasExpansion(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '`':
			return true
		case '$':
			if i+1 < len(text) && strings.IndexByte("({[", text[i+1]) >= 0 {
				return true
			}
		}
	}
	return false
}

// redirects derives the files that redirections open, and the commands in
// their expansions.
func (r *reader) redirects(list []*syntax.Redirect, in dirs) []Redirect {
	var out []Redirect
	for _, rd := range list {
		switch rd.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if rd.Hdoc != nil && !quoted(rd.Word) {
				r.expansions(rd.Hdoc, in)
			}
			continue
		case syntax.WordHdoc, syntax.DplIn:
			r.expansions(rd.Word, in)
			continue
		}
		r.expansions(rd.Word, in)
		access := AccessWrite
		if rd.Op == syntax.RdrIn {
			access = AccessRead
		}
		if isProcSubst(rd.Word) {
			continue
		}
		words := r.fields(rd.Word)
		if rd.Op == syntax.DplOut && len(words) == 1 && words[0].Known && isDescriptor(words[0].Text) {
			continue
		}
		for _, w := range words {
			if !w.Known || w.Glob || !isStream(w.Text) {
				out = append(out, Redirect{Target: w, Access: access})
			}
		}
	}
	return out
}

// quoted says whether the delimiter of a here-document has quotes, which makes
// its body literal.
func quoted(w *syntax.Word) bool {
	for _, p := range w.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}

func isProcSubst(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	_, ok := w.Parts[0].(*syntax.ProcSubst)
	return ok
}

// isDescriptor says whether text after >& names a file descriptor: 2, 2- or -.
func isDescriptor(text string) bool {
	return text == "-" || isDigits(strings.TrimSuffix(text, "-"))
}

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// isStream says whether a path is a device that keeps nothing, or only stands
// for a file descriptor that is open already.
func isStream(path string) bool {
	switch path {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return true
	}
	fd, ok := strings.CutPrefix(path, "/dev/fd/")
	return ok && isDigits(fd)
}
