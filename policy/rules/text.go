package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/policy/source"
)

// Limits on a text of rules.
const (
	MaxText       = 8 << 20   // bytes
	MaxLine       = 4 << 10   // bytes of one line
	MaxName       = 256       // characters of a tool's name
	MaxPerSession = 1_000_000 // N of limit A to N per session
	MaxPerTool    = 10_000    // N of limit A to N per B, whose net holds N arcs
)

// Kind is what a rule asks for. The zero value is no rule.
type Kind uint8

// The kinds of rules.
const (
	KindRequire         Kind = iota + 1 // require Other before Tool
	KindApproval                        // require human-approval before Tool
	KindBlock                           // block Tool
	KindLimitPerSession                 // limit Tool to Max per session
	KindLimitPerTool                    // limit Tool to Max per Other
)

// Rule is one rule but for map lines.
type Rule struct {
	Kind  Kind
	Tool  string // the tool that may be held back
	Other string // the tool whose success frees it, if the kind has one
	Max   int    // of a limit
	Line  int    // where it stands, from 1
}

// String returns the rule in its canonical form, which is its net's name too.
func (r Rule) String() string {
	switch r.Kind {
	case KindRequire:
		return "require " + r.Other + " before " + r.Tool
	case KindApproval:
		return "require " + humanApproval + " before " + r.Tool
	case KindBlock:
		return "block " + r.Tool
	case KindLimitPerSession:
		return "limit " + r.Tool + " to " + strconv.Itoa(r.Max) + " per " + perSession
	case KindLimitPerTool:
		return "limit " + r.Tool + " to " + strconv.Itoa(r.Max) + " per " + r.Other
	}
	return "no rule"
}

// Map is one map line.
type Map struct {
	Tool    string // the own name of the calls it looks at
	Field   string // of their input
	Pattern Pattern
	Name    string // what it names them, or a command in them
	Line    int    // where it stands, from 1
}

// String returns the line in its canonical form.
func (m Map) String() string {
	return "map " + m.Tool + "." + m.Field + " " + m.Pattern.String() + " as " + m.Name
}

// Text is a text of rules, parsed: the lines that are right, in their order.
type Text struct {
	Maps  []Map
	Rules []Rule
}

// String returns the text in its canonical form: a line each, no comments.
func (t *Text) String() string {
	var b strings.Builder
	maps, rules := t.Maps, t.Rules
	for len(maps) > 0 || len(rules) > 0 {
		if len(rules) == 0 || len(maps) > 0 && maps[0].Line < rules[0].Line {
			b.WriteString(maps[0].String())
			maps = maps[1:]
		} else {
			b.WriteString(rules[0].String())
			rules = rules[1:]
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Tools returns every tool that the rules speak of, in their order, and those
// that map lines look at. A name may stand several times.
func (t *Text) Tools() []string {
	tools := make([]string, 0, 2*len(t.Rules)+len(t.Maps))
	for _, r := range t.Rules {
		tools = append(tools, r.Tool)
		if r.Other != "" {
			tools = append(tools, r.Other)
		}
	}
	for _, m := range t.Maps {
		tools = append(tools, m.Tool)
	}
	return tools
}

// Mistake is one thing wrong with a text: where in it, and what to write instead.
type Mistake struct {
	Line, Column int // from 1, in characters, relative to the text
	Problem      string
}

// String returns "line:column: problem".
func (m Mistake) String() string {
	return fmt.Sprintf("%d:%d: %s", m.Line, m.Column, m.Problem)
}

// In returns the mistake as one of a policy file in which the text's first
// character stands at this line and column. Every line of the text is taken to
// begin in that column, as in a YAML block; a file of rules begins at 1, 1.
func (m Mistake) In(file, path string, line, column int) source.Mistake {
	return source.Mistake{
		File: file, Path: path, Problem: m.Problem,
		Line: line + m.Line - 1, Column: column + m.Column - 1,
	}
}
