package expr

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// structType is an object type with named fields, which CEL checks at load.
type structType struct {
	typ    *cel.Type
	fields map[string]*cel.Type
}

func newStructType(name string, text ...string) *structType {
	s := &structType{fields: make(map[string]*cel.Type)}
	// No source can write this name, so that nothing but a check makes one.
	s.typ = types.NewObjectType("the "+name, traits.FieldTesterType, traits.IndexerType)
	for _, f := range text {
		s.fields[f] = cel.StringType
	}
	return s
}

// The objects of a check.
var (
	contextType = newStructType("context", "cwd", "home", "sessionId", "runId")
	callerType  = newStructType("caller", "extensionId", "agentId", "swarmId")
	targetType  = func() *structType {
		s := newStructType("target", "uri", "path", "realPath", "command")
		s.fields["argv"] = cel.ListType(cel.StringType)
		return s
	}()
)

// provider knows the object types of this package and no others.
type provider struct {
	types.Provider
	known []*structType
}

func (p *provider) find(name string) *structType {
	for _, s := range p.known {
		if s.typ.TypeName() == name {
			return s
		}
	}
	return nil
}

func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if s := p.find(name); s != nil {
		return types.NewTypeTypeWithParam(s.typ), true
	}
	return nil, false
}

func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if s := p.find(name); s != nil {
		return slices.Sorted(maps.Keys(s.fields)), true
	}
	return nil, false
}

func (p *provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	s := p.find(name)
	if s == nil || s.fields[field] == nil {
		return nil, false
	}
	get := func(target any) (ref.Val, error) {
		o, ok := target.(*object)
		if !ok {
			return nil, fmt.Errorf("no such key: %s", field)
		}
		v, ok := o.values.find(field)
		if !ok {
			return nil, fmt.Errorf("no such key: %s", field)
		}
		return v, nil
	}
	return &types.FieldType{
		Type:    s.fields[field],
		IsSet:   func(target any) bool { o, ok := target.(*object); return ok && o.has(field) },
		GetFrom: func(target any) (any, error) { return get(target) },
	}, true
}

// NewValue refuses: no expression makes an object.
func (p *provider) NewValue(name string, _ map[string]ref.Val) ref.Val {
	return types.NewErr("unknown type '%s'", name)
}

// object is a value of a structType. Every field has a value.
type object struct {
	typ    *structType
	values *mapping
}

// has says whether a field was given, which an empty text or list wasn't.
func (o *object) has(field string) bool {
	v, ok := o.values.find(field)
	if o.typ.typ.TypeName() == "the meta" || !ok {
		return ok
	}
	z, ok := v.(traits.Zeroer)
	return !ok || !z.IsZeroValue()
}

func (o *object) Get(index ref.Val) ref.Val {
	if name, ok := index.(types.String); ok {
		if v, ok := o.values.find(string(name)); ok {
			return v
		}
	}
	return types.NewErr("no such key: %v", index)
}

func (o *object) IsSet(field ref.Val) ref.Val {
	name, ok := field.(types.String)
	return types.Bool(ok && o.has(string(name)))
}

func (o *object) ConvertToNative(reflect.Type) (any, error) {
	return nil, fmt.Errorf("%s is no value of its own", o.typ.typ)
}

func (o *object) ConvertToType(t ref.Type) ref.Val {
	if t == types.TypeType {
		return o.typ.typ
	}
	return types.NewErr("%s can't be converted to %s", o.typ.typ, t.TypeName())
}

func (o *object) Equal(other ref.Val) ref.Val {
	p, ok := other.(*object)
	if !ok || p.typ.typ.TypeName() != o.typ.typ.TypeName() {
		return types.False
	}
	return o.values.Equal(p.values)
}

func (o *object) Type() ref.Type { return o.typ.typ }

func (o *object) Value() any { return o }
