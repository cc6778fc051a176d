package protocol_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

type badCheck struct {
	edits []string
	doc   string
	code  protocol.Code
	want  string
}

func edits(pairs ...string) []string { return pairs }

const invalid = protocol.CodeInvalidRequest

// badChecks are checks that are refused: edits of the full check, or whole
// documents. The message is what a person reads who wrote the check.
var badChecks = []badCheck{
	{nil, ``, invalid, `not valid JSON at byte 0: unexpected EOF`},
	{nil, `{`, invalid, `not valid JSON at byte 1: unexpected EOF`},
	{nil, `null`, invalid, `protocolVersion: is required`},
	{nil, `[]`, invalid, `must be an object, not an array`},
	{nil, `"check"`, invalid, `must be an object, not a string`},
	{nil, `{} {}`, invalid, `not valid JSON at byte 3: invalid character '{' after top-level value`},
	{nil, `{"protocolVersion":"1","protocolVersion":"1"}`, invalid, `protocolVersion: not valid JSON at byte 23: duplicate object member name`},
	{nil, `{"protocolVersion":"2","protocolVersion":"2"}`, protocol.CodeUnsupportedVersion, `protocolVersion: "2" is not supported; this provider speaks version "1"`},
	{nil, "{\"requestId\":\"\xff\"}", invalid, `requestId: not valid JSON at byte 14: invalid UTF-8`},
	{nil, `{"requestId":"\ud800"}`, invalid, "requestId: not valid JSON at byte 14: invalid surrogate pair `\\ud800\"}` in string"},
	{nil, `{"requestId":"a"}`, invalid, `protocolVersion: is required`},
	{nil, `{"protocolVersion":"3","action":7}`, protocol.CodeUnsupportedVersion, `protocolVersion: "3" is not supported; this provider speaks version "1"`},
	{nil, `{"ProtocolVersion":"1"}`, invalid, `protocolVersion: is required`},
	{nil, "{\"\x1b[31m\\n\":1,\"\x1b[31m\\n\":1}", invalid, `not valid JSON at byte 2: invalid character '\x1b' in string (expecting non-control character)`},
	{nil, `{"a":{"a":1,"\u001b[31m\n":{"b":1,"b":2}}}`, invalid, `a.�[31m�.b: not valid JSON at byte 34: duplicate object member name`},
	{nil, `{"a":` + strings.Repeat(`[`, 10001) + strings.Repeat(`]`, 10001) + `}`, invalid, `a[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]…: not valid JSON at byte 10004: exceeded max depth`},
	{nil, strings.Repeat(` `, protocol.MaxDocument+1), protocol.CodeTooLarge, `the document has 1048577 bytes; at most 1048576 are taken`},
	{edits("protocolVersion", drop), "", invalid, `protocolVersion: is required`},
	{edits("protocolVersion", `"2"`), "", protocol.CodeUnsupportedVersion, `protocolVersion: "2" is not supported; this provider speaks version "1"`},
	{edits("protocolVersion", `1`), "", invalid, `protocolVersion: must be a string, not a number`},
	{edits("protocolVersion", `null`), "", invalid, `protocolVersion: is required`},
	{edits("requestId", drop), "", invalid, `requestId: is required`},
	{edits("requestId", `""`), "", invalid, `requestId: is required`},
	{edits("requestId", `7`), "", invalid, `requestId: must be a string, not a number`},
	{edits("requestId", `"é"`), "", invalid, `requestId: must be printable ASCII; a UUID is best`},
	{edits("requestId", `"a\nb"`), "", invalid, `requestId: must be printable ASCII; a UUID is best`},
	{edits("requestId", `"`+strings.Repeat("x", 129)+`"`), "", invalid, `requestId: has 129 bytes; at most 128 printable ASCII characters are taken`},
	{edits("caller", drop), "", invalid, `caller.extensionId: is required`},
	{edits("caller", `"x"`), "", invalid, `caller: must be an object, not a string`},
	{edits("caller.extensionId", `""`), "", invalid, `caller.extensionId: is required`},
	{edits("caller.extensionId", `{}`), "", invalid, `caller.extensionId: must be a string, not an object`},
	{edits("caller.agentId", text(257)), "", invalid, `caller.agentId: has 257 characters; at most 256 are taken`},
	{edits("caller.swarmId", `false`), "", invalid, `caller.swarmId: must be a string, not a boolean`},
	{edits("action", drop), "", invalid, `action.resource.kind: is required`},
	{edits("action", `[]`), "", invalid, `action: must be an object, not an array`},
	{edits("action.resource", `"file"`), "", invalid, `action.resource: must be an object, not a string`},
	{edits("action.resource.kind", drop), "", invalid, `action.resource.kind: is required`},
	{edits("action.resource.kind", `"File"`), "", protocol.CodeUnsupportedKind, `action.resource.kind: "File" is not supported; write file or process`},
	{edits("action.resource.kind", `7`), "", invalid, `action.resource.kind: must be a string, not a number`},
	{edits("action.resource.type", text(257)), "", invalid, `action.resource.type: has 257 characters; at most 256 are taken`},
	{edits("action.operation", drop), "", invalid, `action.operation: is required`},
	{edits("action.operation", `"exec"`), "", protocol.CodeUnsupportedOperation, `action.operation: "exec" is not an operation on a file; write read, write, delete, list or stat`},
	{edits("action.operation", `"`+strings.Repeat("x", 100)+`"`), "", protocol.CodeUnsupportedOperation, `action.operation: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" is not an operation on a file; write read, write, delete, list or stat`},
	{edits("action.operation", text(257)), "", invalid, `action.operation: has 257 characters; at most 256 are taken`},
	{edits("action.resource.kind", `"process"`), "", protocol.CodeUnsupportedOperation, `action.operation: "write" is not an operation on a process; write exec or spawn`},
	{edits("action.targets", drop), "", invalid, `action.targets: must have at least one target`},
	{edits("action.targets", `[]`), "", invalid, `action.targets: must have at least one target`},
	{edits("action.targets", `{}`), "", invalid, `action.targets: must be an array, not an object`},
	{edits("action.targets", `[`+strings.Repeat(`{"path":"a"},`, 1000)+`{"path":"a"}]`), "", invalid, `action.targets: has 1001 targets; at most 1000 are taken, send several checks`},
	{edits("action.targets.1", `null`), "", invalid, `action.targets[1]: must have a uri (file:) or a path`},
	{edits("action.targets.1", `"a"`), "", invalid, `action.targets[1]: must be an object, not a string`},
	{edits("action.targets.1", `{}`), "", invalid, `action.targets[1]: must have a uri (file:) or a path`},
	{edits("action.targets.1", `{"path":7}`), "", invalid, `action.targets[1].path: must be a string, not a number`},
	{edits("action.targets.1", `{"path":"a","command":"ls"}`), "", invalid, `action.targets[1].command: belongs to a process, not to a file; send a second check for the process`},
	{edits("action.targets.1", `{"path":"a","argv":[]}`), "", invalid, `action.targets[1].argv: belongs to a process, not to a file; send a second check for the process`},
	{edits("action.resource.kind", `"process"`, "action.operation", `"exec"`, "action.targets", `[{}]`), "", invalid, `action.targets[0]: must have a command (shell source) or an argv (the words, program first)`},
	{edits("action.resource.kind", `"process"`, "action.operation", `"exec"`, "action.targets", `[{"command":"ls","argv":["-l"]}]`), "", invalid, `action.targets[0]: has command and argv; give command (shell source) or argv (the whole command line, program first), not both`},
	{edits("action.resource.kind", `"process"`, "action.operation", `"exec"`, "action.targets", `[{"argv":[]}]`), "", invalid, `action.targets[0]: must have a command (shell source) or an argv (the words, program first)`},
	{edits("action.resource.kind", `"process"`, "action.operation", `"exec"`, "action.targets", `[{"argv":[""]}]`), "", invalid, `action.targets[0].argv[0]: must name the program`},
	{edits("action.resource.kind", `"process"`, "action.operation", `"exec"`, "action.targets", `[{"argv":["ls",null]}]`), "", invalid, `action.targets[0].argv: must be an array of strings, and nothing else in it, not null`},
	{edits("action.resource.kind", `"process"`, "action.operation", `"exec"`, "action.targets", `[{"argv":["ls",7]}]`), "", invalid, `action.targets[0].argv: must be an array of strings, and nothing else in it, not a number`},
	{edits("action.resource.kind", `"process"`, "action.operation", `"exec"`, "action.targets", `[{"argv":"ls"}]`), "", invalid, `action.targets[0].argv: must be an array of strings, not a string`},
	{edits("action.resource.kind", `"process"`, "action.operation", `"exec"`, "action.targets", `[{"command":["ls"]}]`), "", invalid, `action.targets[0].command: must be a string, not an array`},
	{edits("action.resource.kind", `"process"`, "action.operation", `"exec"`, "action.targets", `[{"uri":"file:///a"}]`), "", invalid, `action.targets[0]: must have a command (shell source) or an argv (the words, program first)`},
	{edits("action.resource.kind", `"process"`, "action.operation", `"write"`), "", protocol.CodeUnsupportedOperation, `action.operation: "write" is not an operation on a process; write exec or spawn`},
	{edits("action.attributes", `7`), "", invalid, `action.attributes: must be an object, not a number`},
	{edits("action.attributes.input", `"x"`), "", invalid, `action.attributes.input: must be an object, not a string`},
	{edits("action.attributes.input", `[]`), "", invalid, `action.attributes.input: must be an object, not an array`},
	{edits("action.attributes.toolName", text(257)), "", invalid, `action.attributes.toolName: has 257 characters; at most 256 are taken`},
	{edits("action.attributes.content", `["x"]`), "", invalid, `action.attributes.content: must be a string, not an array`},
	{edits("action.attributes.diffLines", `-1`), "", invalid, `action.attributes.diffLines: must be a whole number from 0 to 9007199254740991, not "-1"`},
	{edits("action.attributes.linesAdded", `0.5`), "", invalid, `action.attributes.linesAdded: must be a whole number from 0 to 9007199254740991, not "0.5"`},
	{edits("action.attributes.linesRemoved", `"1"`), "", invalid, `action.attributes.linesRemoved: must be a whole number, not a string`},
	{edits("action.attributes.tokens", `9007199254740992`), "", invalid, `action.attributes.tokens: must be a whole number from 0 to 9007199254740991, not "9007199254740992"`},
	{edits("action.attributes.tokens", `1e400`), "", invalid, `action.attributes.tokens: must be a whole number from 0 to 9007199254740991, not "1e400"`},
	{edits("action.attributes.costUsd", `-0.01`), "", invalid, `action.attributes.costUsd: must be from 0 to 1e+12 (US dollars), not -0.01`},
	{edits("action.attributes.costUsd", `1e13`), "", invalid, `action.attributes.costUsd: must be from 0 to 1e+12 (US dollars), not 1e+13`},
	{edits("action.attributes.costUsd", `1e400`), "", invalid, `action.attributes.costUsd: must be a number that is in range`},
	{edits("action.attributes.costUsd", `"1"`), "", invalid, `action.attributes.costUsd: must be a number, not a string`},
	{edits("context", `[]`), "", invalid, `context: must be an object, not an array`},
	{edits("context.cwd", `7`), "", invalid, `context.cwd: must be a string, not a number`},
	{edits("context.sessionId", text(300)), "", invalid, `context.sessionId: has 300 characters; at most 256 are taken`},
	{edits("context.runId", text(257)), "", invalid, `context.runId: has 257 characters; at most 256 are taken`},
	{edits("context.home", `{}`), "", invalid, `context.home: must be a string, not an object`},
	{edits("options", `true`), "", invalid, `options: must be an object, not a boolean`},
	{edits("options.interactive", `"yes"`), "", invalid, `options.interactive: must be true or false, not a string`},
	{edits("options.interactive", `1`), "", invalid, `options.interactive: must be true or false, not a number`},
	{edits("options.timeoutMs", `0`), "", invalid, `options.timeoutMs: must be from 1 to 600000 (milliseconds), not 0`},
	{edits("options.timeoutMs", `600001`), "", invalid, `options.timeoutMs: must be from 1 to 600000 (milliseconds), not 600001`},
	{edits("options.timeoutMs", `-5`), "", invalid, `options.timeoutMs: must be a whole number from 0 to 9007199254740991, not "-5"`},
	{edits("options.timeoutMs", `0.5`), "", invalid, `options.timeoutMs: must be a whole number from 0 to 9007199254740991, not "0.5"`},
	{edits("options.timeoutMs", `"1000"`), "", invalid, `options.timeoutMs: must be a whole number, not a string`},
	{edits("protocolVersion", `"2"`, "action", `7`), "", protocol.CodeUnsupportedVersion, `protocolVersion: "2" is not supported; this provider speaks version "1"`},
	{edits("requestId", `""`, "action.operation", `""`), "", invalid, `requestId: is required`},
}

