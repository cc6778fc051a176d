package expr

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// inputs are the fields of the input that an expression names.
type inputs struct {
	fields []string // sorted
	all    bool     // it looks at the input as a whole, or at computed fields
}

// walk finds the fields of the input, and notes places that the net doesn't have
// and patterns that can't be compiled at load.
func (e *Env) walk(a *cel.Ast, mistake func(id int64, problem string)) inputs {
	w := walker{env: e, mistake: mistake}
	w.visit(a.NativeRep().Expr(), nil)
	slices.Sort(w.inputs.fields)
	w.inputs.fields = slices.Compact(w.inputs.fields)
	return w.inputs
}

type walker struct {
	env     *Env
	inputs  inputs
	mistake func(id int64, problem string)
}

// visit looks at an expression under the names that comprehensions bind.
func (w *walker) visit(x ast.Expr, bound []string) {
	switch x.Kind() {
	case ast.IdentKind:
		if isVariable(x, "input", bound) {
			w.inputs.all = true
		}
	case ast.SelectKind:
		s := x.AsSelect()
		if !w.field(x.ID(), s.Operand(), s.FieldName(), bound) {
			w.visit(s.Operand(), bound)
		}
	case ast.CallKind:
		c := x.AsCall()
		args := c.Args()
		if key := constant(args); key != "" && indexes(c.FunctionName()) && w.field(x.ID(), args[0], key, bound) {
			return
		}
		if c.IsMemberFunction() {
			w.visit(c.Target(), bound)
		}
		// A pattern that comes with a call would be compiled before its cost is known.
		if c.FunctionName() == "matches" && len(args) > 0 && args[len(args)-1].Kind() != ast.LiteralKind {
			w.mistake(x.ID(), `the pattern of matches() must be written out, as in input.path.matches("^/repo/")`)
		}
		for _, arg := range args {
			w.visit(arg, bound)
		}
	case ast.ListKind:
		for _, e := range x.AsList().Elements() {
			w.visit(e, bound)
		}
	case ast.MapKind:
		for _, e := range x.AsMap().Entries() {
			w.visit(e.AsMapEntry().Key(), bound)
			w.visit(e.AsMapEntry().Value(), bound)
		}
	case ast.StructKind:
		for _, f := range x.AsStruct().Fields() {
			w.visit(f.AsStructField().Value(), bound)
		}
	case ast.ComprehensionKind:
		c := x.AsComprehension()
		w.visit(c.IterRange(), bound)
		w.visit(c.AccuInit(), bound)
		inner := append(slices.Clone(bound), c.AccuVar(), c.IterVar(), c.IterVar2())
		w.visit(c.LoopCondition(), inner)
		w.visit(c.LoopStep(), inner)
		w.visit(c.Result(), inner)
	}
}

// field notes what is taken of input or marking. It is false where the operand
// is neither.
func (w *walker) field(id int64, operand ast.Expr, name string, bound []string) bool {
	switch {
	case isVariable(operand, "input", bound):
		w.inputs.fields = append(w.inputs.fields, name)
		return true
	case isVariable(operand, "marking", bound):
		if w.env.places != nil && !slices.Contains(w.env.places, name) {
			w.mistake(id, fmt.Sprintf("the net has no place %s; it has %s", name, strings.Join(w.env.places, ", ")))
		}
		return true
	}
	return false
}

func isVariable(x ast.Expr, name string, bound []string) bool {
	if x.Kind() != ast.IdentKind {
		return false
	}
	ident := x.AsIdent()
	if ident == "."+name {
		return true // the leading dot looks past what is bound
	}
	return ident == name && !slices.Contains(bound, name)
}

// constant returns the text of the second of two arguments, if it is one.
func constant(args []ast.Expr) string {
	if len(args) != 2 || args[1].Kind() != ast.LiteralKind {
		return ""
	}
	s, _ := args[1].AsLiteral().(types.String)
	return string(s)
}

func indexes(function string) bool { return function == "_[_]" }
