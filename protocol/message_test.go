package protocol_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

const (
	checkType = "dev.guardrails.check.v1"
	parent    = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	state     = "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"
	// oddDocument has white space and escapes that no writer of JSON would leave.
	oddDocument = "{ \"protocolVersion\" :\"1\",\r\n\t\"requestId\":\"\\u0061bc\" , \"x\":1.50e+1 }"
)

type header = map[string][]string

func binaryHeader(also ...string) header {
	h := header{"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"test"}, "ce-type": {checkType}}
	for i := 0; i < len(also); i += 2 {
		if also[i+1] == drop {
			delete(h, also[i])
			continue
		}
		h[also[i]] = []string{also[i+1]}
	}
	return h
}

var structuredHeader = header{"Content-Type": {"application/cloudevents+json; charset=utf-8"}}

// structured is an event, with members changed or, with drop, taken out.
func structured(also ...string) string {
	members := map[string]string{"specversion": `"1.0"`, "id": `"1"`, "source": `"test"`, "type": `"` + checkType + `"`, "data": oddDocument}
	for i := 0; i < len(also); i += 2 {
		if also[i+1] == drop {
			delete(members, also[i])
			continue
		}
		members[also[i]] = also[i+1]
	}
	var b strings.Builder
	for name, value := range members {
		fmt.Fprintf(&b, ",\n %q : %s", name, value)
	}
	return "{" + b.String()[1:] + "}"
}

func TestOpenPlain(t *testing.T) {
	for name, h := range map[string]header{
		"no header": nil, "empty": {}, "json": {"Content-Type": {"application/json"}}, "unknown": {"X-Any": {"1"}}, "text": {"Content-Type": {"text/plain"}},
		"a header without values": {"Content-Type": {}, "ce-specversion": nil}, "an empty value": {"ce-specversion": {""}},
		"the reply of a request": {"Nats-Msg-Id": {"1"}},
	} {
		m, err := protocol.Open(protocol.ChannelCheck, h, []byte(oddDocument))
		if err != nil || m.Encoding != protocol.Plain || string(m.Document) != oddDocument || m.Trace != (protocol.Trace{}) {
			t.Errorf("%s: %+v %v", name, m, err)
		}
	}
}

func TestOpenBinary(t *testing.T) {
	for name, h := range map[string]header{
		"lower case":            binaryHeader(),
		"content-type":          binaryHeader("content-type", "application/json"),
		"charset":               binaryHeader("Content-Type", "application/json; charset=utf-8"),
		"+json":                 binaryHeader("Content-Type", "application/vnd.guardrails+json"),
		"ce-datacontenttype":    binaryHeader("ce-datacontenttype", "application/json"),
		"both the same":         binaryHeader("ce-datacontenttype", "application/json", "Content-Type", "application/json"),
		"other case":            {"CE-SpecVersion": {"1.0"}, "Ce-Id": {"1"}, "CE-SOURCE": {"test"}, "cE-tYpE": {checkType}, "CONTENT-TYPE": {"application/json"}},
		"percent-encoded":       binaryHeader("ce-type", "dev%2Eguardrails.check%2ev1", "ce-id", "%E2%82%AC%20%25"),
		"time":                  binaryHeader("ce-time", "2030-01-02T15:04:05Z"),
		"an extension":          binaryHeader("ce-anything", "1"),
		"twice the same":        {"ce-specversion": {"1.0", "1.0"}, "CE-Specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"test"}, "ce-type": {checkType}},
		"another header twice":  {"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"test"}, "ce-type": {checkType}, "X-Any": {"1", "2"}},
		"an empty content type": binaryHeader("Content-Type", ""),
	} {
		m, err := protocol.Open(protocol.ChannelCheck, h, []byte(oddDocument))
		if err != nil || m.Encoding != protocol.Binary || string(m.Document) != oddDocument {
			t.Errorf("%s: %+v %v", name, m, err)
		}
	}
}

func TestOpenBinaryRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		h     header
		code  protocol.Code
		field string
	}{
		{"no type", binaryHeader("ce-type", drop), invalid, "ce-type"},
		{"no id", binaryHeader("ce-id", drop), invalid, "ce-id"},
		{"empty source", binaryHeader("ce-source", ""), invalid, "ce-source"},
		{"other spec", binaryHeader("ce-specversion", "0.3"), invalid, "ce-specversion"},
		{"wrong type", binaryHeader("ce-type", "dev.guardrails.result.v1"), invalid, "ce-type"},
		{"foreign type", binaryHeader("ce-type", "com.example.check"), invalid, "ce-type"},
		{"type of another case", binaryHeader("ce-type", "dev.guardrails.Check.v1"), invalid, "ce-type"},
		{"version of another channel", binaryHeader("ce-type", "dev.guardrails.result.v2"), invalid, "ce-type"},
		{"no version", binaryHeader("ce-type", "dev.guardrails.check"), invalid, "ce-type"},
		{"version that is no number", binaryHeader("ce-type", "dev.guardrails.check.vx"), invalid, "ce-type"},
		{"next version", binaryHeader("ce-type", "dev.guardrails.check.v2"), protocol.CodeUnsupportedVersion, "ce-type"},
		{"content type", binaryHeader("Content-Type", "text/plain"), invalid, "ce-datacontenttype"},
		{"datacontenttype", binaryHeader("ce-datacontenttype", "application/xml"), invalid, "ce-datacontenttype"},
		{"contradiction", binaryHeader("ce-datacontenttype", "application/json", "Content-Type", "application/vnd.x+json"), invalid, "ce-datacontenttype"},
		{"bad time", binaryHeader("ce-time", "tomorrow"), invalid, "ce-time"},
		{"bad escape", binaryHeader("ce-id", "%zz"), invalid, "ce-id"},
		{"cut escape", binaryHeader("ce-id", "a%4"), invalid, "ce-id"},
		{"signed escape", binaryHeader("ce-id", "%+1"), invalid, "ce-id"},
		{"source", binaryHeader("ce-source", "%00"), invalid, "ce-source"},
		{"type twice", header{"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"x"}, "ce-type": {checkType, "dev.guardrails.result.v1"}}, invalid, "ce-type"},
		{"type in two cases", binaryHeader("CE-Type", "dev.guardrails.result.v1"), invalid, "ce-type"},
		{"content type twice", header{"ce-specversion": {"1.0"}, "ce-id": {"1"}, "ce-source": {"x"}, "ce-type": {checkType},
			"Content-Type": {"application/json"}, "content-type": {"application/cloudevents+json"}}, invalid, "content-type"},
	} {
		for range 10 { // headers are maps: the answer must not hang on their order
			m, err := protocol.Open(protocol.ChannelCheck, tt.h, []byte(oddDocument))
			if err == nil || err.Code != tt.code || err.Field != tt.field {
				t.Fatalf("%s: %v (code %v)", tt.name, err, err)
			}
			if string(m.Document) != oddDocument || m.Encoding != protocol.Binary {
				t.Fatalf("%s: an answer would not find its way: %+v", tt.name, m)
			}
		}
	}
	m, err := protocol.Open(protocol.ChannelCheck, binaryHeader("CE-SpecVersion", "0.3"), []byte(oddDocument))
	if err == nil || err.Field != "ce-specversion" {
		t.Errorf("two spec versions: %+v %v", m, err)
	}
}

func TestOpenStructured(t *testing.T) {
	for name, body := range map[string]string{
		"data":             structured(),
		"null data_base64": structured("data_base64", "null"),
		"data_base64":      structured("data", drop, "data_base64", `"`+base64.StdEncoding.EncodeToString([]byte(oddDocument))+`"`),
		"escaped base64":   structured("data", drop, "data_base64", `"`+strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte(oddDocument)), "A", `\u0041`)+`"`),
		"content type":     structured("datacontenttype", `"application/json"`),
		"+json":            structured("datacontenttype", `"application/vnd.guardrails+json; charset=utf-8"`),
		"extensions":       structured("number", "7", "flag", "true", "none", "null", "text", `"x"`),
		"time":             structured("time", `"2030-01-02T15:04:05.123+01:00"`),
	} {
		m, err := protocol.Open(protocol.ChannelCheck, structuredHeader, []byte(body))
		if err != nil || m.Encoding != protocol.Structured || string(m.Document) != oddDocument {
			t.Errorf("%s: %+v %v", name, m, err)
			continue
		}
		if protocol.Hash(m.Document) != protocol.Hash([]byte(oddDocument)) {
			t.Errorf("%s: the hash is of other bytes", name)
		}
	}
	// Structured is what the content type says, whatever other headers say.
	h := binaryHeader("Content-Type", "APPLICATION/CloudEvents+JSON")
	if m, err := protocol.Open(protocol.ChannelCheck, h, []byte(structured())); err != nil || m.Encoding != protocol.Structured {
		t.Errorf("%+v %v", m, err)
	}
}

func TestOpenStructuredRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		code       protocol.Code
		field      string
	}{
		{"empty", ``, invalid, ""}, {"no JSON", `{`, invalid, ""}, {"array", `[]`, invalid, ""}, {"batch as body", `[` + structured() + `]`, invalid, ""},
		{"null", `null`, invalid, "data"},
		{"a plain check", wires()[0].full, invalid, "action"},
		{"no spec version", structured("specversion", drop), invalid, "specversion"},
		{"null spec version", structured("specversion", "null"), invalid, "specversion"},
		{"old spec version", structured("specversion", `"0.3"`), invalid, "specversion"},
		{"no id", structured("id", drop), invalid, "id"}, {"empty id", structured("id", `""`), invalid, "id"},
		{"no source", structured("source", drop), invalid, "source"}, {"no type", structured("type", drop), invalid, "type"},
		{"Type", structured("type", drop, "Type", `"`+checkType+`"`), invalid, "type"},
		{"wrong type", structured("type", `"dev.guardrails.approval.v1"`), invalid, "type"},
		{"next version", structured("type", `"dev.guardrails.check.v2"`), protocol.CodeUnsupportedVersion, "type"},
		{"no data", structured("data", drop), invalid, "data"}, {"null data", structured("data", "null"), invalid, "data"},
		{"data twice", structured("data_base64", `"e30="`), invalid, "data_base64"},
		{"base64 of a number", structured("data", drop, "data_base64", "7"), invalid, "data_base64"},
		{"base64 that is none", structured("data", drop, "data_base64", `"?"`), invalid, "data_base64"},
		{"base64 of URLs", structured("data", drop, "data_base64", `"_-8="`), invalid, "data_base64"},
		{"base64 without padding", structured("data", drop, "data_base64", `"e30"`), invalid, "data_base64"},
		{"object", structured("subject", `{}`), invalid, "subject"}, {"array", structured("x", `[]`), invalid, "x"},
		{"xml", structured("datacontenttype", `"application/xml"`), invalid, "datacontenttype"},
		{"content type", structured("datacontenttype", `"nonsense"`), invalid, "datacontenttype"},
		{"time", structured("time", `"tomorrow"`), invalid, "time"},
		{"a name twice", strings.Replace(structured(), `{`, `{"id":"2",`, 1), invalid, "id"},
		{"a name twice in data", structured("data", `{"a":1,"a":1}`), invalid, "data.a"},
		{"no UTF-8", structured("id", "\"\xff\""), invalid, "id"},
	} {
		m, err := protocol.Open(protocol.ChannelCheck, structuredHeader, []byte(tt.body))
		// Where the event has data, an answer finds its requestId.
		if id, _ := protocol.Peek(m.Document); id != "abc" && strings.HasPrefix(tt.body, "{\n") && strings.Contains(tt.body, oddDocument) &&
			!strings.Contains(tt.body, "data_base64") && tt.name != "no UTF-8" {
			t.Errorf("%s: an answer would not find its requestId: %q", tt.name, m.Document)
		}
		if err == nil || err.Code != tt.code || err.Field != tt.field {
			t.Errorf("%s: %v, want field %q and code %s\n%s", tt.name, err, tt.field, tt.code, tt.body)
		}
		if m.Encoding != protocol.Structured {
			t.Errorf("%s: an answer would come in encoding %d", tt.name, m.Encoding)
		}
	}
}