func (b *badCheck) bytes(t testing_) []byte {
	if b.edits == nil {
		return []byte(b.doc)
	}
	return edited{edits: b.edits}.apply(t, wires()[0].full)
}

func TestDecodeCheckNamesTheField(t *testing.T) {
	for i := range badChecks {
		b := &badChecks[i]
		c, err := protocol.DecodeCheck(b.bytes(t))
		switch {
		case err == nil:
			t.Errorf("%.200q %.100q: accepted", b.edits, b.doc)
			continue
		case c != nil:
			t.Errorf("%.200q %.100q: refused and returned", b.edits, b.doc)
		case err.Code != b.code || err.Error() != b.want:
			t.Errorf("%.200q %.100q:\n got %s: %s\nwant %s: %s", b.edits, b.doc, err.Code, err, b.code, b.want)
		}
		if err.Field != "" && !strings.HasPrefix(err.Error(), err.Field+": ") {
			t.Errorf("%.200q %.100q: the error does not begin with its field %q", b.edits, b.doc, err.Field)
		}
		if strings.ContainsAny(err.Error(), "\n\r\x1b") || len(err.Error()) > 500 {
			t.Errorf("%.200q %.100q: not fit for a log: %q", b.edits, b.doc, err)
		}
	}
}

// TestDecodeOthersNameTheField is the same for members that only other documents have.
func TestDecodeOthersNameTheField(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit []string
		want string
	}{
		{"decision", edits("decision", `"Allow"`), `decision: must be allow, block, ask or error, not "Allow"`},
		{"decision", edits("decision", `"warn"`), `decision: must be allow, block, ask or error, not "warn"`},
		{"decision", edits("code", drop), `code: is required`},
		{"decision", edits("ask", drop), `ask: is required`},
		{"decision", edits("ask.prompt", `""`), `ask.prompt: is required`},
		{"decision", edits("ask.expiresAt", `null`), `ask.expiresAt: is required`},
		{"decision", edits("ask.expiresAt", `"tomorrow"`), `ask.expiresAt: must be a time of RFC 3339, not a string`},
		{"decision", edits("ask.expiresAt", `7`), `ask.expiresAt: must be a time of RFC 3339, not a number`},
		{"decision", edits("ask.expiresAt", `"0001-01-01T09:00:00+09:00"`), `ask.expiresAt: is required`},
		{"decision", edits("requestHash", drop), `requestHash: is required`},
		{"decision", edits("requestHash", `"md5:1"`), `requestHash: must be sha256: and 64 hexadecimal digits, not "md5:1"`},
		{"decision", edits("provider.policyHash", `"x"`), `provider.policyHash: must be sha256: and 64 hexadecimal digits, not "x"`},
		{"decision", edits("provider", `null`), `provider.id: is required`},
		{"decision", edits("findings.0.policy", drop), `findings[0].policy: is required`},
		{"decision", edits("findings.0.decision", drop), `findings[0].decision: is required`},
		{"decision", edits("findings.0.target", `1000`), `findings[0].target: must be the index of a target, from 0 to 999`},
		{"decision", edits("findings.0.target", `"x"`), `findings[0].target: must be a whole number, not a string`},
		{"decision", edits("replayed", `"x"`), `replayed: must be true or false, not a string`},
		{"decision", edits("budget.toolCalls.used", `"x"`), `budget.toolCalls.used: must be a number, not a string`},
		{"decision", edits("warnings.0", `1`), `warnings[0]: must be a string, not a number`},
		{"approval", edits("approved", drop), `approved: is required`},
		{"approval", edits("approved", `null`), `approved: is required`},
		{"approval", edits("approved", `"true"`), `approved: must be true or false, not a string`},
		{"approval", edits("approver", text(257)), `approver: has 257 characters; at most 256 are taken`},
		{"result", edits("outcome", drop), `outcome: is required`},
		{"result", edits("outcome", `"ok"`), `outcome: must be success, failure or cancelled, not "ok"`},
		{"result", edits("usage.costUsd", `-1`), `usage.costUsd: must be from 0 to 1e+12 (US dollars), not -1`},
		{"run", edits("event", `"stop"`), `event: must be start, finish or violation, not "stop"`},
		{"run", edits("ruleId", drop), `ruleId: is required`},
		{"run", edits("runId", text(257)), `runId: has 257 characters; at most 256 are taken`},
		{"operator-ask", edits("scope", `"a..b"`), `scope: scope "a..b": an empty token; write tokens joined by single dots, such as swarm-a.agent-7`},
		{"operator-ask", edits("action.operation", `"x"`), `action.operation: "x" is not an operation on a file; write read, write, delete, list or stat`},
		{"operator-approval", edits("scope", `"*"`), `scope: scope "*": the token "*" has a wildcard; write a literal token`},
		{"operator-nets", edits("active", `null`), `active: is required`},
		{"status", edits("sessions.0.session", drop), `sessions[0].session: is required`},
		{"status", edits("sessions.0.nets.0.marking.idle", `-1`), `sessions[0].nets[0].marking.idle: must be a whole number from 0 to 9007199254740991, not "-1"`},
		{"blocked", edits("input", `null`), `input: is required`},
		{"blocked", edits("feature", `"x"`), `feature: must be policies or permissionGate, not "x"`},
		{"dangerous", edits("pattern", `""`), `pattern: is required`},
	} {
		for _, w := range wires() {
			if w.name != tt.name {
				continue
			}
			_, err := w.decode(edited{edits: tt.edit}.apply(t, w.full))
			if err == nil || err.Error() != tt.want {
				t.Errorf("%s %.100q:\n got %v\nwant %s", tt.name, tt.edit, err, tt.want)
			}
		}
	}
}

