package zones

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMeets bounds how many times one check compares a shell pattern with what is
// protected; what is beyond it can't be judged.
const maxMeets = 1 << 20

// guard is a path or a pattern of a protected zone, ready to be compared with
// shell patterns.
type guard struct {
	elements []element
	zone     *zone
}

// element is one element of a pattern, or the ** that stands for any number.
type element struct {
	any     bool
	symbols []rune
}

// globbing is what a shell was told of how patterns match.
type globbing struct{ dots, foldCase bool }

// reachable returns the protected zones with something that a shell pattern
// could match, or where below is set with a literal path below such a thing. It
// looks at all of them: patterns in commands are few, and so are protected
// zones. ok is false where it took too long.
func (j *judgement) reachable(pattern string, below bool, how globbing) (zones []*zone, ok bool) {
	set, around := j.set, &j.around
	visit := func(shell, prefix []element, guards []guard) {
		for i := range guards {
			g := &guards[i]
			if j.meets++; j.meets > maxMeets {
				return
			}
			guarded := g.elements
			if prefix != nil {
				guarded = slices.Concat(prefix, guarded)
			}
			if !slices.Contains(zones, g.zone) && meet(shell, guarded, how) {
				zones = append(zones, g.zone)
			}
		}
	}
	c := &set.protected
	homes := around.homes()
	for _, text := range alternatives(pattern) {
		shell := compile(text, true)
		if len(c.cwd) > 0 && around.hasCwd {
			cwd := names(around.cwd)
			for _, z := range c.cwd {
				visit(shell, cwd, []guard{{[]element{{any: true}}, z}})
			}
		}
		visit(shell, nil, c.absolute.guards)
		for _, home := range homes {
			visit(shell, names(home), c.homely.guards)
		}
		if !below {
			continue
		}
		shell = append(shell, element{any: true})
		if len(c.cwd) > 0 && around.hasCwd {
			for _, z := range c.cwd {
				visit(shell, nil, []guard{{names(around.cwd), z}})
			}
		}
		visit(shell, nil, c.absolute.literals)
		for _, home := range homes {
			visit(shell, names(home), c.homely.literals)
		}
	}
	return zones, j.meets <= maxMeets
}

// compileGuards makes guards of every path and every pattern of an index.
func (ix *index) compileGuards() (guards []guard) {
	add := func(pattern string, z *zone) {
		for _, text := range alternatives(pattern) {
			guards = append(guards, guard{compile(text, false), z})
		}
	}
	for at, r := range ix.roots {
		for z := range r.owns {
			guards = append(guards, guard{append(names(at), element{any: true}), z})
		}
		for _, g := range r.globs {
			add(g.pattern, g.zone)
		}
	}
	for base, zones := range ix.globs.base {
		for _, z := range zones {
			add("/**/"+base, z)
		}
	}
	for ext, zones := range ix.globs.ext {
		for _, z := range zones {
			add("/**/*"+ext, z)
		}
	}
	for _, g := range ix.globs.rest {
		add(g.pattern, g.zone)
	}
	// Maps have no order, and the same check must take the same steps.
	slices.SortStableFunc(guards, func(a, b guard) int { return a.zone.order - b.zone.order })
	return guards
}

func escape(literal string) string {
	if !hasMeta(literal) {
		return literal
	}
	var b strings.Builder
	for _, r := range literal {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// maxAlternatives bounds what the braces of one pattern may become; beyond it
// the rest of the pattern counts as anything.
const maxAlternatives = 64

// alternatives writes {a,b} out. Braces that are escaped, in a class or not
// closed are characters.
func alternatives(pattern string) []string {
	if all, ok := expand(pattern); ok {
		return all
	}
	// Cut at a folder: what follows may be anything.
	before := pattern[:strings.IndexByte(pattern, '{')]
	return []string{pattern[:strings.LastIndexByte(before, '/')+1] + "**"}
}

// expand is not ok where there are too many.
func expand(pattern string) (all []string, ok bool) {
	begin, end := -1, -1
	depth, start := 0, 0
	var parts []string
	for i := 0; i < len(pattern) && end < 0; i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			if n := classLength(pattern[i:], false); n > 0 {
				i += n - 1
			}
		case '{':
			if depth++; depth == 1 {
				begin, start = i, i+1
			}
		case ',':
			if depth == 1 {
				parts = append(parts, pattern[start:i])
				start = i + 1
			}
		case '}':
			if depth--; depth == 0 {
				parts = append(parts, pattern[start:i])
				end = i
			}
			depth = max(depth, 0)
		}
	}
	if end < 0 {
		return []string{pattern}, true
	}
	tails, ok := expand(pattern[end+1:])
	if !ok {
		return nil, false
	}
	for _, part := range parts {
		heads, ok := expand(part)
		if !ok || len(all)+len(heads)*len(tails) > maxAlternatives {
			return nil, false
		}
		for _, head := range heads {
			for _, tail := range tails {
				all = append(all, pattern[:begin]+head+tail)
			}
		}
	}
	return all, true
}