func TestOpenRefusesBatches(t *testing.T) {
	for _, ct := range []string{"application/cloudevents-batch+json", "application/cloudevents-batch+json; charset=utf-8", "Application/CloudEvents-Batch+JSON",
		"application/cloudevents", "application/cloudevents+avro", "application/cloudevents+protobuf"} {
		m, err := protocol.Open(protocol.ChannelCheck, header{"Content-Type": {ct}}, []byte(`[`+structured()+`]`))
		if err == nil || err.Code != invalid || err.Field != "content-type" {
			t.Errorf("%s: %+v %v", ct, m, err)
		}
	}
}

func TestOpenHasALimit(t *testing.T) {
	big := []byte(strings.Repeat(" ", protocol.MaxDocument+1))
	for name, h := range map[string]header{"plain": nil, "plain with a header": {"X-Any": {"1"}}, "binary": binaryHeader(), "structured": structuredHeader} {
		if _, err := protocol.Open(protocol.ChannelCheck, h, big); err == nil || err.Code != protocol.CodeTooLarge {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := protocol.Open(protocol.ChannelCheck, h, big[1:]); err != nil && err.Code == protocol.CodeTooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEventTypesFitTheSubject sends an event of every channel on every other.
func TestEventTypesFitTheSubject(t *testing.T) {
	all := channels(t)
	for _, c := range all {
		if want := "dev.guardrails." + string(c) + ".v1"; protocol.EventType(c) != want {
			t.Errorf("%s: %s", c, protocol.EventType(c))
		}
		for _, e := range []protocol.Encoding{protocol.Structured, protocol.Binary} {
			h, body, err := protocol.Seal(c, e, []byte(`{}`), protocol.Trace{})
			if err != nil {
				t.Fatal(err)
			}
			for _, other := range all {
				_, err := protocol.Open(other, h, body)
				if (err == nil) != (c == other) {
					t.Errorf("an event of %s on %s: %v", c, other, err)
				}
				if err != nil && err.Code != invalid {
					t.Errorf("an event of %s on %s: %s", c, other, err.Code)
				}
			}
		}
	}
}

func TestSealAndOpen(t *testing.T) {
	trace := protocol.Trace{Parent: parent, State: state}
	for _, e := range []protocol.Encoding{protocol.Plain, protocol.Structured, protocol.Binary} {
		for _, tr := range []protocol.Trace{{}, {Parent: parent}, trace} {
			h, body, err := protocol.Seal(protocol.ChannelCheck, e, []byte(oddDocument), tr)
			if err != nil {
				t.Fatal(err)
			}
			m, perr := protocol.Open(protocol.ChannelCheck, h, body)
			if perr != nil || m.Encoding != e || string(m.Document) != oddDocument || m.Trace != tr {
				t.Errorf("encoding %d, trace %v: %+v %v", e, tr, m, perr)
			}
			if e == protocol.Plain && tr.Parent == "" && h != nil {
				t.Errorf("a plain document needs no header: %v", h)
			}
		}
	}
}

// TestSDKReadsWhatWeWrite reads sealed events with the CloudEvents SDK.
func TestSDKReadsWhatWeWrite(t *testing.T) {
	_, body, err := protocol.Seal(protocol.ChannelDecision, protocol.Structured, []byte(oddDocument), protocol.Trace{Parent: parent, State: state})
	if err != nil {
		t.Fatal(err)
	}
	var e event.Event
	if err := e.UnmarshalJSON(body); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	if err := e.Validate(); err != nil {
		t.Error(err)
	}
	if e.Type() != "dev.guardrails.decision.v1" || e.SpecVersion() != "1.0" || e.ID() == "" || e.Source() == "" || e.DataContentType() != "application/json" {
		t.Errorf("%v", e)
	}
	if e.Extensions()["traceparent"] != parent || e.Extensions()["tracestate"] != state {
		t.Errorf("extensions %v", e.Extensions())
	}
	if strings.TrimSpace(string(e.Data())) != oddDocument {
		t.Errorf("data %q", e.Data())
	}
	if time.Since(e.Time()).Abs() > time.Minute {
		t.Errorf("time %v", e.Time())
	}
	_, other, err := protocol.Seal(protocol.ChannelDecision, protocol.Structured, []byte(oddDocument), protocol.Trace{})
	if err != nil {
		t.Fatal(err)
	}
	var second event.Event
	if err := second.UnmarshalJSON(other); err != nil || second.ID() == e.ID() {
		t.Errorf("two events have one id: %v", err)
	}
}

// TestWeReadWhatTheSDKWrites opens events that the CloudEvents SDK marshals.
func TestWeReadWhatTheSDKWrites(t *testing.T) {
	doc := []byte(wires()[0].full)
	make := func() event.Event {
		e := event.New()
		e.SetID("a \"quoted\" id, é, \U0001F600")
		e.SetSource("https://a.example/b?c=d#e")
		e.SetType(checkType)
		return e
	}
	for name, change := range map[string]func(*event.Event) error{
		"encoded":         func(e *event.Event) error { return e.SetData(event.ApplicationJSON, json.RawMessage(doc)) },
		"base64":          func(e *event.Event) error { e.DataEncoded, e.DataBase64 = doc, true; return nil },
		"no content type": func(e *event.Event) error { e.DataEncoded = doc; return nil },
		"everything": func(e *event.Event) error {
			e.SetTime(time.Date(2030, 1, 2, 15, 4, 5, 6, time.FixedZone("", 3600)))
			e.SetSubject("s")
			e.SetDataSchema("urn:guardrails-provider:schema:check:v1")
			e.SetExtension("traceparent", parent)
			e.SetExtension("tracestate", state)
			e.SetExtension("number", 7)
			e.SetExtension("flag", true)
			return e.SetData(event.TextJSON, json.RawMessage(doc))
		},
	} {
		e := make()
		if err := change(&e); err != nil {
			t.Fatal(err)
		}
		if err := e.Validate(); err != nil {
			t.Fatal(err)
		}
		body, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		m, perr := protocol.Open(protocol.ChannelCheck, structuredHeader, body)
		if perr != nil {
			t.Errorf("%s: %v\n%s", name, perr, body)
			continue
		}
		if _, derr := protocol.DecodeCheck(m.Document); derr != nil {
			t.Errorf("%s: %v", name, derr)
		}
		if name == "everything" != (m.Trace == protocol.Trace{Parent: parent, State: state}) {
			t.Errorf("%s: trace %v", name, m.Trace)
		}
		// The SDK may write data in another way; what counts is what was sent.
		if !bytes.Contains(body, m.Document) && name != "base64" {
			t.Errorf("%s: the document is not in the body as it stands", name)
		}
		if name == "base64" && !bytes.Equal(m.Document, doc) {
			t.Errorf("%s: other bytes", name)
		}
	}
}

// TestTrace carries a trace in every encoding, from headers and from events.
func TestTrace(t *testing.T) {
	future := "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-more"
	for _, tt := range []struct {
		name, parent, state string
		want                protocol.Trace
	}{
		{"parent", parent, "", protocol.Trace{Parent: parent}},
		{"parent and state", parent, state, protocol.Trace{Parent: parent, State: state}},
		{"a later version", future, "", protocol.Trace{Parent: future}},
		{"state alone", "", state, protocol.Trace{}},
		{"short", parent[:54], state, protocol.Trace{}},
		{"long", parent + "0", "", protocol.Trace{}},
		{"more in version 0", parent + "-more", "", protocol.Trace{}},
		{"later, without a dash", "01" + parent[2:] + "more", "", protocol.Trace{}},
		{"version ff", "ff" + parent[2:], "", protocol.Trace{}},
		{"upper case", strings.ToUpper(parent), "", protocol.Trace{}},
		{"zero trace", "00-00000000000000000000000000000000-b7ad6b7169203331-01", "", protocol.Trace{}},
		{"zero parent", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", "", protocol.Trace{}},
		{"no hexadecimal", "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01", "", protocol.Trace{}},
		{"other dashes", strings.ReplaceAll(parent, "-", "_"), "", protocol.Trace{}},
		{"space", " " + parent, "", protocol.Trace{}},
		{"line end", parent + "\r\n", "", protocol.Trace{}},
		{"a header within", "01" + parent[2:] + "-\r\nNats-Msg-Id: 1", "", protocol.Trace{}},
		{"long and later", "01" + parent[2:] + "-" + strings.Repeat("x", 1024), "", protocol.Trace{}},
		{"a header within the state", parent, "a=1\r\nX: 1", protocol.Trace{Parent: parent}},
		{"a long state", parent, strings.Repeat("x", 1025), protocol.Trace{Parent: parent}},
		{"a state that is just short enough", parent, strings.Repeat("x", 1024), protocol.Trace{Parent: parent, State: strings.Repeat("x", 1024)}},
		{"a state that is no ASCII", parent, "é", protocol.Trace{Parent: parent}},
	} {
		quoted := func(s string) string { return string(must(json.Marshal(s))) }
		for where, open := range map[string]func() (protocol.Message, *protocol.Error){
			"plain": func() (protocol.Message, *protocol.Error) {
				return protocol.Open(protocol.ChannelCheck, header{"TraceParent": {tt.parent}, "Tracestate": {tt.state}}, []byte("{}"))
			},
			"binary, headers": func() (protocol.Message, *protocol.Error) {
				return protocol.Open(protocol.ChannelCheck, binaryHeader("traceparent", tt.parent, "tracestate", tt.state), []byte("{}"))
			},
			"binary, attributes": func() (protocol.Message, *protocol.Error) {
				escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0a", " ", "%20").Replace
				return protocol.Open(protocol.ChannelCheck, binaryHeader("CE-TraceParent", escape(tt.parent), "ce-tracestate", escape(tt.state)), []byte("{}"))
			},
			"structured, headers": func() (protocol.Message, *protocol.Error) {
				h := maps.Clone(structuredHeader)
				h["traceparent"], h["tracestate"] = []string{tt.parent}, []string{tt.state}
				return protocol.Open(protocol.ChannelCheck, h, []byte(structured()))
			},
			"structured, attributes": func() (protocol.Message, *protocol.Error) {
				return protocol.Open(protocol.ChannelCheck, structuredHeader, []byte(structured("traceparent", quoted(tt.parent), "tracestate", quoted(tt.state))))
			},
		} {
			m, err := open()
			if err != nil || m.Trace != tt.want {
				t.Errorf("%s, %s: %q %v, want %q", tt.name, where, m.Trace, err, tt.want)
			}
		}
		// What a caller of Seal puts in is held to the same.
		for _, e := range []protocol.Encoding{protocol.Plain, protocol.Structured, protocol.Binary} {
			h, body, err := protocol.Seal(protocol.ChannelCheck, e, []byte("{}"), protocol.Trace{Parent: tt.parent, State: tt.state})
			if err != nil {
				t.Errorf("%s, encoding %d: %v", tt.name, e, err)
				continue
			}
			for name, values := range h {
				if strings.ContainsAny(name+strings.Join(values, ""), "\r\n") {
					t.Errorf("%s, encoding %d: header %q: %q", tt.name, e, name, values)
				}
			}
			if m, err := protocol.Open(protocol.ChannelCheck, h, body); err != nil || m.Trace != tt.want {
				t.Errorf("%s, encoding %d: %q %v, want %q", tt.name, e, m.Trace, err, tt.want)
			}
		}
	}
	// The header is closer to the message than the event.
	h := maps.Clone(structuredHeader)
	h["traceparent"] = []string{parent}
	other := strings.Replace(parent, "b7ad", "b7ae", 1)
	if m, err := protocol.Open(protocol.ChannelCheck, h, []byte(structured("traceparent", `"`+other+`"`))); err != nil || m.Trace.Parent != parent {
		t.Errorf("%v %v", m.Trace, err)
	}
	// Two that differ say nothing.
	if m, err := protocol.Open(protocol.ChannelCheck, header{"traceparent": {parent}, "Traceparent": {other}}, []byte("{}")); err != nil || m.Trace.Parent != "" {
		t.Errorf("%v %v", m.Trace, err)
	}
}
