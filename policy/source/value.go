package source

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits on a policy file.
const (
	MaxFile    = 64 << 20 // bytes
	maxAliases = 10_000   // uses of anchors in one file
	maxDepth   = 100      // nesting of values, aliases followed
	maxIndent  = 1000     // columns before the first character of a line
)

// Value is a value of a YAML file that knows where it stands. Its methods note a
// mistake and return false where it is not what was asked for.
type Value struct {
	file  *file
	node  ast.Node
	path  string
	depth int
	via   *token.Token // the alias that leads here: where a reader has to look
}

type file struct {
	name     string
	anchors  map[string]*ast.AnchorNode
	aliases  int
	mistakes *Mistakes
}

// Parse reads a YAML file of one document. Mistakes in its syntax are noted;
// false means that there is no value to go on with.
func Parse(name string, text []byte, mistakes *Mistakes) (Value, bool) {
	f := &file{name: name, anchors: make(map[string]*ast.AnchorNode), mistakes: mistakes}
	v := Value{file: f}
	if len(text) > MaxFile {
		mistakes.Add(name, "has %d bytes; at most %d are read: split it into several files of one folder", len(text), MaxFile)
		return v, false
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // some editors begin files with it
	if line := invalidLine(text); line > 0 {
		mistakes.List = append(mistakes.List, Mistake{File: name, Line: line, Column: 1, Problem: "is not valid UTF-8; save the file as UTF-8"})
		return v, false
	}
	tokens := lexer.Tokenize(string(text))
	if t := tooDeep(tokens); t != nil {
		v.at(t, "", "is nested too deeply; at most %d levels are read", maxDepth)
		return v, false
	}
	// Duplicate keys are found below, with all other mistakes.
	tree, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) && syntax.Token != nil {
			v.at(syntax.Token, "", "not valid YAML: %s", syntax.Message)
		} else {
			mistakes.Add(name, "not valid YAML: %v", err)
		}
		return v, false
	}
	for _, doc := range tree.Docs {
		switch body := doc.Body.(type) {
		case nil, *ast.CommentGroupNode:
			continue
		case *ast.DirectiveNode:
			v.at(body.GetToken(), "", "is a directive; policy files have none, take the line out")
			return v, false
		}
		if v.node != nil {
			v.at(start(doc.Body), "", "a second document begins here; write one document a file")
			return v, false
		}
		v.node = doc.Body
	}
	if v.node == nil {
		mistakes.Add(name, "is empty; write at least version: 1")
		return v, false
	}
	ast.Walk(anchorCollector{f}, v.node)
	return v, true
}

// invalidLine returns the first line that is not UTF-8; 0: all are.
func invalidLine(text []byte) int {
	if utf8.Valid(text) {
		return 0
	}
	line := 0
	for part := range bytes.Lines(text) {
		line++
		if !utf8.Valid(part) {
			break
		}
	}
	return line
}

// tooDeep returns the token at which the nesting passes every limit; nil: none.
// The parser has no limit of its own, and a megabyte of brackets would take all
// memory. Blocks nest by indentation, or by dashes on one line.
func tooDeep(tokens token.Tokens) *token.Token {
	brackets, dashes, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
			if t.Position.Column > maxIndent {
				return t
			}
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
			dashes++
		case token.CollectEntryType: // a comma
			dashes = 0
		}
		if brackets > maxDepth || dashes > maxDepth {
			return t
		}
	}
	return nil
}

type anchorCollector struct{ file *file }

func (c anchorCollector) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok {
		name := a.Name.GetToken().Value
		if first := c.file.anchors[name]; first != nil {
			Value{file: c.file}.at(a.GetToken(), "", "the anchor &%s is defined twice, first in line %d; give it another name", name, first.GetToken().Position.Line)
		} else {
			c.file.anchors[name] = a
		}
	}
	return c
}

