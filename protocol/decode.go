package protocol

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// document is what every document of the wire can do.
type document[T any] interface {
	*T
	Validate() *Error
}

// needsMember is implemented by documents with a required boolean, whose
// absence the decoded value cannot show.
type needsMember interface{ requiredMember() string }

// leavesOut is implemented by documents with a raw value, in which null would
// not count as left out by itself.
type leavesOut interface{ leaveOut() }

// unmarshalers reads plain integers as it reads a Count: 12.0 is a whole number.
var unmarshalers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, n *int) error {
	whole, ok, err := readWhole(dec)
	if ok {
		*n = int(whole)
	}
	return err
}))

// decode reads doc and validates it. Of several mistakes it names the
// first; a protocolVersion of another protocol is always the first.
func decode[T any, P document[T]](doc []byte) (*T, *Error) {
	if len(doc) > MaxDocument {
		return nil, tooLarge(len(doc))
	}
	v := P(new(T))
	// Why not encoding/json: it matches member names whatever their case and takes
	// the last of two equal names, so a check could read differently here and at
	// its caller. This library is the one that is to become encoding/json/v2.
	if err := json.Unmarshal(doc, v, unmarshalers); err != nil {
		if _, version := Peek(doc); version != "" && version != Version {
			return nil, checkVersion(version)
		}
		return nil, syntaxError(err)
	}
	if d, ok := any(v).(leavesOut); ok {
		d.leaveOut()
	}
	if err := v.Validate(); err != nil {
		return nil, err
	}
	if d, ok := any(v).(needsMember); ok && !hasMember(doc, d.requiredMember()) {
		return nil, missing(d.requiredMember())
	}
	return v, nil
}

// Encode returns the JSON of a document. Equal documents give equal bytes.
// It fails only where a raw value (Input, Extra) is not valid JSON.
func Encode(document any) ([]byte, error) {
	return json.Marshal(document, json.Deterministic(true))
}

func tooLarge(n int) *Error {
	e := invalid("", "the document has %d bytes; at most %d are taken", n, MaxDocument)
	e.Code = CodeTooLarge
	return e
}

// Peek makes out what it can of a document that may be malformed: its requestId
// and its protocolVersion, each empty where it cannot be made out or is not a
// valid one. What stands twice with different values is not made out.
func Peek(doc []byte) (requestID, version string) {
	if len(doc) > MaxDocument {
		doc = doc[:MaxDocument]
	}
	members := peek(doc, "requestId", "protocolVersion")
	if checkRequestID(members[0]) != nil {
		members[0] = ""
	}
	return members[0], members[1]
}

// peek reads the string members of the outermost object for as long as it is
// JSON. It takes names that stand twice, since it is there for bad documents.
func peek(doc []byte, names ...string) []string {
	found := make([]string, len(names))
	clash := make([]bool, len(names))
	forEachMember(doc, func(name string, value jsontext.Value) {
		for i := range names {
			if name != names[i] || value.Kind() != '"' {
				continue
			}
			s, err := jsontext.AppendUnquote(nil, value)
			if err != nil {
				continue
			}
			if found[i] != "" && found[i] != string(s) {
				clash[i] = true
			}
			found[i] = string(s)
		}
	})
	for i := range clash {
		if clash[i] {
			found[i] = ""
		}
	}
	return found
}

func hasMember(doc []byte, name string) (found bool) {
	forEachMember(doc, func(n string, value jsontext.Value) {
		found = found || n == name && value.Kind() != 'n'
	})
	return found
}

func forEachMember(doc []byte, visit func(name string, value jsontext.Value)) {
	dec := jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowDuplicateNames(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return
	}
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return
		}
		name := tok.String()
		value, err := dec.ReadValue()
		if err != nil {
			return
		}
		visit(name, value)
	}
}

// syntaxError turns the library's error into one that names the field in the
// words of the protocol.
func syntaxError(err error) *Error {
	var wrong *Error
	if errors.As(err, &wrong) { // from one of our own types
		e := *wrong
		var at *json.SemanticError
		if errors.As(err, &at) {
			e.Field = dotted(at.JSONPointer)
		}
		return &e
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		want := "something else"
		if semantic.GoType != nil {
			want = wants(semantic.GoType)
		}
		if semantic.JSONKind == 0 || semantic.JSONKind == '0' && want == "a number" {
			return invalid(dotted(semantic.JSONPointer), "must be %s that is in range", want)
		}
		return invalid(dotted(semantic.JSONPointer), "must be %s, not %s", want, article(semantic.JSONKind))
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return invalid(dotted(syntax.JSONPointer), "not valid JSON at byte %d: %v", syntax.ByteOffset, syntax.Err)
	}
	return invalid("", "not valid JSON: %v", err)
}

// dotted writes a JSON pointer the way people write fields: action.targets[0].uri.
func dotted(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if b.Len() > maxField {
			b.WriteString("…")
			break
		}
		if token != "" && strings.Trim(token, "0123456789") == "" {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		if len(token) > maxQuoted {
			token = token[:maxQuoted] + "…"
		}
		b.WriteString(strings.Map(graphic, strings.ToValidUTF8(token, "�")))
	}
	return b.String()
}

// memberName writes the name of one member, header or attribute as dotted does.
func memberName(name string) string { return dotted(jsontext.Pointer("").AppendToken(name)) }

// maxField keeps a deep document from filling the error with its path.
const maxField = 200

// graphic keeps line ends and terminal escapes in a name out of logs.
func graphic(r rune) rune {
	if strconv.IsGraphic(r) {
		return r
	}
	return '�'
}

func article(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "that"
}
