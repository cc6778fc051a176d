package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// Limits on expressions and what they yield.
const (
	MaxSource   = 4096     // characters of an expression
	MaxNodes    = 5000     // of its syntax tree, macros expanded
	MaxNesting  = 50       // of its brackets and operators
	MaxLoops    = 4        // comprehensions in one another
	MaxRegex    = 1000     // instructions of a compiled regular expression
	MaxCost     = 200_000  // of one evaluation, in CEL's units: some milliseconds
	MaxKept     = 64 << 10 // bytes of one value of meta, as JSON
	MaxMetaKeys = 64
	maxDepth    = 100 // of JSON values in one another
	maxProblem  = 300 // bytes of an error's text
)

// Errors that wrap these say which limit was passed, or what failed.
var (
	// ErrLimit is returned when an evaluation costs more than MaxCost, or
	// yields more than MaxKept.
	ErrLimit = errors.New("limit reached")
	// ErrFailed is returned when an evaluation fails otherwise: a missing field,
	// a type that doesn't fit, a division by zero, a panic.
	ErrFailed = errors.New("evaluation failed")
	// ErrMeta is returned when values of meta can't be used.
	ErrMeta = errors.New("not a value of meta")
)

// Config is what the expressions of one net may rely on.
type Config struct {
	// Meta has the first values: bool, a number, string, []any or
	// map[string]any, as they come from YAML or JSON.
	Meta map[string]any
	// Places are the net's places. Where it isn't nil, an expression that names
	// another one is a mistake.
	Places []string
}

// Env compiles the expressions of one net. It is safe for concurrent use.
type Env struct {
	env    *cel.Env
	meta   *structType
	first  Meta
	places []string
}

// base is what all environments share.
var base = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewCustomEnv(
		cel.StdLib(cel.StdLibSubset(env.NewLibrarySubset().AddExcludedFunctions(functions(timeFunctions)...))),
		cel.ParserExpressionSizeLimit(MaxSource),
		cel.ExpressionNodeLimit(MaxNodes),
		cel.ParserRecursionLimit(MaxNesting),
		cel.ParserErrorRecoveryLimit(5),
		cel.RegexProgramSizeLimit(MaxRegex),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateComprehensionNestingLimit(MaxLoops)),
		cel.CrossTypeNumericComparisons(true),
		cel.Variable("input", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("tool", cel.StringType),
		cel.Variable("targets", cel.ListType(targetType.typ)),
		cel.Variable("context", contextType.typ),
		cel.Variable("caller", callerType.typ),
		cel.Variable("marking", cel.MapType(cel.StringType, cel.IntType)),
		cel.Function("covers", cel.Overload("covers_string_string", []*cel.Type{cel.StringType, cel.StringType}, cel.BoolType,
			cel.BinaryBinding(func(dir, path ref.Val) ref.Val {
				d, ok := dir.(types.String)
				p, ok2 := path.(types.String)
				if !ok || !ok2 {
					return types.MaybeNoSuchOverloadErr(dir)
				}
				return types.Bool(Covers(string(d), string(p)))
			}))),
	)
})

// variables are the names that an expression knows.
var variables = []string{"caller", "context", "input", "marking", "meta", "targets", "tool"}

// timeFunctions are taken out: what they yield may depend on the machine's time
// zones, and there is nothing for them to look at.
var timeFunctions = []string{
	"timestamp", "duration", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear",
	"getHours", "getMilliseconds", "getMinutes", "getMonth", "getSeconds",
}

func functions(names []string) []*env.Function {
	var all []*env.Function
	for _, n := range names {
		all = append(all, env.NewFunction(n))
	}
	return all
}

// NewEnv makes the environment of a net. The error names every key of meta that
// can't be used.
func NewEnv(cfg Config) (*Env, error) {
	shared, err := base()
	if err != nil {
		return nil, fmt.Errorf("CEL can't be set up: %w", err)
	}
	e := &Env{places: slices.Clone(cfg.Places), meta: newStructType("meta")}
	if err := e.start(cfg.Meta); err != nil {
		return nil, err
	}
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, fmt.Errorf("CEL can't be set up: %w", err)
	}
	e.env, err = shared.Extend(
		cel.CustomTypeProvider(&provider{registry, []*structType{targetType, contextType, callerType, e.meta}}),
		cel.CustomTypeAdapter(adapter{}),
		cel.Variable("meta", e.meta.typ),
	)
	if err != nil {
		return nil, fmt.Errorf("CEL can't be set up: %w", err)
	}
	return e, nil
}

// start types meta by its first values.
func (e *Env) start(first map[string]any) error {
	if len(first) > MaxMetaKeys {
		return fmt.Errorf("%w: meta has %d keys; at most %d are kept", ErrMeta, len(first), MaxMetaKeys)
	}
	var problems []error
	values := make(map[string]ref.Val, len(first))
	for _, key := range sortedKeys(first) {
		if !isIdentifier(key) {
			problems = append(problems, fmt.Errorf("%w: meta key %q can't be written as meta.KEY; use letters, digits and _, and no word of CEL", ErrMeta, key))
			continue
		}
		v, err := fromGo(first[key], 0)
		if err == nil {
			v, err = keep(v)
		}
		if err == nil && v == types.NullValue {
			err = errNull
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%w: meta.%s: %w", ErrMeta, key, err))
			continue
		}
		values[key] = v
		e.meta.fields[key] = typeOf(v)
	}
	e.first = Meta{values: newMapping(values)}
	return errors.Join(problems...)
}

// reserved are the words that CEL's grammar keeps for itself.
var reserved = []string{
	"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
	"namespace", "null", "package", "return", "true", "var", "void", "while",
}

func isIdentifier(name string) bool {
	if name == "" || '0' <= name[0] && name[0] <= '9' || slices.Contains(reserved, name) {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// typeOf returns the type of a first value. An empty list or map may hold
// anything; so may one whose elements differ.
func typeOf(v ref.Val) *cel.Type {
	switch v := v.(type) {
	case types.Bool:
		return cel.BoolType
	case types.Int:
		return cel.IntType
	case types.Double:
		return cel.DoubleType
	case types.String:
		return cel.StringType
	case traits.Lister:
		var elements []ref.Val
		for it := v.Iterator(); it.HasNext() == types.True; {
			elements = append(elements, it.Next())
		}
		return cel.ListType(oneType(elements))
	case *mapping:
		return cel.MapType(cel.StringType, oneType(v.vals))
	}
	return cel.DynType
}

func oneType(elements []ref.Val) *cel.Type {
	if len(elements) == 0 {
		return cel.DynType
	}
	first := typeOf(elements[0])
	for _, e := range elements[1:] {
		if !typeOf(e).IsExactType(first) {
			return cel.DynType
		}
	}
	return first
}