// classLength returns the length of the [class] that the text begins with; 0:
// it is none. Shells have named classes in it.
func classLength(text string, shell bool) int {
	i := 1
	if i < len(text) && (text[i] == '!' || text[i] == '^') {
		i++
	}
	if shell && i < len(text) && text[i] == ']' {
		i++
	}
	for ; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			if shell && i+1 < len(text) && strings.IndexByte(":.=", text[i+1]) >= 0 {
				if n := strings.Index(text[i+2:], text[i+1:i+2]+"]"); n >= 0 {
					i += n + 3
				}
			}
		case ']':
			return i + 1
		}
	}
	return 0
}

// names makes the elements of a place.
func names(p place) (all []element) {
	if p == "" {
		return nil
	}
	for name := range strings.SplitSeq(string(p[1:]), "/") {
		all = append(all, element{symbols: []rune(name)})
	}
	return all
}

// compile makes the elements of an absolute pattern without braces.
func compile(pattern string, shell bool) (all []element) {
	for text := range strings.SplitSeq(strings.TrimPrefix(pattern, "/"), "/") {
		if text != "**" {
			all = append(all, element{symbols: symbols(text, shell)})
		} else if len(all) == 0 || !all[len(all)-1].any {
			all = append(all, element{any: true})
		}
	}
	return all
}

// meet says whether a shell pattern and a guarded one have a path in common.
func meet(shell, guarded []element, how globbing) bool {
	// reach[k] says that the elements of shell read so far and the first k of
	// guarded have a path in common.
	reach, next := make([]bool, len(guarded)+1), make([]bool, len(guarded)+1)
	reach[0] = true
	skip := func(reach []bool) {
		for k, y := range guarded {
			reach[k+1] = reach[k+1] || y.any && reach[k]
		}
	}
	skip(reach)
	for _, x := range shell {
		alive := false
		for k := range next {
			switch {
			case x.any:
				next[k] = reach[k] || k > 0 && next[k-1]
			case k == 0:
				next[k] = false
			case guarded[k-1].any:
				next[k] = reach[k-1] || reach[k]
			default:
				next[k] = reach[k-1] && elementsMeet(x.symbols, guarded[k-1].symbols, how)
			}
			alive = alive || next[k]
		}
		if !alive {
			return false
		}
		skip(next)
		reach, next = next, reach
	}
	return reach[len(guarded)]
}

// elementsMeet does it for one element. A shell pattern that begins with a
// wildcard fits no name that begins with a dot, unless the shell was told so.
func elementsMeet(s, g []rune, how globbing) bool {
	if len(s) > 0 && len(g) > 0 && s[0] < 0 && g[0] == '.' && !how.dots {
		return false
	}
	reach, next := make([]bool, len(g)+1), make([]bool, len(g)+1)
	reach[0] = true
	skip := func(reach []bool) {
		for k, y := range g {
			reach[k+1] = reach[k+1] || y == star && reach[k]
		}
	}
	skip(reach)
	for _, x := range s {
		for k := range next {
			switch {
			case x == star:
				next[k] = reach[k] || k > 0 && next[k-1]
			case k == 0:
				next[k] = false
			case g[k-1] == star:
				next[k] = reach[k-1] || reach[k]
			default:
				next[k] = reach[k-1] && sameRune(x, g[k-1], how)
			}
		}
		skip(next)
		reach, next = next, reach
	}
	return reach[len(g)]
}

func sameRune(x, y rune, how globbing) bool {
	return x == y || x == one || y == one ||
		how.foldCase && x > 0 && y > 0 && unicode.ToLower(unicode.ToUpper(x)) == unicode.ToLower(unicode.ToUpper(y))
}

// Symbols of patterns, besides plain characters.
const (
	star rune = -1 // any text
	one  rune = -2 // any one character, a [class] included
)

func symbols(text string, shell bool) (all []rune) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '*':
			if len(all) == 0 || all[len(all)-1] != star {
				all = append(all, star)
			}
		case c == '?':
			all = append(all, one)
		case c == '[' && classLength(text[i:], shell) > 0:
			n := classLength(text[i:], shell)
			if strings.Contains(text[i:i+n], "[.") {
				all = append(all, star) // one of these may be several characters
			} else {
				all = append(all, one)
			}
			i += n - 1
		default:
			if c == '\\' && i+1 < len(text) {
				i++
			}
			r, size := utf8.DecodeRuneInString(text[i:])
			all = append(all, r)
			i += size - 1
		}
	}
	return all
}
