package protocol

import (
	"math"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Count is a whole number that is not negative. It is read from any JSON number
// with a whole value (12, 12.0, 1.2e1), as programs in other languages write them.
type Count int64

// UnmarshalJSONFrom reads a whole number; null leaves the value as it is.
func (c *Count) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	n, ok, err := readWhole(dec)
	if ok {
		*c = Count(n)
	}
	return err
}

// Millis is a time-out in milliseconds, from MinTimeoutMs to MaxTimeoutMs; zero
// is one that was left out.
type Millis int64

// UnmarshalJSONFrom reads a time-out; null leaves the value as it is.
func (m *Millis) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	n, ok, err := readWhole(dec)
	if err != nil || !ok {
		return err
	}
	if n < MinTimeoutMs || n > MaxTimeoutMs {
		return invalid("", "must be from %d to %d (milliseconds), not %d", MinTimeoutMs, MaxTimeoutMs, n)
	}
	*m = Millis(n)
	return nil
}

// Words are the words of a command line, the program first. A word is a string:
// null is none.
type Words []string

// UnmarshalJSONFrom reads an array of strings; null leaves the value as it is.
func (w *Words) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch k := dec.PeekKind(); k {
	case 'n':
		return dec.SkipValue()
	case '[':
	default:
		return wrongKind(dec, "an array of strings")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	words := Words{}
	for dec.PeekKind() != ']' {
		if dec.PeekKind() != '"' {
			return wrongKind(dec, "an array of strings, and nothing else in it")
		}
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		words = append(words, tok.String())
	}
	*w = words
	_, err := dec.ReadToken()
	return err
}

// wrongKind consumes the value, so that a syntax error in it comes first.
func wrongKind(dec *jsontext.Decoder, want string) error {
	k := dec.PeekKind()
	if err := dec.SkipValue(); err != nil {
		return err
	}
	return invalid("", "must be %s, not %s", want, article(k))
}

func readWhole(dec *jsontext.Decoder) (n int64, ok bool, err error) {
	switch dec.PeekKind() {
	case 'n':
		return 0, false, dec.SkipValue()
	case '0':
	default:
		return 0, false, wrongKind(dec, "a whole number")
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return 0, false, err
	}
	text := tok.String()
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && n <= MaxCount {
		return n, true, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || f < 0 || f > MaxCount {
		return 0, false, invalid("", "must be a whole number from 0 to %d, not %s", int64(MaxCount), quote(text))
	}
	return int64(f), true, nil
}

var (
	typeBool  = reflect.TypeFor[bool]()
	typeFloat = reflect.TypeFor[float64]()
	typeTime  = reflect.TypeFor[time.Time]()
)

// wants says in the words of JSON what a Go type is read from.
func wants(t reflect.Type) string {
	switch {
	case t == typeBool:
		return "true or false"
	case t == typeFloat:
		return "a number"
	case t == typeTime:
		return "a time of RFC 3339"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	case reflect.Pointer:
		return wants(t.Elem())
	}
	return "an object"
}

// named is a field with a name in it, for checkNames.
type named struct{ field, value string }

func checkNames(names ...named) *Error {
	for _, n := range names {
		// A string has at most as many characters as bytes: most need no count.
		if len(n.value) > MaxName && utf8.RuneCountInString(n.value) > MaxName {
			return invalid(n.field, "has %d characters; at most %d are taken", utf8.RuneCountInString(n.value), MaxName)
		}
	}
	return nil
}

func checkVersion(v string) *Error {
	switch v {
	case Version:
		return nil
	case "":
		return missing("protocolVersion")
	}
	return &Error{Code: CodeUnsupportedVersion, Field: "protocolVersion",
		Problem: quote(v) + " is not supported; this provider speaks version " + strconv.Quote(Version)}
}

func checkRequestID(id string) *Error {
	if id == "" {
		return missing("requestId")
	}
	if len(id) > MaxRequestID {
		return invalid("requestId", "has %d bytes; at most %d printable ASCII characters are taken", len(id), MaxRequestID)
	}
	for i := range len(id) {
		if id[i] < ' ' || id[i] > '~' {
			return invalid("requestId", "must be printable ASCII; a UUID is best")
		}
	}
	return nil
}

func checkCount(at, field string, n Count) *Error {
	if n < 0 || n > MaxCount {
		return invalid(at+field, "must be a whole number from 0 to %d, not %d", int64(MaxCount), n)
	}
	return nil
}

func checkCost(at string, usd float64) *Error {
	if usd >= 0 && usd <= MaxCost {
		return nil // written so that NaN is not taken
	}
	return invalid(at+"costUsd", "must be from 0 to %g (US dollars), not %g", MaxCost, usd)
}

// noTime says whether a time counts as left out: the zero time does, and so
// that every way to write it does, anything in its year or before.
func noTime(t time.Time) bool { return t.Year() <= 1 }