// anchored returns what an alias stands for. An anchor counts from where it
// stands on, as in YAML.
func (f *file) anchored(n *ast.AliasNode) (ast.Node, bool) {
	a := f.anchors[n.Value.GetToken().Value]
	if a == nil {
		return nil, false
	}
	at, use := a.GetToken().Position, n.GetToken().Position
	if at.Line > use.Line || at.Line == use.Line && at.Column > use.Column {
		return nil, false
	}
	return a.Value, true
}

// Path returns the path of the value's key.
func (v Value) Path() string { return v.path }

// Position returns where the value stands, as "file:line:column".
func (v Value) Position() string {
	p := start(v.node).Position
	if v.via != nil {
		p = v.via.Position
	}
	return fmt.Sprintf("%s:%d:%d", v.file.name, p.Line, p.Column)
}

// Mistake notes a mistake at the value.
func (v Value) Mistake(format string, args ...any) {
	v.at(start(v.node), v.path, format, args...)
}

// Mistakes returns how many mistakes of the policy are known so far.
func (v Value) Mistakes() int { return len(v.file.mistakes.List) }

// start is the token at which a value begins for a reader: the mapping's first
// key and not its first colon.
func start(n ast.Node) *token.Token {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return m.Values[0].Key.GetToken()
	}
	return n.GetToken()
}

func (v Value) at(t *token.Token, path, format string, args ...any) {
	if v.via != nil {
		t = v.via
	}
	v.file.mistakes.List = append(v.file.mistakes.List, Mistake{
		File: v.file.name, Line: t.Position.Line, Column: t.Position.Column,
		Path: path, Problem: fmt.Sprintf(format, args...),
	})
}

// resolve takes tags, anchors and aliases off.
func (v Value) resolve() (Value, bool) {
	for {
		switch n := v.node.(type) {
		case *ast.AnchorNode:
			v.node = n.Value
		case *ast.TagNode:
			v.Mistake("has the tag %s; write plain values without tags", n.Start.Value)
			return v, false
		case *ast.AliasNode:
			name := n.Value.GetToken().Value
			target, ok := v.file.anchored(n)
			if !ok {
				v.Mistake("the anchor &%s is not defined above in this file", name)
				return v, false
			}
			v.file.aliases++
			v.depth++
			if v.file.aliases > maxAliases || v.depth > maxDepth {
				v.Mistake("has too many aliases, or one that contains itself")
				return v, false
			}
			if v.via == nil {
				v.via = n.GetToken()
			}
			v.node = target
		default:
			if v.depth > maxDepth {
				v.Mistake("is nested too deeply; at most %d levels are read", maxDepth)
				return v, false
			}
			return v, true
		}
	}
}

// IsMapping says whether the value is a mapping, without noting a mistake.
func (v Value) IsMapping() bool {
	_, ok := v.peek().(*ast.MappingNode)
	return ok
}

func (v Value) peek() ast.Node {
	for range maxDepth {
		switch n := v.node.(type) {
		case *ast.AnchorNode:
			v.node = n.Value
		case *ast.AliasNode:
			v.node, _ = v.file.anchored(n)
		default:
			return v.node
		}
	}
	return nil
}

// kind names a node in the words of YAML users.
func kind(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.BoolNode:
		return "true or false"
	case *ast.IntegerNode:
		return "a number"
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number with a fraction"
	case *ast.NullNode:
		return "empty"
	}
	return "something else"
}

func (v Value) wrong(want string) {
	if kind(v.node) == "empty" {
		if want == "text" && v.node.GetToken().Value == "~" {
			v.Mistake("is a ~ without quotes, which YAML reads as empty; write \"~\"")
			return
		}
		v.Mistake("is empty; write %s, or take the key out", want)
		return
	}
	v.Mistake("must be %s, not %s", want, kind(v.node))
}

