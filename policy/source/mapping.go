package source

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Mapping is a mapping whose keys are taken one by one; what is left over at the
// end is a mistake.
type Mapping struct {
	Value
	entries []entry
	known   []string
}

type entry struct {
	key   string
	token *token.Token
	value ast.Node
	taken bool
}

// Mapping returns the value as a mapping with text keys that stand once.
func (v Value) Mapping() (*Mapping, bool) {
	v, ok := v.resolve()
	if !ok {
		return nil, false
	}
	n, ok := v.node.(*ast.MappingNode)
	if !ok {
		v.wrong("a mapping")
		return nil, false
	}
	m := &Mapping{Value: v}
	seen := make(map[string]*token.Token, len(n.Values))
	for _, pair := range n.Values {
		t := pair.Key.GetToken()
		key, isText := keyText(pair.Key)
		path := join(v.path, key)
		if !isText {
			v.at(t, path, "must be a plain key; write the keys out, merge keys and keys that are not text are not read")
			continue
		}
		if first := seen[key]; first != nil {
			v.at(t, path, "stands twice, first in line %d; write it once", first.Position.Line)
			continue
		}
		seen[key] = t
		m.entries = append(m.entries, entry{key: key, token: t, value: pair.Value})
	}
	return m, true
}

func keyText(k ast.MapKeyNode) (string, bool) {
	switch k := k.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.MergeKeyNode:
		return "<<", false
	}
	return k.GetToken().Value, false
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Empty says whether the mapping has no keys at all.
func (m *Mapping) Empty() bool { return len(m.entries) == 0 }

// Get takes the value of a key; false where it is not there.
func (m *Mapping) Get(key string) (Value, bool) {
	m.known = append(m.known, key)
	for i := range m.entries {
		if e := &m.entries[i]; e.key == key {
			e.taken = true
			return Value{file: m.file, node: e.value, path: join(m.path, key), depth: m.depth + 1, via: m.via}, true
		}
	}
	return Value{}, false
}

// Need is Get for a key that has to be there.
func (m *Mapping) Need(key, why string) (Value, bool) {
	v, ok := m.Get(key)
	if !ok {
		m.Mistake("%s is missing; %s", key, why)
	}
	return v, ok
}

// Refuse notes a mistake at a key where it is there: it is not taken in this version.
func (m *Mapping) Refuse(key, format string, args ...any) {
	m.known = append(m.known, key)
	for i := range m.entries {
		if e := &m.entries[i]; e.key == key {
			e.taken = true
			m.at(e.token, join(m.path, key), format, args...)
		}
	}
}

// Done notes every key that was not taken as unknown, with the likely one.
func (m *Mapping) Done() {
	for i := range m.entries {
		e := &m.entries[i]
		if e.taken {
			continue
		}
		known := slices.Clone(m.known)
		slices.Sort(known)
		if near := nearest(e.key, known); near != "" {
			m.at(e.token, join(m.path, e.key), "unknown key; did you mean %s?", near)
		} else {
			m.at(e.token, join(m.path, e.key), "unknown key; known here are %s", list(known))
		}
	}
}

// nearest returns the known key that is at most two edits away.
func nearest(key string, known []string) string {
	best, found := 3, ""
	for _, k := range known {
		if d := distance(key, k); d < best && d < len(k) {
			best, found = d, k
		}
	}
	return found
}

// distance is the edit distance of Levenshtein (1966), in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
