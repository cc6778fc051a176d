package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// declared notes a function.
func (r *reader) declared(decl *syntax.FuncDecl) {
	name := decl.Name.Value
	f := r.facts.functions[name]
	if f == nil {
		f = &function{}
		r.facts.functions[name] = f
	}
	f.count++
	_, end := r.span(decl)
	f.end = max(f.end, end)
	syntax.Walk(decl.Body, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			f.calls = append(f.calls, r.word(call.Args[0]).Text)
		}
		return true
	})
	if r.moves([]*syntax.Stmt{decl.Body}) {
		r.facts.functionsMove = true
		r.facts.moves = true
	}
	if leaned[name] {
		r.opaqueNode("a function takes the name of "+name+", on which the rest of the source relies", decl)
		r.facts.lostDir = true
		r.facts.functionsMove = true
		r.facts.moves = true
	}
}

// surveyFunctions marks recursion, which no bounded reading can follow.
func (r *reader) surveyFunctions() {
	names := make([]string, 0, len(r.facts.functions))
	for name := range r.facts.functions {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if r.reaches(name, name, map[string]bool{}) {
			r.opaque("the function "+name+" calls itself", 0, len(r.source))
		}
	}
}

// reaches says whether the function from calls the function to, directly or
// through others.
func (r *reader) reaches(from, to string, seen map[string]bool) bool {
	if seen[from] {
		return false
	}
	seen[from] = true
	for _, name := range r.facts.functions[from].calls {
		if name == to {
			return true
		}
		if r.facts.functions[name] != nil && r.reaches(name, to, seen) {
			return true
		}
	}
	return false
}

// callsFunction says whether a word certainly calls a function of the source.
func (r *reader) callsFunction(w Word) bool {
	if !w.Known || w.Glob || r.facts.unset {
		return false
	}
	f := r.facts.functions[w.Text]
	return f != nil && f.count == 1 && f.always && f.end <= w.Start
}
