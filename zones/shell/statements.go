package shell

import (
	"mvdan.cc/sh/v3/syntax"
)

// stmts derives the commands of a list of statements and says where the shell
// is after the last.
func (r *reader) stmts(list []*syntax.Stmt, in dirs) outcome {
	out := same(in)
	if r.depth++; r.depth > MaxNesting {
		r.limit("commands are nested deeper than %d", MaxNesting)
	}
	for _, s := range list {
		if r.full {
			break
		}
		out = r.stmt(s, out.either())
	}
	r.depth--
	return out
}

func (r *reader) stmt(s *syntax.Stmt, in dirs) outcome {
	if r.full {
		return same(unknownDir)
	}
	redirects := r.redirects(s.Redirs, in)
	var out outcome
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		out = r.call(s, call, redirects, in)
	} else {
		if len(redirects) > 0 {
			start, end := r.stmtSpan(s)
			r.emit(Command{Assigns: r.facts.assigns, Redirects: redirects, Start: start, End: end}, in)
		}
		out = r.command(s.Cmd, in)
	}
	if s.Background || s.Coprocess || s.Disown {
		return same(in)
	}
	if s.Negated {
		out.ok, out.fail = out.fail, out.ok
	}
	return out
}

// command derives the commands of everything but a simple command.
func (r *reader) command(c syntax.Command, in dirs) outcome {
	switch c := c.(type) {
	case nil:
	case *syntax.CallExpr: // assignments only
		for _, a := range c.Assigns {
			r.expansions(a, in)
		}
	case *syntax.BinaryCmd:
		return r.binary(c, in)
	case *syntax.Block:
		return r.stmts(c.Stmts, in)
	case *syntax.Subshell:
		r.stmts(c.Stmts, in)
	case *syntax.IfClause:
		return same(r.ifClause(c, in))
	case *syntax.WhileClause:
		return same(r.loop(in, c.Cond, c.Do))
	case *syntax.ForClause:
		r.expansions(c.Loop, in)
		return same(r.loop(in, c.Do))
	case *syntax.CaseClause:
		return same(r.caseClause(c, in))
	case *syntax.FuncDecl:
		body := in
		if r.facts.moves {
			// It runs where it is called, not where it is declared.
			body = unknownDir
		}
		r.stmts([]*syntax.Stmt{c.Body}, body)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return r.stmts([]*syntax.Stmt{c.Stmt}, in)
		}
	case *syntax.CoprocClause:
		if c.Name != nil {
			r.expansions(c.Name, in)
		}
		r.stmts([]*syntax.Stmt{c.Stmt}, in)
	case *syntax.DeclClause:
		r.declare(c, in)
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		r.expansions(c, in)
	default:
		r.opaqueNode("a construct of the shell that this version does not follow", c)
		return same(unknownDir)
	}
	return same(in)
}

func (r *reader) binary(c *syntax.BinaryCmd, in dirs) outcome {
	switch c.Op {
	case syntax.AndStmt:
		x := r.stmt(c.X, in)
		y := r.stmt(c.Y, x.ok)
		return outcome{ok: y.ok, fail: x.fail.union(y.fail)}
	case syntax.OrStmt:
		x := r.stmt(c.X, in)
		y := r.stmt(c.Y, x.fail)
		return outcome{ok: x.ok.union(y.ok), fail: y.fail}
	default: // pipes: each side is a shell of its own
		r.stmt(c.X, in)
		r.stmt(c.Y, in)
		return same(in)
	}
}

func (r *reader) ifClause(c *syntax.IfClause, in dirs) dirs {
	out := dirs{}
	for ; c != nil; c = c.Else {
		cond := same(in)
		if len(c.Cond) > 0 {
			cond = r.stmts(c.Cond, in)
		}
		out = out.union(r.stmts(c.Then, cond.ok).either())
		in = cond.fail
		if len(c.Cond) == 0 { // else
			return out
		}
	}
	return out.union(in)
}

// loop derives the commands of lists that may run any number of times.
func (r *reader) loop(in dirs, lists ...[]*syntax.Stmt) dirs {
	for _, list := range lists {
		if r.moves(list) {
			in = unknownDir
		}
	}
	for _, list := range lists {
		r.stmts(list, in)
	}
	return in
}

func (r *reader) caseClause(c *syntax.CaseClause, in dirs) dirs {
	r.expansions(c.Word, in)
	out, item := in, in
	for _, i := range c.Items {
		for _, p := range i.Patterns {
			r.expansions(p, in)
		}
		// An item may be entered from the one before it (`;&`).
		item = in.union(r.stmts(i.Stmts, item).either())
		out = out.union(item)
	}
	return out
}

// call derives a simple command, and those inside its expansions.
func (r *reader) call(s *syntax.Stmt, c *syntax.CallExpr, redirects []Redirect, in dirs) outcome {
	start, end := r.stmtSpan(s)
	cmd := Command{Assigns: r.facts.assigns, Redirects: redirects, Start: start, End: end}
	if len(c.Assigns) > 0 {
		cmd.Assigns = nil
		for _, a := range c.Assigns {
			r.expansions(a, in)
			own := r.assign(a)
			r.judgeAssign(own)
			cmd.Assigns = append(cmd.Assigns, own)
		}
		cmd.Assigns = append(cmd.Assigns, r.facts.assigns...)
	}
	for _, arg := range c.Args {
		r.expansions(arg, in)
		cmd.Words = append(cmd.Words, r.fields(arg)...)
	}
	cmd.Function = r.callsFunction(cmd.Words[0])
	r.emit(cmd, in)
	r.judge(cmd)

	out := r.after(cmd.Words, in)
	if len(redirects) > 0 || len(c.Assigns) > 0 {
		// Where a redirection fails, or a variable is read-only, it isn't run.
		out.fail = out.fail.union(in)
		if cmd.Words[0].Text == "cd" {
			for _, a := range c.Assigns {
				if a.Name.Value == "HOME" || a.Name.Value == "CDPATH" {
					out.ok = unknownDir
				}
			}
		}
	}
	return out
}

// declare derives export, declare, local, readonly and typeset, which the
// parser keeps apart from simple commands.
func (r *reader) declare(c *syntax.DeclClause, in dirs) {
	start, end := r.span(c)
	vStart, vEnd := r.span(c.Variant)
	cmd := Command{Assigns: r.facts.assigns, Start: start, End: end}
	cmd.Words = []Word{{Text: c.Variant.Value, Known: true, Start: vStart, End: vEnd}}
	for _, a := range c.Args {
		r.expansions(a, in)
		w := Word{Text: r.text(a)}
		w.Start, w.End = r.span(a)
		switch {
		case !a.Naked:
			w.Prefix = a.Name.Value + "="
			if v := r.assign(a).Value; v.Known && a.Index == nil && a.Array == nil && !a.Append {
				w.Known, w.Text, w.Prefix = true, a.Name.Value+"="+v.Text, ""
			}
		case a.Name != nil:
			w.Known, w.Text = true, a.Name.Value
		case a.Value != nil:
			w = r.word(a.Value)
		}
		cmd.Words = append(cmd.Words, w)
	}
	r.emit(cmd, in)
	r.judge(cmd)
}
