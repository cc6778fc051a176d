package protocol_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

const asyncAPI = "../docs/asyncapi.yaml"

type node = map[string]any

func readYAML(t *testing.T, path string) node {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return doc
}

// channels are the constants of type Channel, as the source has them, so that
// one that is added tomorrow is missed.
func channels(t *testing.T) []protocol.Channel {
	t.Helper()
	var found []protocol.Channel
	for _, decl := range packageDecls(t) {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			continue
		}
		for _, spec := range d.Specs {
			v := spec.(*ast.ValueSpec)
			if typ, ok := v.Type.(*ast.Ident); !ok || typ.Name != "Channel" {
				continue
			}
			for _, value := range v.Values {
				text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, protocol.Channel(text))
			}
		}
	}
	if len(found) < 10 {
		t.Fatalf("found only the channels %q", found)
	}
	return found
}

// TestAsyncAPIHasTheSubjects holds the subjects of the description to those of
// the code, both ways.
func TestAsyncAPIHasTheSubjects(t *testing.T) {
	doc := readYAML(t, asyncAPI)
	if got := doc["asyncapi"]; got != "3.0.0" {
		t.Errorf("asyncapi is %v", got)
	}
	var subjects protocol.Subjects
	want := map[string]protocol.Channel{}
	for _, c := range channels(t) {
		if c == protocol.ChannelLedger {
			want[strings.Replace(subjects.All(c), ">", "{record}", 1)] = c
			continue
		}
		want[subjects.On(c, "")] = c
		if c.Scoped() {
			want[subjects.On(c, "{scope}")] = c
		}
	}
	for key, v := range doc["channels"].(node) {
		channel := v.(node)
		if channel["address"] == nil {
			if key != "inbox" {
				t.Errorf("channel %s has no address", key)
			}
			continue
		}
		address := channel["address"].(string)
		c, ok := want[address]
		if !ok {
			t.Errorf("channel %s: no subject is %s", key, address)
			continue
		}
		delete(want, address)
		if strings.Contains(address, "{scope}") != (channel["parameters"] != nil && channel["parameters"].(node)["scope"] != nil) {
			t.Errorf("channel %s: the parameter scope and the address differ", key)
		}
		if len(channel["messages"].(node)) == 0 {
			t.Errorf("channel %s has no messages", key)
		}
		for name, ref := range channel["messages"].(node) {
			message := resolveRef(t, asyncAPI, doc, ref.(node)["$ref"].(string)).(node)
			if got, want := message["name"], protocol.EventType(c); got != want {
				t.Errorf("channel %s: message %s has the name %v, not %s", key, name, got, want)
			}
		}
	}
	for address := range want {
		t.Errorf("no channel for %s", address)
	}
}

// TestAsyncAPIHasTheMessages holds the messages to the encodings and the schemas.
func TestAsyncAPIHasTheMessages(t *testing.T) {
	doc := readYAML(t, asyncAPI)
	messages := doc["components"].(node)["messages"].(node)
	events := []protocol.Channel{protocol.ChannelCheck, protocol.ChannelDecision, protocol.ChannelResult,
		protocol.ChannelApproval, protocol.ChannelRun, protocol.ChannelLedger}
	for _, c := range events {
		for suffix, contentType := range map[string]string{"": "application/json", "Structured": "application/cloudevents+json", "Binary": "application/json"} {
			m, ok := messages[string(c)+suffix].(node)
			if !ok {
				t.Errorf("no message %s%s", c, suffix)
				continue
			}
			if m["contentType"] != contentType {
				t.Errorf("message %s%s has the content type %v", c, suffix, m["contentType"])
			}
			switch suffix {
			case "Structured":
				own := m["payload"].(node)["allOf"].([]any)[1].(node)["properties"].(node)
				if got := own["type"].(node)["const"]; got != protocol.EventType(c) {
					t.Errorf("message %s%s: the event's type is %v", c, suffix, got)
				}
			case "Binary":
				own := m["headers"].(node)["allOf"].([]any)[1].(node)["properties"].(node)
				if got := own["ce-type"].(node)["const"]; got != protocol.EventType(c) {
					t.Errorf("message %s%s: the event's type is %v", c, suffix, got)
				}
			}
		}
	}
	used := map[string]bool{}
	walk(doc, func(ref string) {
		if name, ok := strings.CutPrefix(ref, "./schemas/"); ok {
			used[strings.TrimSuffix(name, ".json")] = true
		}
	})
	for _, w := range wires() {
		if !used[w.name] {
			t.Errorf("no message has the schema %s", w.name)
		}
	}
}

