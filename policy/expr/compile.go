package expr

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/types"
)

// Mistake is one thing wrong with an expression: where in it, and what to write
// instead.
type Mistake struct {
	Line, Column int // from 1, in characters, relative to the expression
	Problem      string
}

// String returns "line:column: problem".
func (m Mistake) String() string { return fmt.Sprintf("%d:%d: %s", m.Line, m.Column, m.Problem) }

// Guard says whether a transition may cover a call.
type Guard struct{ program }

// Record is what a key of meta becomes when a transition fires.
type Record struct {
	program
	env *Env
	key string
}

// Key returns the key of meta.
func (r *Record) Key() string { return r.key }

// program is a compiled expression.
type program struct {
	source  string
	program cel.Program
	ast     *cel.Ast
	inputs  inputs
}

// String returns the expression as it was written.
func (p *program) String() string { return p.source }

// Inputs returns the fields of the input that the expression names, in the order
// of their names. With all, it looks at the input in other ways as well, and any
// field may matter.
func (p *program) Inputs() (fields []string, all bool) {
	return slices.Clone(p.inputs.fields), p.inputs.all
}

// Guard compiles a guard. Its type must be bool.
func (e *Env) Guard(source string) (*Guard, []Mistake) {
	p, mistakes := e.compile(source, func(got *cel.Type) string {
		switch {
		case got.Kind() == types.BoolKind:
			return ""
		case got.Kind() == types.DynKind:
			return "a guard must be true or false, and this may be anything; compare it, as in input.force == true"
		}
		return fmt.Sprintf("a guard must be true or false (bool), and this is %s; compare it with something", got)
	})
	if p == nil {
		return nil, mistakes
	}
	return &Guard{*p}, nil
}

// Record compiles the record of a key of meta. Its type must fit the key's.
func (e *Env) Record(key, source string) (*Record, []Mistake) {
	want := e.meta.fields[key]
	p, mistakes := e.compile(source, func(got *cel.Type) string {
		if want == nil || fits(got, want) {
			return ""
		}
		return fmt.Sprintf("meta.%s is of type %s, as its first value is, and this is %s; write an expression of type %s", key, want, got, want)
	})
	if want == nil {
		problem := "meta has no " + key
		if known := sortedKeys(e.meta.fields); len(known) > 0 {
			problem += "; it has " + strings.Join(known, ", ")
		}
		mistakes = append([]Mistake{{1, 1, problem + "; give it a first value under meta"}}, mistakes...)
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return &Record{*p, e, key}, nil
}

// fits says whether a value of type got may turn out to be of type want.
func fits(got, want *cel.Type) bool {
	if got.Kind() == types.DynKind || want.Kind() == types.DynKind {
		return true
	}
	if got.Kind() != want.Kind() || len(got.Parameters()) != len(want.Parameters()) {
		return false
	}
	for i, p := range got.Parameters() {
		if !fits(p, want.Parameters()[i]) {
			return false
		}
	}
	return got.Kind() != types.StructKind
}

func (e *Env) compile(source string, check func(*cel.Type) string) (*program, []Mistake) {
	if n := utf8.RuneCountInString(source); n > MaxSource {
		return nil, []Mistake{{1, 1, fmt.Sprintf("the expression has %d characters; at most %d are read", n, MaxSource)}}
	}
	if strings.TrimSpace(source) == "" {
		return nil, []Mistake{{1, 1, "the expression is empty; write one, or take the key out"}}
	}
	if !utf8.ValidString(source) {
		return nil, []Mistake{{1, 1, "the expression is not valid UTF-8; save the file as UTF-8"}}
	}
	ast, issues := e.env.Compile(source)
	if issues != nil && issues.Err() != nil {
		return nil, e.explain(source, issues.Errors())
	}
	p := &program{source: source, ast: ast}
	var mistakes []Mistake
	p.inputs = e.walk(ast, func(id int64, problem string) {
		at := ast.NativeRep().SourceInfo().GetStartLocation(id)
		mistakes = append(mistakes, Mistake{at.Line(), at.Column() + 1, problem})
	})
	if problem := check(ast.OutputType()); problem != "" {
		mistakes = append(mistakes, Mistake{1, 1, problem})
	}
	if len(mistakes) > 0 {
		slices.SortStableFunc(mistakes, byPosition)
		return nil, mistakes
	}
	var err error
	p.program, err = e.env.Program(ast,
		cel.EvalOptions(cel.OptOptimize),
		cel.CostLimit(MaxCost),
		cel.CostTracking(costs{}),
		cel.CustomDecoratorV2(literal),
	)
	if err != nil {
		return nil, []Mistake{{1, 1, "the expression can't be used: " + err.Error()}}
	}
	return p, nil
}

func byPosition(a, b Mistake) int {
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}

// before returns the name that stands right before a mistake, such as the x of
// x.y, or "".
func before(source string, m Mistake) string {
	lines := strings.Split(source, "\n")
	if m.Line > len(lines) {
		return ""
	}
	line := []rune(lines[m.Line-1])
	head := string(line[:min(m.Column-1, len(line))])
	return head[strings.LastIndexFunc(head, func(r rune) bool { return !isNameRune(r) })+1:]
}

func isNameRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}

// explain turns CEL's errors into mistakes.
func (e *Env) explain(source string, errors []*common.Error) []Mistake {
	var mistakes []Mistake
	for _, err := range errors {
		m := Mistake{max(1, err.Location.Line()), max(0, err.Location.Column()) + 1, ""}
		m.Problem = e.say(err.Message, before(source, m))
		if !slices.Contains(mistakes, m) {
			mistakes = append(mistakes, m)
		}
	}
	slices.SortStableFunc(mistakes, byPosition)
	return mistakes
}
