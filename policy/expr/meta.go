package expr

import (
	"errors"
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// Object is the input of a call. The zero value has no fields. It is immutable
// and safe for concurrent use.
type Object struct{ values *mapping }

// DecodeObject reads an input from JSON, of at least the named fields; nil: of
// all. What can't be read is an error, and no input.
func DecodeObject(doc []byte, fields []string) (Object, error) {
	m, err := decodeObject(doc, fields)
	if err != nil {
		return Object{}, fmt.Errorf("the input %w", err)
	}
	return Object{m}, nil
}

// NewObject makes an input of the values that a JSON decoder makes.
func NewObject(fields map[string]any) (Object, error) {
	v, err := fromGo(fields, 0)
	if err != nil {
		return Object{}, fmt.Errorf("the input has %w", err)
	}
	return Object{v.(*mapping)}, nil
}

// With returns the object with a text in a field, such as the command that is
// filled from a target.
func (o Object) With(field, text string) Object {
	return Object{o.values.with(map[string]ref.Val{field: types.String(text)})}
}

// Meta is what records of a net keep. It is immutable and safe for concurrent
// use: rolling back is to go on with the old one. The zero value has no keys.
type Meta struct{ values *mapping }

// First returns the first values.
func (e *Env) First() Meta { return e.first }

// DecodeMeta reads what MarshalJSON wrote. A key that is left out has its first
// value; a key that the net doesn't know, or a value of another type, is an
// error: the policy has changed since.
func (e *Env) DecodeMeta(doc []byte) (Meta, error) {
	m, err := decodeObject(doc, nil)
	if err != nil {
		return Meta{}, fmt.Errorf("%w: the document %w", ErrMeta, err)
	}
	changes := make(map[string]ref.Val, len(m.keys))
	for i, key := range m.keys {
		v, err := e.fit(key, m.vals[i])
		if err != nil {
			return Meta{}, err
		}
		changes[key] = v
	}
	return Meta{e.first.values.with(changes)}, nil
}

// fit returns a value as meta keeps it under a key.
func (e *Env) fit(key string, v ref.Val) (ref.Val, error) {
	want := e.meta.fields[key]
	if want == nil {
		return nil, fmt.Errorf("%w: there is no meta.%s", ErrMeta, key)
	}
	kept, err := keep(v)
	if err != nil {
		return nil, fmt.Errorf("meta.%s: %w", key, err)
	}
	if !isOf(kept, want) {
		return nil, fmt.Errorf("%w: meta.%s is of type %s, as its first value is; this is %s", ErrMeta, key, want, typeOf(kept))
	}
	return kept, nil
}

// isOf says whether a kept value is of a type.
func isOf(v ref.Val, want *cel.Type) bool {
	switch want.Kind() {
	case types.DynKind:
		return true
	case types.ListKind:
		l, ok := v.(traits.Lister)
		if !ok {
			return false
		}
		for it := l.Iterator(); it.HasNext() == types.True; {
			if !isOf(it.Next(), want.Parameters()[0]) {
				return false
			}
		}
		return true
	case types.MapKind:
		m, ok := v.(*mapping)
		if !ok {
			return false
		}
		for _, e := range m.vals {
			if !isOf(e, want.Parameters()[1]) {
				return false
			}
		}
		return true
	}
	return v.Type().TypeName() == want.TypeName()
}

// MarshalJSON writes the values, the keys in order.
func (m Meta) MarshalJSON() ([]byte, error) {
	if m.values == nil {
		return []byte("{}"), nil
	}
	return appendJSON(nil, m.values), nil
}

// Equal says whether two hold the same.
func (m Meta) Equal(other Meta) bool {
	a, _ := m.MarshalJSON()
	b, _ := other.MarshalJSON()
	return string(a) == string(b)
}

var errNull = errors.New(`null has no type; write a first value such as [], {}, "", 0 or false`)
