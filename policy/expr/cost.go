package expr

import (
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// costs says what calls cost. CEL's own figures go by the overload, which isn't
// known where a value comes from the input: joining two long texts of it would
// cost as little as adding two numbers.
type costs struct{}

// CallCost charges a call for the bytes that it goes through, a tenth each, as
// CEL has it for texts.
func (costs) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	cost := uint64(1)
	switch function {
	case "_==_", "_!=_", "@in", "_in_":
		for _, a := range args {
			cost += deep(a, 0) / 10
		}
	case "matches":
		if len(args) == 2 {
			text, pattern := length(args[0]), length(args[1])
			cost += (text/10 + 1) * (pattern/4 + 1)
		}
	default:
		for _, a := range args {
			cost += length(a) / 10
		}
	}
	return &cost
}

// length returns the bytes of a text; anything else has none to go through.
func length(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(len(v))
	case types.Bytes:
		return uint64(len(v))
	}
	return 0
}

// deep measures all that a value holds, as far as a limit is concerned.
func deep(v ref.Val, so uint64) uint64 {
	if so > 10*MaxCost {
		return so
	}
	switch v := v.(type) {
	case *mapping:
		for i, k := range v.keys {
			so = deep(v.vals[i], so+uint64(len(k))+10)
		}
	case *object:
		return deep(v.values, so)
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True && so <= 10*MaxCost; {
			so = deep(it.Next(), so+10)
		}
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True && so <= 10*MaxCost; {
			key := it.Next()
			so = deep(v.Get(key), deep(key, so)+10)
		}
	default:
		so += length(v)
	}
	return so
}
