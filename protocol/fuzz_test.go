package protocol_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// FuzzDecodeCheck decodes anything. What is accepted means the same when it is
// written again, is accepted by the schema, is not changed by members whose
// names differ in case, and is not read beside a second member of a name; what
// is refused is refused by the schema where it is in its domain.
func FuzzDecodeCheck(f *testing.F) {
	check := wires()[0]
	for _, doc := range append(check.also, check.full) {
		f.Add([]byte(doc))
	}
	for _, c := range check.cases {
		if doc := c.apply(f, check.full); len(doc) < 4096 {
			f.Add(doc)
		}
	}
	for i := range badChecks {
		if doc := badChecks[i].bytes(f); len(doc) < 4096 {
			f.Add(doc)
		}
	}
	schema := compileFor(f, check.name)
	f.Fuzz(func(t *testing.T, doc []byte) {
		id, version := protocol.Peek(doc)
		c, err := protocol.DecodeCheck(doc)
		if (c == nil) == (err == nil) {
			t.Fatalf("%v and %v", c, err)
		}
		if err != nil {
			if err.Code == "" || err.Problem == "" || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
				t.Fatalf("not an error for people: %q", err)
			}
			if inDomain(doc) && verdict(schema, doc) == nil {
				t.Fatalf("the schema takes %q, Go says %v", doc, err)
			}
			return
		}
		if id != c.RequestID || version != c.ProtocolVersion {
			t.Fatalf("Peek reads %q and %q from %q", id, version, doc)
		}
		if verr := c.Validate(); verr != nil {
			t.Fatalf("%q is decoded and not valid: %v", doc, verr)
		}
		if serr := verdict(schema, doc); serr != nil {
			t.Fatalf("%q is decoded, the schema says %v", doc, serr)
		}
		again, eerr := protocol.Encode(c)
		if eerr != nil {
			t.Fatal(eerr)
		}
		c2, err := protocol.DecodeCheck(again)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", doc, again, err)
		}
		twice, eerr := protocol.Encode(c2)
		if eerr != nil || !bytes.Equal(again, twice) {
			t.Fatalf("%q is written as %q and then as %q", doc, again, twice)
		}
		if serr := verdict(schema, again); serr != nil {
			t.Fatalf("%q is written as %q, the schema says %v", doc, again, serr)
		}

		tree, terr := decodeTree(doc)
		if terr != nil {
			t.Fatalf("%q is decoded and no JSON: %v", doc, terr)
		}
		if tree == nil {
			return
		}
		shouted, serr := protocol.DecodeCheck(marshal(t, shout(tree)))
		if serr != nil {
			t.Fatalf("%q with members in capitals: %v", doc, serr)
		}
		calm, serr := protocol.DecodeCheck(marshal(t, parse(t, string(doc))))
		if serr != nil {
			t.Fatalf("%q, reformatted: %v", doc, serr)
		}
		for _, c := range []*protocol.Check{shouted, calm} {
			c.Action.Attributes.Extra, c.Action.Attributes.Input = nil, nil
		}
		if !reflect.DeepEqual(shouted, calm) {
			t.Fatalf("names in another case are read:\n%+v\n%+v", shouted, calm)
		}

		if at := bytes.IndexByte(doc, '{'); at >= 0 {
			double := append(append(bytes.Clone(doc[:at+1]), `"requestId":"other",`...), doc[at+1:]...)
			if _, err := protocol.DecodeCheck(double); err == nil {
				t.Fatalf("%q is read", double)
			}
		}
	})
}

// shout puts a member of the wrong type beside every member that the protocol
// knows, under its name in capitals.
func shout(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if name != "input" && name != "attributes" {
				v[name] = shout(v[name])
			}
			if up := strings.ToUpper(name); up != name {
				if _, ok := v[up]; !ok {
					v[up] = []any{"not", "this"}
				}
			}
		}
	case []any:
		for i := range v {
			v[i] = shout(v[i])
		}
	}
	return v
}

// inDomain says whether a document is one that a schema can judge: its text is
// JSON without names that stand twice, in UTF-8, not too large and not too deep.
func inDomain(doc []byte) bool {
	_, err := protocol.DecodeStatusRequest(doc) // knows one member only
	if err == nil {
		return len(doc) > 0
	}
	return !strings.Contains(err.Problem, "not valid JSON") && err.Code != protocol.CodeTooLarge
}

