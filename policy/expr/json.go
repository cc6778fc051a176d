package expr

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"github.com/go-json-experiment/json/jsontext"
)

var errTooDeep = fmt.Errorf("%w: values are nested deeper than %d", ErrLimit, maxDepth)

// decodeObject reads a JSON object; fields, unless nil, are all that is kept of
// it. No document at all is an object without fields.
func decodeObject(doc []byte, fields []string) (*mapping, error) {
	values := make(map[string]ref.Val)
	if len(doc) == 0 {
		return newMapping(values), nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(doc))
	if dec.PeekKind() != '{' {
		return nil, errors.New("is not a JSON object")
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := tok.String()
		if fields != nil && !slices.Contains(fields, key) {
			if err := dec.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		if values[key], err = decodeValue(dec, 1); err != nil {
			return nil, err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil, errors.New("goes on after the JSON object")
	}
	return newMapping(values), nil
}

func decodeValue(dec *jsontext.Decoder, depth int) (ref.Val, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '"':
		return types.String(tok.String()), nil
	case 't', 'f':
		return types.Bool(tok.Bool()), nil
	case '0':
		return number(tok.String())
	case '[':
		elements := []ref.Val{}
		for dec.PeekKind() != ']' {
			v, err := decodeValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			elements = append(elements, v)
		}
		_, err := dec.ReadToken()
		return newList(elements), err
	case '{':
		values := make(map[string]ref.Val)
		for dec.PeekKind() != '}' {
			key, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			name := key.String()
			if values[name], err = decodeValue(dec, depth+1); err != nil {
				return nil, err
			}
		}
		_, err := dec.ReadToken()
		return newMapping(values), err
	}
	return types.NullValue, nil
}

// number reads a number of JSON: whole ones as int, where they are written and
// fit so, all others as double.
func number(text string) (ref.Val, error) {
	if !strings.ContainsAny(text, ".eE") {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return types.Int(n), nil
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("the number %s is out of range", text)
	}
	return types.Double(f), nil
}

// fromGo takes over a value as YAML and JSON decoders make it.
func fromGo(v any, depth int) (ref.Val, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	switch v := v.(type) {
	case nil:
		return types.NullValue, nil
	case bool:
		return types.Bool(v), nil
	case string:
		return types.String(v), nil
	case int:
		return types.Int(v), nil
	case int64:
		return types.Int(v), nil
	case uint64:
		if v <= math.MaxInt64 {
			return types.Int(v), nil
		}
		return types.Double(v), nil
	case float64:
		return types.Double(v), nil
	case []string:
		return stringList(v), nil
	case []any:
		elements := make([]ref.Val, 0, len(v))
		for _, e := range v {
			w, err := fromGo(e, depth+1)
			if err != nil {
				return nil, err
			}
			elements = append(elements, w)
		}
		return newList(elements), nil
	case map[string]any:
		values := make(map[string]ref.Val, len(v))
		for k, e := range v {
			w, err := fromGo(e, depth+1)
			if err != nil {
				return nil, err
			}
			values[k] = w
		}
		return newMapping(values), nil
	}
	return nil, fmt.Errorf("a value of Go type %T; use text, numbers, booleans, lists and maps", v)
}

func stringList(texts []string) ref.Val {
	elements := make([]ref.Val, 0, len(texts))
	for _, t := range texts {
		elements = append(elements, types.String(t))
	}
	return newList(elements)
}

// keeper copies a value that may be kept, and measures it as JSON.
type keeper struct{ left int }

var errTooLong = fmt.Errorf("%w: it has more than %d bytes as JSON", ErrLimit, MaxKept)

// keep returns a copy that is made of nothing but what JSON can hold.
func keep(v ref.Val) (ref.Val, error) {
	k := keeper{left: MaxKept}
	return k.keep(v, 0)
}

func (k *keeper) take(bytes int) error {
	if k.left -= bytes; k.left < 0 {
		return errTooLong
	}
	return nil
}

func (k *keeper) keep(v ref.Val, depth int) (ref.Val, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	switch v := v.(type) {
	case types.Null, types.Bool, types.Int:
		return v, k.take(len(appendJSON(nil, v)))
	case types.Double:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, fmt.Errorf("%v is no number that can be kept", v)
		}
		return v, k.take(len(appendJSON(nil, v)))
	case types.String:
		if err := k.take(len(v)); err != nil {
			return nil, err
		}
		return v, k.take(len(appendJSON(nil, v)) - len(v))
	case traits.Lister:
		elements := []ref.Val{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			e, err := k.keep(it.Next(), depth+1)
			if err == nil {
				err = k.take(1)
			}
			if err != nil {
				return nil, err
			}
			elements = append(elements, e)
		}
		return newList(elements), k.take(1)
	case traits.Mapper:
		values := make(map[string]ref.Val)
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.(types.String)
			if !ok {
				return nil, fmt.Errorf("a map with the key %v can't be kept; keys must be text", key.Value())
			}
			e, err := k.keep(v.Get(key), depth+1)
			if err == nil {
				err = k.take(len(name) + 4)
			}
			if err != nil {
				return nil, err
			}
			values[string(name)] = e
		}
		return newMapping(values), k.take(1)
	}
	return nil, fmt.Errorf("a value of type %s can't be kept; use text, numbers, booleans, lists and maps", v.Type().TypeName())
}

// appendJSON writes a kept value. Doubles are written so that they are read as
// such.
func appendJSON(b []byte, v ref.Val) []byte {
	switch v := v.(type) {
	case types.Bool:
		return strconv.AppendBool(b, bool(v))
	case types.Int:
		return strconv.AppendInt(b, int64(v), 10)
	case types.Double:
		from := len(b)
		b = strconv.AppendFloat(b, float64(v), 'g', -1, 64)
		if !bytes.ContainsAny(b[from:], ".e") {
			b = append(b, ".0"...)
		}
		return b
	case types.String:
		quoted, err := jsontext.AppendQuote(b, string(v))
		if err != nil { // invalid UTF-8 became replacement characters
			return quoted
		}
		return quoted
	case traits.Lister:
		b = append(b, '[')
		for it, first := v.Iterator(), true; it.HasNext() == types.True; first = false {
			if !first {
				b = append(b, ',')
			}
			b = appendJSON(b, it.Next())
		}
		return append(b, ']')
	case *mapping:
		b = append(b, '{')
		for i, k := range v.keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, types.String(k))
			b = append(b, ':')
			b = appendJSON(b, v.vals[i])
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}