// TestEveryDocumentHasALimit says that no document is read beyond MaxDocument,
// and one of just that size is.
func TestEveryDocumentHasALimit(t *testing.T) {
	for _, w := range wires() {
		pad := strings.Repeat(" ", protocol.MaxDocument-len(w.full))
		if _, err := w.decode([]byte(w.full + pad)); err != nil {
			t.Errorf("%s of %d bytes: %v", w.name, protocol.MaxDocument, err)
		}
		if _, err := w.decode([]byte(w.full + pad + " ")); err == nil || err.Code != protocol.CodeTooLarge {
			t.Errorf("%s of %d bytes: %v", w.name, protocol.MaxDocument+1, err)
		}
	}
}

func TestDecodeCheckReadsEverything(t *testing.T) {
	got, err := protocol.DecodeCheck([]byte(wires()[0].full))
	if err != nil {
		t.Fatal(err)
	}
	want := &protocol.Check{
		ProtocolVersion: "1", RequestID: "abc-123",
		Caller: protocol.Caller{ExtensionID: "x", AgentID: "agent-7", SwarmID: "swarm-a"},
		Action: protocol.Action{
			Resource: protocol.Resource{Kind: protocol.KindFile, Type: "mcp-tool"}, Operation: protocol.OpWrite,
			Targets: []protocol.Target{{URI: "file:///repo/a", Path: "a", RealPath: "/repo/a"}, {Path: "b"}},
			Attributes: protocol.Attributes{
				ToolName: "write_file", Input: []byte(`{"path":"a"}`), Content: "x", DiffLines: 4, LinesAdded: 3, LinesRemoved: 1,
				Tokens: 9, CostUSD: 0.5, Extra: []byte(`{"more":[1]}`),
			},
		},
		Context: protocol.Context{Cwd: "/repo", Home: "/home/dev", SessionID: "s-42", RunID: "run-9"},
		Options: protocol.Options{Interactive: true, TimeoutMs: 1000},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestNullIsLeftOut says so of every optional member at once, input included,
// which is a raw value.
func TestNullIsLeftOut(t *testing.T) {
	with := `{"protocolVersion":"1","requestId":"a","caller":{"extensionId":"x","agentId":null,"swarmId":null},
		"action":{"resource":{"kind":"file","type":null},"operation":"read","targets":[{"path":"a","uri":null,"realPath":null,"command":null,"argv":null}],
		"attributes":{"toolName":null,"input":null,"content":null,"diffLines":null,"linesAdded":null,"linesRemoved":null,"tokens":null,"costUsd":null}},
		"context":{"cwd":null,"home":null,"sessionId":null,"runId":null},"options":{"interactive":null,"timeoutMs":null}}`
	without := `{"protocolVersion":"1","requestId":"a","caller":{"extensionId":"x"},"action":{"resource":{"kind":"file"},"operation":"read","targets":[{"path":"a"}]}}`
	got, err := protocol.DecodeCheck([]byte(with))
	if err != nil {
		t.Fatal(err)
	}
	want, err := protocol.DecodeCheck([]byte(without))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if a, err := protocol.DecodeOperatorAsk(edited{edits: edits("action.attributes.input", "null")}.apply(t, wires()[5].full)); err != nil || a.Action.Attributes.Input != nil {
		t.Errorf("operator ask: %v %v", a, err)
	}
}

// TestNamesAreCaseSensitive says that no other spelling of a name is read.
func TestNamesAreCaseSensitive(t *testing.T) {
	for _, doc := range []string{
		`{"protocolversion":"1","requestId":"a","caller":{"extensionId":"x"},"action":{"resource":{"kind":"file"},"operation":"read","targets":[{"path":"a"}]}}`,
		`{"protocolVersion":"1","RequestID":"a","caller":{"extensionId":"x"},"action":{"resource":{"kind":"file"},"operation":"read","targets":[{"path":"a"}]}}`,
		`{"protocolVersion":"1","requestId":"a","caller":{"extensionID":"x"},"action":{"resource":{"kind":"file"},"operation":"read","targets":[{"path":"a"}]}}`,
		`{"protocolVersion":"1","requestId":"a","caller":{"extensionId":"x"},"action":{"resource":{"kind":"file"},"operation":"read","targets":[{"Path":"a"}]}}`,
		`{"protocolVersion":"1","requestId":"a","caller":{"extensionId":"x"},"action":{"resource":{"KIND":"file"},"operation":"read","targets":[{"path":"a"}]}}`,
	} {
		if _, err := protocol.DecodeCheck([]byte(doc)); err == nil || !strings.HasSuffix(err.Error(), "is required") && err.Field != "action.targets[0]" {
			t.Errorf("%s: %v", doc, err)
		}
	}
	two, err := protocol.DecodeCheck([]byte(`{"protocolVersion":"1","requestId":"a","REQUESTID":"b","caller":{"extensionId":"x"},` +
		`"action":{"resource":{"kind":"file"},"operation":"read","targets":[{"path":"a","PATH":"b","Command":"ls"}]}}`))
	if err != nil || two.RequestID != "a" || !reflect.DeepEqual(two.Action.Targets[0], protocol.Target{Path: "a"}) {
		t.Errorf("%+v %v", two, err)
	}
}

func TestDuplicateNamesAreRefused(t *testing.T) {
	for _, doc := range []string{
		`{"requestId":"a","requestId":"a"}`,
		`{"action":{"targets":[{"path":"a","path":"b"}]}}`,
		`{"action":{"attributes":{"input":{"path":"a","path":"b"}}}}`,
		`{"unknown":{"a":1,"a":2}}`,
		`{"requestId":"a","request\u0049d":"b"}`,
	} {
		if _, err := protocol.DecodeCheck([]byte(doc)); err == nil || !strings.HasSuffix(err.Error(), "duplicate object member name") {
			t.Errorf("%s: %v", doc, err)
		}
	}
}

func TestPeek(t *testing.T) {
	for _, tt := range []struct{ doc, id, version string }{
		{``, "", ""}, {`[`, "", ""}, {`nonsense`, "", ""}, {`"requestId"`, "", ""}, {`[{"requestId":"a"}]`, "", ""},
		{`{"requestId":"a","protocolVersion":"1"}`, "a", "1"},
		{`{"requestId":"a","protocolVersion":"9","action":7}`, "a", "9"},
		{`{"requestId":"a"`, "a", ""}, {`{"requestId":"a",`, "a", ""}, {`{"requestId":"a","x":tru`, "a", ""}, {`{"requestId":"a`, "", ""},
		{`{"x":{"requestId":"b"},"requestId":"a"}`, "a", ""}, {`{"x":{"requestId":"b"}`, "", ""},
		{`{"x":[1,2,"requestId":"b"`, "", ""}, {`{"x":}{"requestId":"b"}`, "", ""},
		{`{"requestId":7}`, "", ""}, {`{"requestId":null}`, "", ""}, {`{"requestId":""}`, "", ""}, {`{"RequestId":"a"}`, "", ""},
		{`{"requestId":"a","requestId":"a"}`, "a", ""}, {`{"requestId":"a","requestId":"b"}`, "", ""},
		{`{"requestId":"a","requestId":"b","requestId":"a"}`, "", ""}, {`{"protocolVersion":"1","protocolVersion":"2"}`, "", ""},
		{`{"requestId":"a\u0062"}`, "ab", ""}, {`{"request\u0049d":"a"}`, "a", ""}, {`{"requestId":"a\n"}`, "", ""}, {`{"requestId":"é"}`, "", ""},
		{"{\"requestId\":\"\xff\"}", "", ""}, {"{\"\xff\":1,\"requestId\":\"a\"}", "", ""}, {"{\"requestId\":\"a\",\"x\":\"\xff\"}", "a", ""},
		{`{"requestId":"` + strings.Repeat("x", 128) + `"}`, strings.Repeat("x", 128), ""}, {`{"requestId":"` + strings.Repeat("x", 129) + `"}`, "", ""},
		{`{"requestId":"a","x":"` + strings.Repeat("x", protocol.MaxDocument) + `"}`, "a", ""},
		{`{"x":"` + strings.Repeat("x", protocol.MaxDocument) + `","requestId":"a"}`, "", ""},
		{`{"x":` + strings.Repeat(`[`, 100000), "", ""},
		{"\xef\xbb\xbf" + `{"requestId":"a"}`, "", ""},
	} {
		if id, version := protocol.Peek([]byte(tt.doc)); id != tt.id || version != tt.version {
			t.Errorf("%.100q: got %q and %q, want %q and %q", tt.doc, id, version, tt.id, tt.version)
		}
	}
}

func TestHashIsOfTheVeryBytes(t *testing.T) {
	for doc, want := range map[string]string{
		"":             "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"abc":          "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		`{"a":1}`:      "sha256:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862",
		"{\"a\": 1}\n": "sha256:e8c628edc9968ef0c668f54e0ba2636b35503357eb1aca0ddc828aeace432f67",
	} {
		if got := protocol.Hash([]byte(doc)); got != want {
			t.Errorf("%q: got %s, want %s", doc, got, want)
		}
	}
	if protocol.Hash([]byte(`{"a":1}`)) == protocol.Hash([]byte(`{"a":1} `)) {
		t.Error("white space does not count")
	}
}

// TestEncodeIsDeterministic says that equal documents give equal bytes, maps included.
func TestEncodeIsDeterministic(t *testing.T) {
	doc := `{"protocolVersion":"1","decision":"error","code":"x","provider":{"id":"p"},"budget":{"e":{},"d":{},"c":{},"b":{},"a":{}}}`
	var first string
	for range 20 {
		d, derr := protocol.DecodeDecision([]byte(doc))
		if derr != nil {
			t.Fatal(derr)
		}
		b, err := protocol.Encode(d)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(b)
		}
		if string(b) != first {
			t.Fatalf("%s\n%s", b, first)
		}
	}
}

func TestTimeout(t *testing.T) {
	for ms, want := range map[protocol.Millis]time.Duration{0: time.Second, 1: time.Millisecond, 600000: 10 * time.Minute} {
		if got := (protocol.Options{TimeoutMs: ms}).Timeout(); got != want {
			t.Errorf("%d: %v", ms, got)
		}
	}
}

// TestSessionsDoNotCollide says that no choice of names leads to the state of another scope.
func TestSessionsDoNotCollide(t *testing.T) {
	check := func(session, extension string) *protocol.Check {
		return &protocol.Check{Caller: protocol.Caller{ExtensionID: extension}, Context: protocol.Context{SessionID: session}}
	}
	if got := check("s-42", "x").Session("a"); got != "s/s-42" {
		t.Error(got)
	}
	if got := check("", "x").Session("swarm-a.agent-7"); got != "e/swarm-a.agent-7/x" {
		t.Error(got)
	}
	parts := []string{"", "a", "b", "a/b", "b/a", "/", "a/", "/a", "%2F", "a%2Fb", "%", "e/a", "s/a"}
	seen := map[string][2]string{}
	for _, scope := range parts {
		for _, extension := range parts {
			got := check("", extension).Session(scope)
			if other, ok := seen[got]; ok {
				t.Errorf("scope %q, extension %q has the state %q of %q", scope, extension, got, other)
			}
			seen[got] = [2]string{scope, extension}
		}
	}
	for _, session := range parts[1:] {
		if got := check(session, "x").Session("a"); seen[got] != [2]string{} {
			t.Errorf("session %q has the state of %q", session, seen[got])
		}
	}
}

func TestStatusRequestMayBeEmpty(t *testing.T) {
	for _, doc := range []string{"", "{}", `{"sessionId":""}`} {
		if r, err := protocol.DecodeStatusRequest([]byte(doc)); err != nil || r.SessionID != "" {
			t.Errorf("%q: %v %v", doc, r, err)
		}
	}
	if _, err := protocol.DecodeStatusRequest([]byte(" ")); err == nil {
		t.Error("white space is taken for a request")
	}
}
