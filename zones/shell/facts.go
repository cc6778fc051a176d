package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// facts is what holds for the whole source, whatever runs first: functions and
// assignments reach what stands before them through loops and calls.
type facts struct {
	functions     map[string]*function
	assigns       []Assign // made for the shell itself
	assigned      nameSet  // their names
	moves         bool     // something changes the directory
	functionsMove bool     // and stands in a function
	lostDir       bool     // no cd can be trusted
	unset         bool     // functions may be taken away again
}

type nameSet map[string]bool

// function is what is known of the functions of one name.
type function struct {
	calls  []string // names called in the bodies
	count  int      // declarations
	always bool     // declared by a statement that always runs
	end    int      // where the last declaration ends
}

// setters names builtins whose operands are variables that they set.
var setters = map[string]bool{
	"read": true, "mapfile": true, "readarray": true, "getopts": true,
	"printf": true, "unset": true, "wait": true,
	// The parser knows these, but not behind a backslash or in quotes.
	"export": true, "declare": true, "typeset": true, "local": true, "readonly": true,
}

// leaned names the builtins on whose meaning this reader itself relies.
var leaned = map[string]bool{
	"cd": true, "pushd": true, "popd": true, "exit": true, "set": true,
	"shopt": true, "command": true, "builtin": true, "unset": true,
}

// survey collects the facts before anything is derived.
func (r *reader) survey(stmts []*syntax.Stmt) {
	r.facts = facts{functions: map[string]*function{}, assigned: nameSet{}}
	// Functions first: they decide how far prefix assignments reach.
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			if decl, ok := n.(*syntax.FuncDecl); ok && decl.Name != nil {
				r.declared(decl)
			}
			return true
		})
		if decl, ok := s.Cmd.(*syntax.FuncDecl); ok && decl.Name != nil && !s.Background {
			r.facts.functions[decl.Name.Value].always = true
		}
	}
	arithmetic, bait := false, false
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			r.surveyNode(n)
			arithmetic = arithmetic || isArithmetic(n)
			if isExpression(n) && hidesSubstitution(n) {
				r.opaqueNode(baited, n)
			}
			bait = bait || isBait(n)
			return true
		})
	}
	r.facts.moves = r.facts.moves || r.moves(stmts)
	if arithmetic && bait {
		r.opaque(baited, 0, len(r.source))
	}
	r.surveyFunctions()
}

func (r *reader) surveyNode(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.CallExpr:
		for _, a := range n.Assigns {
			// Before a function's name they hold for its body.
			if len(n.Args) == 0 || len(r.facts.functions) > 0 {
				r.sets(r.assign(a))
			}
		}
		if len(n.Args) > 0 {
			r.surveyCall(n)
		}
	case *syntax.DeclClause:
		for _, a := range n.Args {
			if a.Name != nil {
				r.sets(r.assign(a))
			} else if a.Value != nil { // `declare "NAME=value"`
				w := r.word(a.Value)
				text := w.Text
				if !w.Known {
					text = w.Prefix
				}
				if name, value, ok := strings.Cut(text, "="); ok && syntax.ValidName(strings.TrimSuffix(name, "+")) {
					w.Text, w.Known = value, w.Known && !w.Glob
					r.sets(Assign{Name: strings.TrimSuffix(name, "+"), Value: w, Start: w.Start, End: w.End})
				}
			}
		}
	case *syntax.LetClause:
		if letHides(r.text(n)) {
			r.opaqueNode("let has an operator outside of quotes, which ends it", n)
		}
	case *syntax.WordIter:
		r.setsUnknown(n.Name)
	case *syntax.ParamExp:
		if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			r.setsUnknown(n.Param)
		}
	case *syntax.BinaryArithm:
		switch n.Op {
		case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
			syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
			r.setsUnknown(n.X)
		}
	case *syntax.UnaryArithm:
		if n.Op == syntax.Inc || n.Op == syntax.Dec {
			r.setsUnknown(n.X)
		}
	case *syntax.Redirect:
		if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
			r.setsUnknown(n.N)
		}
	}
}

func (r *reader) surveyCall(n *syntax.CallExpr) {
	name := r.word(n.Args[0])
	if !name.Known {
		return
	}
	if name.Text == "unset" {
		r.facts.unset = true
	}
	if setters[name.Text] {
		for _, arg := range n.Args[1:] {
			w := r.word(arg)
			text := w.Text
			if !w.Known {
				text = w.Prefix
			}
			variable, _, _ := strings.Cut(strings.TrimPrefix(text, "-v"), "=") // printf -vNAME
			if variable = strings.TrimSuffix(variable, "+"); syntax.ValidName(variable) {
				r.sets(Assign{Name: variable, Value: Word{Start: w.Start, End: w.End}, Start: w.Start, End: w.End})
			}
		}
	}
}

func (r *reader) sets(a Assign) {
	if len(r.facts.assigns) == MaxAssigns {
		r.limit("the source has more than %d assignments", MaxAssigns)
		return
	}
	r.judgeAssign(a)
	r.facts.assigned[a.Name] = true
	r.facts.assigns = append(r.facts.assigns, a)
}

// setsUnknown notes that a name is given a value that isn't followed.
func (r *reader) setsUnknown(n syntax.Node) {
	start, end := r.span(n)
	name, _, _ := strings.Cut(strings.Trim(r.source[start:end], "{}"), "[")
	r.sets(Assign{Name: name, Value: Word{Start: start, End: end}, Start: start, End: end})
}

// moves says whether the statements may change the directory of their shell.
// It errs on the safe side: a cd in a subshell counts.
func (r *reader) moves(stmts []*syntax.Stmt) bool {
	found := false
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 && !found {
				var words []Word
				for _, arg := range call.Args {
					words = append(words, r.word(arg))
				}
				name := words[0]
				found = !name.Known || name.Glob || name.Text == "cd" || moving[name.Text] ||
					r.facts.functionsMove && r.facts.functions[name.Text] != nil ||
					(name.Text == "command" || name.Text == "builtin") && r.movesInside(words[1:])
			}
			return !found
		})
	}
	return found
}
