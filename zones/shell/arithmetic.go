package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bash evaluates the value of a variable in an arithmetic expression as one
// more expression, in which an array index may hold a command substitution. So
// quoted text can become a command without eval.

// isArithmetic says whether bash evaluates something as arithmetic here.
func isArithmetic(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.CallExpr:
		// These take the name of a variable, which may have an index.
		if len(n.Args) > 0 {
			name := n.Args[0].Lit()
			return setters[name] || name == "test" || name == "["
		}
	case *syntax.BinaryTest:
		switch n.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			return true
		}
	case *syntax.UnaryTest:
		return n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar
	case *syntax.ParamExp:
		return n.Excl || isExpression(n)
	case *syntax.DeclClause:
		return true // -i makes every later assignment arithmetic
	}
	return isExpression(n)
}

// baited is why a source with arithmetic on suspicious text is opaque.
const baited = "literal text looks made to be run by the evaluation of an arithmetic expression"

// isExpression says whether a node has an arithmetic expression directly in it.
func isExpression(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop:
		return true
	case *syntax.ParamExp:
		return n.Index != nil || n.Slice != nil
	case *syntax.Assign:
		return n.Index != nil
	}
	return false
}

// hidesSubstitution says whether quoted text below a node would be a command
// substitution if it were read again.
func hidesSubstitution(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		text := ""
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false // has words of its own
		case *syntax.SglQuoted:
			text = n.Value
		case *syntax.Lit:
			text = n.Value
		}
		found = found || strings.Contains(text, "$(") || strings.Contains(text, "`")
		return !found
	})
	return found
}

// isBait says whether literal text has an array index with a command
// substitution, which arithmetic would run.
func isBait(n syntax.Node) bool {
	text := ""
	switch n := n.(type) {
	case *syntax.SglQuoted:
		text = n.Value
	case *syntax.Lit:
		text = n.Value
	}
	_, index, ok := strings.Cut(text, "[")
	return ok && (strings.Contains(index, "$(") || strings.Contains(index, "`"))
}
