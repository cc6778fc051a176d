package protocol

import (
	"encoding/base64"
	"maps"
	"mime"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Encoding is how a document travels in a NATS message. The zero value is plain JSON.
type Encoding uint8

// The three encodings.
const (
	Plain      Encoding = iota // the body is the document
	Structured                 // CloudEvents 1.0: the body is an event, the document its data
	Binary                     // CloudEvents 1.0: ce-* headers, the body is the document
)

// Message is a NATS message with its encoding taken off.
type Message struct {
	Encoding Encoding
	Document []byte // the very bytes that requestHash covers
	Trace    Trace
}

// Names of headers. They are read whatever their case.
const (
	headerContentType   = "content-type"
	headerCEContentType = "ce-datacontenttype"
	headerCE            = "ce-"
	headerSpecVersion   = "ce-specversion"

	typeJSON       = "application/json"
	typeStructured = "application/cloudevents+json"
)

// EventType returns the CloudEvents type of a channel's documents, such as
// dev.guardrails.check.v1.
func EventType(c Channel) string { return eventTypePrefix + string(c) + ".v" + Version }

const eventTypePrefix = "dev.guardrails."

// Open takes the encoding off a message of the channel. The error names the
// header or the attribute of the event. Also with an error, the message says
// which encoding an answer should have, and Document holds what could be made out.
func Open(c Channel, header map[string][]string, body []byte) (Message, *Error) {
	m := Message{Document: body}
	if len(header) == 0 { // most messages
		return m, sizeError(body)
	}
	h, twice := lowerHeader(header)
	m.Trace = traceOf(h)
	media, _, _ := mime.ParseMediaType(h[headerContentType])
	switch {
	case media == typeStructured:
		m.Encoding = Structured
	case strings.HasPrefix(media, "application/cloudevents"):
		return m, invalid(headerContentType, "%s is not read; write %s, or ce-* headers", quote(media), typeStructured)
	case h[headerSpecVersion] != "":
		m.Encoding = Binary
	}
	if twice != "" {
		return m, invalid(memberName(twice), "stands twice with different values")
	}
	if err := sizeError(body); err != nil {
		return m, err
	}
	switch m.Encoding {
	case Structured:
		return m, m.openStructured(c, body)
	case Binary:
		return m, m.openBinary(c, h)
	}
	return m, nil
}

func sizeError(body []byte) *Error {
	if len(body) > MaxDocument {
		return tooLarge(len(body))
	}
	return nil
}

func (m *Message) openStructured(c Channel, body []byte) *Error {
	var e envelope
	wrong := e.read(body)
	if wrong != nil && e.data == nil {
		return wrong
	}
	m.Trace = m.Trace.or(traceOf(e.attributes))
	switch {
	case e.data != nil && e.data64 != nil:
		return invalid("data_base64", "stands beside data; an event has one of them")
	case e.data != nil:
		m.Document = e.data
	case e.data64 != nil:
		text, err := jsontext.AppendUnquote(nil, e.data64)
		if err != nil {
			return invalid("data_base64", "must be a string")
		}
		doc, err := base64.StdEncoding.DecodeString(string(text))
		if err != nil {
			return invalid("data_base64", "is not base64: %v", err)
		}
		m.Document = doc
	default:
		m.Document = nil
		return missing("data")
	}
	if wrong != nil {
		return wrong
	}
	return e.check(c, "")
}

func (m *Message) openBinary(c Channel, h map[string]string) *Error {
	var e envelope
	e.attributes = make(map[string]string, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) { // of several mistakes always the same
		if attribute, ok := strings.CutPrefix(name, headerCE); ok {
			decoded, err := percentDecode(h[name])
			if err != nil {
				return invalid(memberName(name), "%v", err)
			}
			e.attributes[attribute] = decoded
		}
	}
	// The CloudEvents binding says content-type; some senders write the
	// attribute's own name. Two that differ are a contradiction.
	if ct := h[headerContentType]; ct != "" {
		if own := e.attributes["datacontenttype"]; own != "" && mediaType(own) != mediaType(ct) {
			return invalid(headerCEContentType, "is %s, but %s is %s", quote(own), headerContentType, quote(ct))
		}
		e.attributes["datacontenttype"] = ct
	}
	m.Trace = m.Trace.or(traceOf(e.attributes))
	return e.check(c, headerCE)
}

// mediaType takes the parameters off, such as the character set.
func mediaType(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return contentType
	}
	return media
}

// lowerHeader makes names lower-case. A header that stands twice, also in
// different cases, with different values says nothing: it is left out, and
// where it belongs to the encoding, twice names it.
func lowerHeader(header map[string][]string) (h map[string]string, twice string) {
	h = make(map[string]string, len(header))
	var clashes map[string]bool
	for name, values := range header {
		name = strings.ToLower(name)
		for _, value := range values {
			if first, ok := h[name]; ok && first != value {
				if clashes == nil {
					clashes = make(map[string]bool)
				}
				clashes[name] = true
			}
			h[name] = value
		}
	}
	for name := range clashes {
		delete(h, name)
		belongs := name == headerContentType || strings.HasPrefix(name, headerCE)
		if belongs && (twice == "" || name < twice) {
			twice = name
		}
	}
	return h, twice
}

// Seal puts a document into an encoding: the header and the body of the message
// to send. The header is nil where none is needed.
func Seal(c Channel, encoding Encoding, doc []byte, trace Trace) (header map[string][]string, body []byte, err error) {
	trace = trace.valid()
	switch encoding {
	case Structured:
		body, err = sealStructured(c, doc, trace)
		header = map[string][]string{"Content-Type": {typeStructured}}
	case Binary:
		header, err = sealBinary(c, trace)
		body = doc
	default:
		body = doc
	}
	if err != nil {
		return nil, nil, err
	}
	if trace.Parent != "" {
		if header == nil {
			header = make(map[string][]string, 2)
		}
		header[traceParent] = []string{trace.Parent}
		if trace.State != "" {
			header[traceState] = []string{trace.State}
		}
	}
	return header, body, nil
}
