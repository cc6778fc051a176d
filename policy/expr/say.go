package expr

import (
	"fmt"
	"slices"
	"strings"
)

// say puts an error of CEL's compiler into plain words, where it is a common one.
// The name is what stands before it.
func (e *Env) say(message, name string) string {
	quoted := func(after string) (string, bool) {
		_, rest, ok := strings.Cut(message, after+"'")
		what, _, closed := strings.Cut(rest, "'")
		return what, ok && closed
	}
	if what, ok := quoted("undeclared reference to "); ok {
		return unknown(what)
	}
	if what, ok := quoted("unexpected failed resolution of "); ok {
		return unknown(what)
	}
	if what, ok := quoted("undefined field "); ok {
		return "there is no field " + what + e.fieldsOf(name)
	}
	switch {
	case message == "invalid matches argument":
		return "not a regular expression of RE2, or a very large one"
	case strings.HasPrefix(message, "comprehension exceeds nesting limit"):
		return fmt.Sprintf("at most %d of all, exists, exists_one, map and filter may stand in one another", MaxLoops)
	case strings.HasPrefix(message, "expression recursion limit exceeded"):
		return fmt.Sprintf("the expression is nested too deeply; at most %d levels are read", MaxNesting)
	}
	if _, rest, ok := strings.Cut(message, "found no matching overload for "); ok {
		return overload(rest)
	}
	if rest, ok := strings.CutPrefix(message, "Syntax error: "); ok {
		rest = strings.NewReplacer("'<EOF>'", "the end", "<EOF>", "the end").Replace(rest)
		if strings.HasPrefix(rest, "token recognition error at: '= ") || strings.HasPrefix(rest, "token recognition error at: '='") {
			return "not valid CEL: a single =; to compare, write =="
		}
		if what, _, long := strings.Cut(rest, " expecting {"); long {
			rest = what + ", expected a value or an operator"
		}
		return "not valid CEL: " + shorten(rest)
	}
	return shorten(message)
}

func unknown(name string) string {
	switch {
	case slices.Contains(timeFunctions, name):
		return name + " is not there: time has no part in what a policy decides"
	case name == "now" || name == "random" || name == "rand":
		return name + " is not there: the same call must always get the same decision"
	}
	return name + " is not known here; known are " + strings.Join(variables, ", ") + ", covers() and the functions of CEL"
}

func overload(rest string) string {
	name, args, _ := strings.Cut(rest, " applied to ")
	name = strings.NewReplacer("@in", "in", "[_]", "[]").Replace(strings.Trim(strings.Trim(name, "'"), "_"))
	args = strings.Trim(args, "'")
	hint := "convert with int(), double() or string(), or use another function"
	switch {
	case name == "[]" && strings.HasPrefix(args, "(the "):
		hint = "write the field with a dot, as in meta.paths"
	case name == "covers":
		hint = "it takes two texts, as in covers(dir, path)"
	}
	return name + " can't be applied to " + args + "; " + hint
}

// fieldsOf lists the fields that there are, after one that there isn't.
func (e *Env) fieldsOf(name string) string {
	t, ok := map[string]*structType{"caller": callerType, "context": contextType, "meta": e.meta}[name]
	if !ok {
		name, t = "a target", targetType
	}
	if fields := sortedKeys(t.fields); len(fields) > 0 {
		return "; " + name + " has " + strings.Join(fields, ", ")
	}
	return "; the net has no " + name
}

func shorten(text string) string {
	if len(text) > maxProblem {
		text = strings.ToValidUTF8(text[:maxProblem], "") + "…"
	}
	return text
}
