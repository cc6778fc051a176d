package rules

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxField is how long a field may be, in bytes, to be searched by regexes and
// words. Quoted commands have the limits of zones/shell.
const MaxField = 64 << 10

// valueKind is what a field of an input holds.
type valueKind uint8

const (
	valueMissing valueKind = iota // left out, or null
	valueText
	valueArgv  // an array of strings
	valueOther // any other JSON, as its text
)

// value is the value of a field.
type value struct {
	kind valueKind
	text string // with argv: the words, joined by spaces
	argv []string
}

// empty says whether the field is to be filled from elsewhere.
func (v *value) empty() bool { return v.kind == valueMissing || v.kind == valueText && v.text == "" }

func argvValue(words []string) value {
	return value{kind: valueArgv, text: strings.Join(words, " "), argv: words}
}

// readFields reads the fields of a JSON object, in the order of their names,
// into values. What can't be read is a doubt, and missing.
func readFields(input jsontext.Value, fields []string, values []value, doubts *Names) []value {
	values = append(values, make([]value, len(fields))...)
	if len(input) == 0 {
		return values
	}
	if err := eachField(input, fields, values); err != nil {
		clear(values)
		doubts.doubt("", "", "its input can't be read as a JSON object")
	}
	return values
}

var errNotObject = errors.New("not an object")

func eachField(input jsontext.Value, fields []string, values []value) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(input))
	if dec.PeekKind() == 'n' {
		return nil
	}
	if tok, err := dec.ReadToken(); err != nil {
		return err
	} else if tok.Kind() != '{' {
		return errNotObject
	}
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		if err != nil {
			return err
		}
		i := slices.Index(fields, key.String())
		if i < 0 {
			err = dec.SkipValue()
		} else {
			values[i], err = readValue(dec)
		}
		if err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return errNotObject
	}
	return nil
}

func readValue(dec *jsontext.Decoder) (value, error) {
	switch dec.PeekKind() {
	case 'n':
		return value{}, dec.SkipValue()
	case '"':
		tok, err := dec.ReadToken()
		return value{kind: valueText, text: tok.String()}, err
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return value{}, err
	}
	if words, ok := readWords(raw); ok {
		return argvValue(words), nil
	}
	raw = raw.Clone()
	err = raw.Compact()
	return value{kind: valueOther, text: string(raw)}, err
}

// readWords reads an array of strings; false where it is something else.
func readWords(raw jsontext.Value) ([]string, bool) {
	if raw.Kind() != '[' {
		return nil, false
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	var words []string
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		words = append(words, tok.String())
	}
	return words, dec.PeekKind() == ']'
}
