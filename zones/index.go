package zones

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// index finds the zones that own or match a path by looking up the path and the
// folders above it: the cost follows the depth of the path, not the number of
// zones. Keys are places, or the rest of a place below a home.
type index struct {
	roots map[place]root
	// depths has a bit for each number of path elements that some root has, so
	// that the look-up skips the others; the last bit stands for all deeper ones.
	depths uint64
	globs  anywhere
	below  []literal // of protected zones sorted by place

	guards, literals []guard // of protected zones, see reachable
}

// root is what begins at one literal path. It lies in the map by value, and its
// first zone in it: with many zones each pointer that a look-up follows is one to
// memory that no cache holds.
type root struct {
	first *zone   // with this path; nil: none has it
	more  []*zone // likewise
	globs []glob  // patterns with this literal prefix
}

// owns yields the zones with the root's path.
func (r *root) owns(yield func(*zone) bool) {
	if r.first == nil || !yield(r.first) {
		return
	}
	for _, z := range r.more {
		if !yield(z) {
			return
		}
	}
}

// glob is one pattern of a zone.
type glob struct {
	pattern string // absolute, or below a home: /.ssh/**
	zone    *zone
}

// anywhere holds the patterns that begin with **/ and so fit below every
// folder, by what can be looked up: the last element, or its extension.
type anywhere struct {
	base map[string][]*zone // **/.env
	ext  map[string][]*zone // **/*.pem, by ".pem"
	rest []glob
}

// literal is a zone's path without a pattern, for what lies below a folder.
type literal struct {
	at   place
	zone *zone
}

// depthBit is the bit of a number of path elements.
func depthBit(elements int) uint64 { return 1 << min(elements, 63) }

// change puts what begins at a literal path into the map.
func (ix *index) change(at place, add func(*root)) {
	if ix.roots == nil {
		ix.roots = make(map[place]root)
	}
	r := ix.roots[at]
	add(&r)
	ix.roots[at] = r
	ix.depths |= depthBit(strings.Count(string(at), "/"))
}

func (ix *index) addPath(at place, z *zone) {
	ix.change(at, func(r *root) {
		if r.first == nil {
			r.first = z
		} else {
			r.more = append(r.more, z)
		}
	})
	ix.below = append(ix.below, literal{at, z})
}

// addGlob adds a pattern that is absolute, or below a home.
func (ix *index) addGlob(pattern string, z *zone) {
	if tail, ok := strings.CutPrefix(pattern, "/**/"); ok {
		switch {
		case !hasMeta(tail) && !strings.Contains(tail, "/"):
			if ix.globs.base == nil {
				ix.globs.base = make(map[string][]*zone)
			}
			ix.globs.base[tail] = append(ix.globs.base[tail], z)
		case strings.HasPrefix(tail, "*.") && !hasMeta(tail[1:]) && !strings.ContainsAny(tail[2:], "./"):
			if ix.globs.ext == nil {
				ix.globs.ext = make(map[string][]*zone)
			}
			ix.globs.ext[tail[1:]] = append(ix.globs.ext[tail[1:]], z)
		default:
			ix.globs.rest = append(ix.globs.rest, glob{pattern, z})
		}
		return
	}
	at, tail := split(pattern)
	ix.change(at, func(r *root) { r.globs = append(r.globs, glob{pattern, z}) })
	if tail == "" || tail == "/**" {
		ix.below = append(ix.below, literal{at, z})
	}
}

// split takes the literal folders off the front of an absolute pattern. The
// tail begins with a slash; it is empty where the whole pattern is literal.
func split(pattern string) (at place, tail string) {
	if isLiteral(pattern) {
		return clean(unescape(pattern)), ""
	}
	prefix, tail := doublestar.SplitPattern(pattern)
	return clean(prefix), "/" + tail
}

func isLiteral(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return false
		}
	}
	return true
}

// finish prepares what only protected zones are asked for: what lies below a
// folder, and what a shell pattern could match. The index is immutable after it.
func (ix *index) finish() {
	slices.SortStableFunc(ix.below, func(a, b literal) int { return strings.Compare(string(a.at), string(b.at)) })
	for _, l := range ix.below {
		ix.literals = append(ix.literals, guard{names(l.at), l.zone})
	}
	ix.guards = ix.compileGuards()
}

// hit is a zone that owns or matches a path; length is that of the literal
// prefix, in bytes of the path looked up.
type hit struct {
	zone   *zone
	length int
}

// all visits every zone that owns or matches p.
func (ix *index) all(p place, visit func(hit)) {
	ix.walk(p, visit, false)
}

// nearest visits the zones with the longest literal prefix, and only them.
func (ix *index) nearest(p place, visit func(hit)) {
	ix.walk(p, visit, true)
}

func (ix *index) walk(p place, visit func(hit), nearest bool) {
	if ix.depths != 0 {
		depth := strings.Count(string(p), "/")
		for at, ok := p, true; ok; at, ok = at.parent() {
			if ix.depths&depthBit(depth) != 0 {
				// At length 0 the patterns that fit anywhere are as near.
				if r, ok := ix.roots[at]; ok && r.visit(p, len(at), visit) && nearest && len(at) > 0 {
					return
				}
			}
			depth--
		}
	}
	ix.globs.visit(p, visit)
}

func (r *root) visit(p place, length int, visit func(hit)) (found bool) {
	for z := range r.owns {
		visit(hit{z, length})
		found = true
	}
	for _, g := range r.globs {
		if g.matches(p) {
			visit(hit{g.zone, length})
			found = true
		}
	}
	return found
}

func (a *anywhere) visit(p place, visit func(hit)) {
	if a.base == nil && a.ext == nil && a.rest == nil {
		return
	}
	base := path.Base(p.String())
	for _, z := range a.base[base] {
		visit(hit{z, 0})
	}
	if a.ext != nil {
		for _, z := range a.ext[path.Ext(base)] {
			visit(hit{z, 0})
		}
	}
	for _, g := range a.rest {
		if g.matches(p) {
			visit(hit{g.zone, 0})
		}
	}
}

func (g *glob) matches(p place) bool {
	// Patterns were validated at load: there is no error left to see. The root is
	// the empty text, or * would match what follows its slash.
	return doublestar.MatchUnvalidated(g.pattern, string(p))
}

// beneath visits the zones whose literal path lies below the folder p, p itself
// not included.
func (ix *index) beneath(p place, visit func(hit)) {
	from := p + "/"
	i, _ := slices.BinarySearchFunc(ix.below, from, func(l literal, from place) int {
		return strings.Compare(string(l.at), string(from))
	})
	for ; i < len(ix.below) && strings.HasPrefix(string(ix.below[i].at), string(from)); i++ {
		visit(hit{ix.below[i].zone, len(ix.below[i].at)})
	}
}

func hasMeta(pattern string) bool { return strings.ContainsAny(pattern, `*?[]{}\`) }

// unescape takes the backslashes out of a literal part of a pattern.
func unescape(literal string) string {
	if !strings.Contains(literal, `\`) {
		return literal
	}
	var b strings.Builder
	for i := 0; i < len(literal); i++ {
		if literal[i] == '\\' && i+1 < len(literal) {
			i++
		}
		b.WriteByte(literal[i])
	}
	return b.String()
}
