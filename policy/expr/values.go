package expr

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// mapping is a map with text keys whose order is that of the keys: every run over
// it does the same. It is immutable.
type mapping struct {
	keys []string // sorted
	vals []ref.Val
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func newMapping(values map[string]ref.Val) *mapping {
	m := &mapping{keys: sortedKeys(values), vals: make([]ref.Val, 0, len(values))}
	for _, k := range m.keys {
		m.vals = append(m.vals, values[k])
	}
	return m
}

// find returns the value of a key; a nil mapping has none.
func (m *mapping) find(key string) (ref.Val, bool) {
	if m == nil {
		return nil, false
	}
	if i, ok := slices.BinarySearch(m.keys, key); ok {
		return m.vals[i], true
	}
	return nil, false
}

// with returns the mapping with other values for some keys.
func (m *mapping) with(changes map[string]ref.Val) *mapping {
	all := make(map[string]ref.Val, len(changes))
	if m != nil {
		for i, k := range m.keys {
			all[k] = m.vals[i]
		}
	}
	maps.Copy(all, changes)
	return newMapping(all)
}

func (m *mapping) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	return m.find(string(name))
}

func (m *mapping) Get(key ref.Val) ref.Val {
	if v, ok := m.Find(key); ok {
		return v
	}
	return types.NewErr("no such key: %v", key)
}

func (m *mapping) Contains(key ref.Val) ref.Val {
	_, ok := m.Find(key)
	return types.Bool(ok)
}

func (m *mapping) Size() ref.Val { return types.Int(len(m.keys)) }

func (m *mapping) IsZeroValue() bool { return len(m.keys) == 0 }

func (m *mapping) Fold(f traits.Folder) {
	for i, k := range m.keys {
		if !f.FoldEntry(k, m.vals[i]) {
			return
		}
	}
}

func (m *mapping) Iterator() traits.Iterator {
	keys := make([]ref.Val, len(m.keys))
	for i, k := range m.keys {
		keys[i] = types.String(k)
	}
	return newList(keys).Iterator()
}

func (m *mapping) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Mapper)
	if !ok || o.Size() != m.Size() {
		return types.False
	}
	for i, k := range m.keys {
		v, found := o.Find(types.String(k))
		if !found || types.Equal(m.vals[i], v) != types.True {
			return types.False
		}
	}
	return types.True
}

func (m *mapping) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("a map is not a %s", t)
}

func (m *mapping) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.MapType:
		return m
	case types.TypeType:
		return types.MapType
	}
	return types.NewErr("a map can't be converted to %s", t.TypeName())
}

func (m *mapping) Type() ref.Type { return types.MapType }

func (m *mapping) Value() any { return m }

func newList(elements []ref.Val) traits.Lister {
	return types.NewRefValList(types.DefaultTypeAdapter, elements)
}

// literal makes the map literals of an expression run in the order of their
// keys; CEL's own order is that of a Go map, and another one every time.
func literal(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	if c, ok := i.(interpreter.InterpretableConstructor); ok && c.Type() == types.MapType {
		return mapLiteral{i}, nil
	}
	return i, nil
}

type mapLiteral struct{ interpreter.InterpretableV2 }

func (l mapLiteral) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return inOrder(l.InterpretableV2.Exec(frame))
}

func (l mapLiteral) Eval(vars interpreter.Activation) ref.Val {
	return inOrder(l.InterpretableV2.Eval(vars))
}

func inOrder(v ref.Val) ref.Val {
	if m, ok := v.(traits.Mapper); ok {
		return ordered{m}
	}
	return v
}

// ordered is any map, in the order of its keys' texts.
type ordered struct{ traits.Mapper }

func (o ordered) Iterator() traits.Iterator {
	var keys []ref.Val
	for it := o.Mapper.Iterator(); it.HasNext() == types.True; {
		keys = append(keys, it.Next())
	}
	text := func(v ref.Val) string { return v.Type().TypeName() + fmt.Sprint(v.Value()) }
	slices.SortFunc(keys, func(a, b ref.Val) int { return strings.Compare(text(a), text(b)) })
	return newList(keys).Iterator()
}

func (o ordered) IsZeroValue() bool { return o.Size() == types.IntZero }
