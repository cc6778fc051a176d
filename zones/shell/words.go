package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// assign reads a NAME=value.
func (r *reader) assign(a *syntax.Assign) Assign {
	out := Assign{}
	if a.Name != nil {
		out.Name = a.Name.Value
	}
	out.Start, out.End = r.span(a)
	if a.Value != nil && a.Array == nil && !a.Append {
		out.Value = r.word(a.Value)
		if strings.Contains(r.text(a.Value), ":~") { // expands in assignments
			out.Value.Known, out.Value.Text = false, r.text(a.Value)
		}
		return out
	}
	empty := a.Array == nil && !a.Append && !a.Naked
	out.Value = Word{Known: empty, Start: out.Start, End: out.End}
	if !empty {
		out.Value.Text = r.text(a)
	}
	return out
}

// word reads one word, brace expansion aside.
func (r *reader) word(w *syntax.Word) Word {
	start, end := r.span(w)
	return r.parts(w.Parts, start, end)
}

// parts reads the parts of a word whose source is at start to end.
func (r *reader) parts(parts []syntax.WordPart, start, end int) Word {
	b := builder{known: true, single: true}
	parts = mergeLits(parts)
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text := p.Value
			if i == 0 {
				b.tilde(text, len(parts) == 1)
				if (b.isTilde || b.valueTilde) && r.facts.assigned["HOME"] {
					b.lose(true)
				}
			}
			b.unquoted(text)
		case *syntax.SglQuoted:
			text, ok := p.Value, true
			if p.Dollar {
				text, ok = ansiC(p.Value)
			}
			if ok {
				b.quoted(text)
			} else {
				b.lose(true)
			}
		case *syntax.DblQuoted:
			if p.Dollar { // may be translated
				b.lose(true)
			}
			b.doubleQuoted(p.Parts)
		case *syntax.ProcSubst: // becomes the absolute path of a pipe
			b.quoted("/")
			b.lose(true)
		default:
			b.lose(false)
		}
	}
	out := Word{Start: start, End: end, Known: b.known}
	if b.known {
		out.Tilde, out.ValueTilde = b.isTilde, b.valueTilde
	}
	switch {
	case !b.known:
		out.Text, out.Prefix, out.Single = r.source[start:end], b.value.String(), b.single
	case b.hasGlob():
		out.Text, out.Glob = b.pattern.String(), true
	default:
		out.Text = b.value.String()
	}
	return out
}

// mergeLits joins neighbouring literals, which brace expansion leaves.
func mergeLits(parts []syntax.WordPart) []syntax.WordPart {
	var out []syntax.WordPart
	for _, p := range parts {
		lit, ok := p.(*syntax.Lit)
		if ok && len(out) > 0 {
			if before, ok := out[len(out)-1].(*syntax.Lit); ok {
				out[len(out)-1] = &syntax.Lit{Value: before.Value + lit.Value}
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// builder puts the value of a word together.
type builder struct {
	value      strings.Builder // up to the first unknown part
	pattern    strings.Builder // the same with quoted glob characters escaped
	known      bool
	single     bool
	isTilde    bool
	valueTilde bool // of NAME=~
	glob       bool // an unquoted * or ?
	open       bool // an unquoted [
	bracket    bool // and a ] after it
}

func (b *builder) hasGlob() bool { return b.glob || b.bracket }

// lose notes a part whose value isn't known.
func (b *builder) lose(single bool) {
	b.known = false
	b.single = b.single && single
}

func (b *builder) add(c byte, quoted bool) {
	if c == ']' && b.open {
		b.bracket = true
	}
	if !quoted {
		switch c {
		case '*', '?':
			b.glob = true
		case '[':
			b.open = true
		}
	}
	if !b.known {
		return
	}
	b.value.WriteByte(c)
	// Braces that are left over are literal to the shell, but not to every
	// reader of patterns.
	if strings.IndexByte(`{}\`, c) >= 0 || quoted && strings.IndexByte("*?[]", c) >= 0 {
		b.pattern.WriteByte('\\')
	}
	b.pattern.WriteByte(c)
}

func (b *builder) quoted(text string) {
	for i := range len(text) {
		b.add(text[i], true)
	}
}

func (b *builder) unquoted(text string) {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.add(text[i], false)
			continue
		}
		if i++; i == len(text) {
			b.lose(true) // nothing to quote: shells differ
			return
		}
		if text[i] != '\n' { // a continued line
			b.add(text[i], true)
		}
	}
	if b.hasGlob() && !b.known {
		b.single = false
	}
}

func (b *builder) doubleQuoted(parts []syntax.WordPart) {
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text := p.Value
			for i := 0; i < len(text); i++ {
				if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0 {
					if i++; text[i] == '\n' {
						continue
					}
				}
				b.add(text[i], true)
			}
		case *syntax.ParamExp:
			b.lose(!manyWords(p))
		default:
			b.lose(true)
		}
	}
}

// manyWords says whether a quoted expansion may still be any number of words:
// "$@", "${a[@]}", and what may stand for them.
func manyWords(p *syntax.ParamExp) bool {
	if p.Excl || p.Names != 0 || p.Param == nil || p.Param.Value == "@" {
		return true
	}
	// `${x:-"$@"}` too.
	if p.Exp != nil && p.Exp.Word != nil && p.Exp.Word.Lit() == "" {
		return true
	}
	index, ok := p.Index.(*syntax.Word)
	return ok && index.Lit() == "@"
}

// tilde notes a tilde-prefix at the beginning of a word, or after the = of a
// word NAME=value. It goes up to the first unquoted slash.
func (b *builder) tilde(text string, whole bool) {
	name, value, isAssign := strings.Cut(text, "=")
	isAssign = isAssign && syntax.ValidName(strings.TrimSuffix(name, "+"))
	switch {
	case strings.HasPrefix(text, "~"):
		b.isTilde = b.tildePrefix(text, whole)
	case isAssign && strings.HasPrefix(value, "~"):
		b.valueTilde = b.tildePrefix(value, whole)
	}
	if isAssign && strings.Contains(value, ":~") {
		b.lose(true) // there, too
	}
}

// tildePrefix says whether text, which begins with ~, means the home directory.
func (b *builder) tildePrefix(text string, whole bool) bool {
	prefix, _, slash := strings.Cut(text, "/")
	switch {
	case strings.Contains(prefix, `\`):
		// Quoted, even in part: no expansion.
	case !slash && !whole:
		// What follows is quoted, or an expansion that is unknown anyway.
	case prefix == "~":
		return true
	default: // somebody else's home, or another directory
		b.lose(true)
	}
	return false
}