// Text returns the value's text. Numbers and booleans are not text.
func (v Value) Text() (string, bool) {
	v, ok := v.resolve()
	if !ok {
		return "", false
	}
	switch n := v.node.(type) {
	case *ast.StringNode:
		if n.Value == "" {
			v.Mistake("is empty text; write something, or take the key out")
			return "", false
		}
		return n.Value, true
	case *ast.LiteralNode:
		if strings.TrimSpace(n.Value.Value) == "" {
			v.Mistake("is empty text; write something, or take the key out")
			return "", false
		}
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		v.Mistake("must be text, not %s; write it in quotes: %q", kind(n), n.GetToken().Value)
		return "", false
	}
	v.wrong("text")
	return "", false
}

// OneOf returns the value's text where it is one of the options.
func (v Value) OneOf(options ...string) (string, bool) {
	want := list(options)
	r, ok := v.resolve()
	if !ok {
		return "", false
	}
	n, ok := r.node.(*ast.StringNode)
	if !ok {
		if kind(r.node) == "text" {
			r.Mistake("must be %s on the same line, not a block of text", want)
		} else {
			r.wrong(want)
		}
		return "", false
	}
	for _, o := range options {
		if n.Value == o {
			return o, true
		}
	}
	r.Mistake("must be %s, not %s", want, strconv.Quote(n.Value))
	return "", false
}

func list(options []string) string {
	if len(options) == 1 {
		return options[0]
	}
	return strings.Join(options[:len(options)-1], ", ") + " or " + options[len(options)-1]
}

// Bool returns the value where it is true or false.
func (v Value) Bool() (value, ok bool) {
	if v, ok = v.resolve(); !ok {
		return false, false
	}
	n, ok := v.node.(*ast.BoolNode)
	if !ok {
		v.wrong("true or false")
		return false, false
	}
	return n.Value, true
}

// Integer returns the value where it is a whole number.
func (v Value) Integer() (int64, bool) {
	v, ok := v.resolve()
	if !ok {
		return 0, false
	}
	n, ok := v.node.(*ast.IntegerNode)
	if text, isText := v.node.(*ast.StringNode); isText && text.Token.Type == token.StringType && text.Value != "" && strings.Trim(text.Value, "0123456789") == "" {
		v.Mistake("is out of range") // the parser takes what no integer holds as text
		return 0, false
	}
	if !ok {
		v.wrong("a whole number")
		return 0, false
	}
	switch i := n.Value.(type) {
	case int64:
		return i, true
	case uint64:
		if i <= 1<<63-1 {
			return int64(i), true
		}
	}
	v.Mistake("is out of range")
	return 0, false
}

// Duration returns the value where it is a positive duration such as 5m or 24h.
func (v Value) Duration() (time.Duration, bool) {
	v, ok := v.resolve()
	if !ok {
		return 0, false
	}
	n, ok := v.node.(*ast.StringNode)
	if !ok {
		v.wrong("a duration such as 30s, 5m or 24h")
		return 0, false
	}
	d, err := time.ParseDuration(n.Value)
	if err != nil || d <= 0 {
		v.Mistake("must be a positive duration such as 30s, 5m or 24h, not %q", n.Value)
		return 0, false
	}
	return d, true
}

// List returns the elements of a list.
func (v Value) List() ([]Value, bool) {
	v, ok := v.resolve()
	if !ok {
		return nil, false
	}
	n, ok := v.node.(*ast.SequenceNode)
	if !ok {
		v.wrong("a list")
		return nil, false
	}
	values := make([]Value, 0, len(n.Values))
	for i, e := range n.Values {
		values = append(values, Value{file: v.file, node: e, path: v.path + "[" + strconv.Itoa(i) + "]", depth: v.depth + 1, via: v.via})
	}
	return values, true
}

// Texts returns the elements of a list of text, those that are text.
func (v Value) Texts() (texts []Located, ok bool) {
	elements, ok := v.List()
	for _, e := range elements {
		if t, isText := e.Text(); isText {
			texts = append(texts, Located{t, e})
		} else {
			ok = false
		}
	}
	return texts, ok
}

// Located is a text and where it stands.
type Located struct {
	Text string
	At   Value
}
