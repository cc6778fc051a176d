package protocol

import (
	"crypto/rand"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/cloudevents/sdk-go/v2/types"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The SDK gives the event types and writes structured events. Reading one, and
// the mapping to NATS headers, is ours: requestHash needs the exact bytes of
// data, an attribute that stands twice must be an error, and the SDK's NATS
// module knows neither binary mode nor reply subjects.

// envelope is an event as it was received.
type envelope struct {
	attributes   map[string]string
	data, data64 jsontext.Value // nil: left out
}

// read takes a structured event apart; attributes that are numbers or booleans
// become their JSON text. Of several mistakes it names the first by name, and
// finds the data all the same.
func (e *envelope) read(body []byte) *Error {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(body, &members); err != nil {
		return syntaxError(err)
	}
	e.attributes = make(map[string]string, len(members))
	var first *Error
	wrong := func(name, format string, args ...any) {
		if first == nil {
			first = invalid(memberName(name), format, args...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name]
		switch k := value.Kind(); {
		case k == 'n':
		case name == "data":
			e.data = value
		case name == "data_base64":
			e.data64 = value
		case k == '"':
			text, err := jsontext.AppendUnquote(nil, value)
			if err != nil {
				wrong(name, "is not a valid string")
				continue
			}
			e.attributes[name] = string(text)
		case k == '{', k == '[':
			wrong(name, "must be a string, a number or a boolean, not %s", article(k))
		default:
			e.attributes[name] = string(value)
		}
	}
	return first
}

// check holds the attributes to CloudEvents 1.0 and the type to the channel.
// prefix is what the names of attributes begin with in errors.
func (e *envelope) check(c Channel, prefix string) *Error {
	if v := e.attributes["specversion"]; v != event.CloudEventsVersionV1 {
		if v == "" {
			return missing(prefix + "specversion")
		}
		return invalid(prefix+"specversion", "must be %s, not %s", event.CloudEventsVersionV1, quote(v))
	}
	for _, name := range []string{"id", "source", "type"} {
		if e.attributes[name] == "" {
			return missing(prefix + name)
		}
	}
	if got, want := e.attributes["type"], EventType(c); got != want {
		if version, ok := strings.CutPrefix(got, eventTypePrefix+string(c)+".v"); ok {
			if _, err := strconv.Atoi(version); err == nil {
				return &Error{Code: CodeUnsupportedVersion, Field: prefix + "type",
					Problem: fmt.Sprintf("%s is not supported; write %s", quote(got), want)}
			}
		}
		return invalid(prefix+"type", "must be %s on this subject, not %s", want, quote(got))
	}
	if ct := e.attributes["datacontenttype"]; ct != "" {
		media, _, err := mime.ParseMediaType(ct)
		if err != nil || !strings.HasSuffix(media, "/json") && !strings.HasSuffix(media, "+json") {
			return invalid(prefix+"datacontenttype", "must be %s, not %s", typeJSON, quote(ct))
		}
	}
	if t := e.attributes["time"]; t != "" {
		if _, err := types.ParseTime(t); err != nil {
			return invalid(prefix+"time", "must be a time of RFC 3339, not %s", quote(t))
		}
	}
	if s := e.attributes["source"]; types.ParseURIRef(s) == nil {
		return invalid(prefix+"source", "must be a URI reference, not %s", quote(s))
	}
	return nil
}

func newEvent(c Channel) event.Event {
	e := event.New(event.CloudEventsVersionV1)
	e.SetID(rand.Text())
	e.SetSource(ServiceName)
	e.SetType(EventType(c))
	e.SetTime(time.Now())
	return e
}

func sealStructured(c Channel, doc []byte, trace Trace) ([]byte, error) {
	e := newEvent(c)
	if trace.Parent != "" {
		e.SetExtension(traceParent, trace.Parent)
		if trace.State != "" {
			e.SetExtension(traceState, trace.State)
		}
	}
	e.SetDataContentType(typeJSON)
	e.DataEncoded = doc
	if err := e.Validate(); err != nil {
		return nil, fmt.Errorf("cloudevents: %w", err)
	}
	return e.MarshalJSON()
}

func sealBinary(c Channel, trace Trace) (map[string][]string, error) {
	e := newEvent(c)
	if err := e.Validate(); err != nil {
		return nil, fmt.Errorf("cloudevents: %w", err)
	}
	header := map[string][]string{
		"ce-specversion": {e.SpecVersion()},
		"ce-id":          {percentEncode(e.ID())},
		"ce-source":      {percentEncode(e.Source())},
		"ce-type":        {percentEncode(e.Type())},
		"ce-time":        {types.FormatTime(e.Time())},
		"Content-Type":   {typeJSON},
	}
	if trace.Parent != "" {
		header[headerCE+traceParent] = []string{trace.Parent}
		if trace.State != "" {
			header[headerCE+traceState] = []string{percentEncode(trace.State)}
		}
	}
	return header, nil
}

// percentEncode and percentDecode are those of the CloudEvents HTTP and NATS
// bindings: everything outside printable ASCII, and space, quote and percent.
func percentEncode(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func percentDecode(s string) (string, error) {
	if !strings.Contains(s, "%") {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", fmt.Errorf("ends in the middle of a percent escape")
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("has the malformed percent escape %s", quote(s[i:i+3]))
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), nil
}