// FuzzOpen opens anything. Opening does not hang on the order of headers, the
// document is part of the message, the trace can be sent on, and what was
// opened is opened to the same when it is sealed again.
func FuzzOpen(f *testing.F) {
	add := func(contentType, specVersion, eventType, id, source, other, value, trace, state string, body []byte) {
		f.Add(contentType, specVersion, eventType, id, source, other, value, trace, state, body)
	}
	doc := []byte(oddDocument)
	add("", "", "", "", "", "", "", "", "", doc)
	add("application/json", "", "", "", "", "", "", parent, state, doc)
	add("application/json", "1.0", checkType, "1", "x", "", "", parent, state, doc)
	add("application/json", "1.0", checkType, "%41", "x", "ce-datacontenttype", "application/json", "", "", doc)
	add("", "1.0", checkType, "1", "x", "CE-Type", "dev.guardrails.result.v1", parent, "", doc)
	add("", "1.0", "dev.guardrails.check.v2", "1", "x", "ce-time", "2030-01-02T15:04:05Z", "", "", doc)
	add("", "1.0", checkType, "%zz", "%00", "ce-traceparent", parent, "", "", doc)
	add("application/cloudevents-batch+json", "", "", "", "", "", "", "", "", []byte("[]"))
	for _, body := range []string{
		structured(), structured("data", "null"), structured("data", drop, "data_base64", `"e30="`), structured("data_base64", `"e30="`),
		structured("type", `"dev.guardrails.check.v2"`), structured("traceparent", `"`+parent+`"`, "tracestate", `"a=1\r\nb"`), structured("x", "{}"), "{", "null", "[]",
	} {
		add("application/cloudevents+json; charset=utf-8", "", "", "", "", "", "", "", "", []byte(body))
	}
	f.Fuzz(func(t *testing.T, contentType, specVersion, eventType, id, source, other, value, trace, state string, body []byte) {
		h := header{}
		for _, m := range [][2]string{{"Content-Type", contentType}, {"ce-specversion", specVersion}, {"ce-type", eventType}, {"ce-id", id},
			{"ce-source", source}, {"traceparent", trace}, {"tracestate", state}, {other, value}} {
			if m[1] != "" {
				h[m[0]] = append(h[m[0]], m[1])
			}
		}
		m, err := protocol.Open(protocol.ChannelCheck, h, body)
		for range 4 {
			again, aerr := protocol.Open(protocol.ChannelCheck, h, body)
			if !reflect.DeepEqual(m, again) || !reflect.DeepEqual(err, aerr) {
				t.Fatalf("%q is opened in two ways: %+v %v, %+v %v", h, m, err, again, aerr)
			}
		}
		if len(body) <= protocol.MaxDocument && len(m.Document) > len(body) {
			t.Fatal("the document is longer than the message")
		}
		if !bytes.Contains(body, m.Document) && !bytes.Contains(body, []byte("data_base64")) && !bytes.Contains(body, []byte(`\u`)) {
			t.Fatalf("the document %q is not part of %q", m.Document, body)
		}
		if err != nil {
			if err.Code == "" || err.Problem == "" || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\r\x00\x1b") {
				t.Fatalf("not an error for people: %q", err)
			}
		}
		if strings.ContainsAny(m.Trace.Parent+m.Trace.State, "\r\n\x00") || m.Trace.State != "" && m.Trace.Parent == "" {
			t.Fatalf("the trace %q is carried", m.Trace)
		}
		for _, e := range []protocol.Encoding{protocol.Plain, protocol.Structured, protocol.Binary} {
			if _, derr := protocol.DecodeCheck(m.Document); derr != nil && e == protocol.Structured {
				continue // only JSON can be put into an event
			}
			h, sealed, serr := protocol.Seal(protocol.ChannelCheck, e, m.Document, m.Trace)
			if serr != nil {
				t.Fatal(serr)
			}
			if len(sealed) > protocol.MaxDocument {
				continue
			}
			again, aerr := protocol.Open(protocol.ChannelCheck, h, sealed)
			// In an event the document stands without the space around it.
			if aerr != nil || again.Encoding != e || again.Trace != m.Trace || string(bytes.TrimSpace(again.Document)) != string(bytes.TrimSpace(m.Document)) {
				t.Fatalf("encoding %d of %q: %+v %v", e, m.Document, again, aerr)
			}
		}
	})
}

func compileFor(f *testing.F, name string) *jsonschema.Schema {
	f.Helper()
	root, err := readSchema(name)
	if err != nil {
		f.Fatal(err)
	}
	schema, err := compileJSON(root)
	if err != nil {
		f.Fatal(err)
	}
	return schema
}