// TestAsyncAPIRefsResolve follows every $ref, into other files as well.
func TestAsyncAPIRefsResolve(t *testing.T) {
	doc := readYAML(t, asyncAPI)
	n := 0
	walk(doc, func(ref string) {
		n++
		resolveRef(t, asyncAPI, doc, ref)
	})
	if n < 50 {
		t.Errorf("found only %d references", n)
	}
	used := map[string]bool{}
	walk(doc, func(ref string) { used[ref] = true })
	for kind, group := range doc["components"].(node) {
		for name := range group.(node) {
			if ref := fmt.Sprintf("#/components/%s/%s", kind, name); !used[ref] {
				t.Errorf("nothing refers to %s", ref)
			}
		}
	}
}

// TestAsyncAPIOperations says that there is an operation for every channel, in
// the queue group where the provider receives.
func TestAsyncAPIOperations(t *testing.T) {
	doc := readYAML(t, asyncAPI)
	served := map[string]bool{"inbox": true}
	for name, v := range doc["operations"].(node) {
		op := v.(node)
		channel := strings.TrimPrefix(op["channel"].(node)["$ref"].(string), "#/channels/")
		served[channel] = true
		receives := op["action"] == "receive"
		if !receives && op["action"] != "send" {
			t.Errorf("operation %s: action %v", name, op["action"])
		}
		var queue any
		if b, ok := op["bindings"].(node); ok {
			queue = b["nats"].(node)["queue"]
		}
		if receives && queue != protocol.QueueGroup || !receives && queue != nil {
			t.Errorf("operation %s has the queue group %v", name, queue)
		}
		if reply, ok := op["reply"].(node); ok != receives || ok && len(reply["messages"].([]any)) == 0 {
			t.Errorf("operation %s: has a reply: %t", name, ok)
		}
	}
	for name := range doc["channels"].(node) {
		if !served[name] {
			t.Errorf("no operation on channel %s", name)
		}
	}
}

func walk(v any, visit func(ref string)) {
	switch v := v.(type) {
	case node:
		if ref, ok := v["$ref"].(string); ok {
			visit(ref)
		}
		for _, k := range sortedKeys(v) {
			walk(v[k], visit)
		}
	case []any:
		for i := range v {
			walk(v[i], visit)
		}
	}
}

// resolveRef follows a reference from the root of a file.
func resolveRef(t *testing.T, file string, root any, ref string) any {
	t.Helper()
	path, pointer, _ := strings.Cut(ref, "#")
	at := root
	if path != "" {
		file = filepath.Join(filepath.Dir(file), path)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("$ref %s: %v", ref, err)
			return node{}
		}
		at = parse(t, string(text))
		walk(at, func(inner string) {
			if !strings.HasPrefix(inner, "#") {
				t.Errorf("%s: $ref %s leaves the file", file, inner)
				return
			}
			resolveRef(t, file, at, inner)
		})
	}
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if token == "" {
			continue
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		m, ok := at.(node)
		if !ok || m[token] == nil {
			t.Errorf("%s: $ref %s: there is no %s", file, ref, token)
			return node{}
		}
		at = m[token]
		if next, ok := at.(node); ok {
			if r, ok := next["$ref"].(string); ok && !slices.Contains([]string{ref}, r) {
				at = resolveRef(t, file, root, r)
			}
		}
	}
	return at
}
