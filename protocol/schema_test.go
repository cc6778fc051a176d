package protocol_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

const schemaDir = "../docs/schemas"

// wire is a document of the protocol, with everything that the tests know of it.
type wire struct {
	name   string // of its schema
	decode func([]byte) (any, *protocol.Error)
	full   string   // valid, with every member
	also   []string // valid as well, in other shapes
	cases  []edited
}

// edited is a copy of full with some members changed.
type edited struct {
	ok    bool
	edits []string // pairs: a path with dots, and what to put there as JSON, or drop
}

const drop = "drop"

func valid(edits ...string) edited   { return edited{true, edits} }
func refused(edits ...string) edited { return edited{false, edits} }

func decodeAs[T any](decode func([]byte) (*T, *protocol.Error)) func([]byte) (any, *protocol.Error) {
	return func(doc []byte) (any, *protocol.Error) {
		v, err := decode(doc)
		if err != nil {
			return nil, err
		}
		return v, nil
	}
}

// text is a JSON string of n characters.
func text(n int) string { return `"` + strings.Repeat("é", n) + `"` }

// all repeats the edits for every path.
func all(paths []string, edits ...func(path string) edited) []edited {
	var cases []edited
	for _, p := range paths {
		for _, e := range edits {
			cases = append(cases, e(p))
		}
	}
	return cases
}

func to(value string, ok bool) func(string) edited {
	return func(path string) edited { return edited{ok, []string{path, value}} }
}

var (
	object   = []func(string) edited{to(`[]`, false), to(`"x"`, false), to(`1`, false), to(`true`, false)}
	required = []func(string) edited{to(drop, false), to(`null`, false)}
	optional = []func(string) edited{to(drop, true), to(`null`, true)}
	str      = []func(string) edited{to(`1`, false), to(`{}`, false), to(`[]`, false), to(`true`, false), to(`"x"`, true)}
	boolean  = []func(string) edited{to(`1`, false), to(`"true"`, false), to(`"x"`, false), to(`{}`, false), to(`true`, true), to(`false`, true)}
	count    = []func(string) edited{to(`0`, true), to(`-0`, true), to(`12.0`, true), to(`1.2e1`, true), to(`9007199254740991`, true),
		to(`9007199254740992`, false), to(`-1`, false), to(`0.5`, false), to(`1e400`, false), to(`"12"`, false), to(`true`, false), to(`[]`, false)}
	cost = []func(string) edited{to(`0`, true), to(`0.25`, true), to(`1e12`, true), to(`1.1e12`, false), to(`-0.01`, false),
		to(`1e400`, false), to(`"1"`, false), to(`false`, false)}
	filled  = []func(string) edited{to(`""`, false)}
	empty   = []func(string) edited{to(`""`, true)}
	named   = []func(string) edited{to(text(256), true), to(text(257), false)}
	version = []func(string) edited{to(`"2"`, false), to(`"01"`, false), to(`""`, false), to(`1`, false), to(`null`, false), to(drop, false)}
	id      = []func(string) edited{to(`"`+strings.Repeat("x", 128)+`"`, true), to(`"`+strings.Repeat("x", 129)+`"`, false), to(`" ~"`, true),
		to(`"é"`, false), to(`"a\nb"`, false), to(`"a\n"`, false), to(`"\u007f"`, false), to(`1`, false), to(`{}`, false)}
	hash = []func(string) edited{to(`"sha256:`+strings.Repeat("0af", 21)+`9"`, true), to(`"sha256:`+strings.Repeat("a", 63)+`"`, false),
		to(`"sha256:`+strings.Repeat("a", 65)+`"`, false), to(`"sha256:`+strings.Repeat("A", 64)+`"`, false), to(`"sha512:`+strings.Repeat("a", 64)+`"`, false),
		to(`"`+strings.Repeat("a", 64)+`"`, false), to(`"sha256:`+strings.Repeat("a", 64)+`\n"`, false), to(`" "`, false), to(`1`, false)}
	instant = []func(string) edited{to(`"2030-01-02T15:04:05Z"`, true), to(`"2030-01-02T15:04:05.123456789012+05:30"`, true), to(`"2030-01-02T23:59:59-23:59"`, true),
		to(`"2028-02-29T00:00:00Z"`, true), to(`"2027-02-29T00:00:00Z"`, false), to(`"2100-02-29T00:00:00Z"`, false), to(`"2030-04-31T00:00:00Z"`, false),
		to(`"2030-13-01T00:00:00Z"`, false), to(`"2030-00-01T00:00:00Z"`, false), to(`"2030-01-00T00:00:00Z"`, false), to(`"2030-01-01T24:00:00Z"`, false),
		to(`"2030-01-01T00:60:00Z"`, false), to(`"2030-12-31T23:59:60Z"`, false), to(`"2030-01-02t15:04:05Z"`, false), to(`"2030-01-02T15:04:05z"`, false),
		to(`"2030-01-02 15:04:05Z"`, false), to(`"2030-01-02T15:04:05"`, false), to(`"2030-01-02T15:04Z"`, false), to(`"2030-01-02T15:04:05,5Z"`, false),
		to(`"2030-01-02T15:04:05.Z"`, false), to(`"2030-01-02T15:04:05+24:00"`, false), to(`"2030-01-02T15:04:05+05:60"`, false), to(`"2030-01-02T15:04:05+0530"`, false),
		to(`"2030-1-2T15:04:05Z"`, false), to(`"02030-01-02T15:04:05Z"`, false), to(`"-030-01-02T15:04:05Z"`, false), to(`"2030-01-02T15:04:05Z\n"`, false),
		to(`"0001-01-01T00:00:00Z"`, false), to(`"0001-12-31T00:00:00+09:00"`, false), to(`"0000-06-01T00:00:00Z"`, false), to(`"0002-01-01T00:00:00Z"`, true),
		to(`"9999-12-31T23:59:59Z"`, true), to(`"tomorrow"`, false), to(`""`, false), to(`1893596645`, false), to(`{}`, false)}
	scope = []func(string) edited{to(`""`, true), to(`null`, true), to(drop, true), to(`"a"`, true), to(`"swarm-a.agent-7"`, true), to(`"é.ü"`, true), to(`"\u0080\u2028"`, true),
		to(`"a..b"`, false), to(`".a"`, false), to(`"a."`, false), to(`"."`, false), to(`"*"`, false), to(`"a.>"`, false), to(`"a*b"`, false), to(`"a b"`, false),
		to(`"a\n"`, false), to(`"a\u0000"`, false), to(`"a\u007f"`, false), to(`" "`, false), to(`1`, false), to(`[]`, false)}
	outcomes = func(words ...string) []func(string) edited {
		edits := []func(string) edited{to(`"Allow"`, false), to(`"ALLOW"`, false), to(`"nonsense"`, false), to(`""`, false), to(`true`, false), to(`1`, false), to(`["allow"]`, false)}
		for _, w := range words {
			edits = append(edits, to(strconv.Quote(w), true))
		}
		return edits
	}
)

func paths(p ...string) []string { return p }

func join(cases ...[]edited) []edited { return slices.Concat(cases...) }

// under puts a prefix before paths.
func under(prefix string, p ...string) []string {
	for i := range p {
		p[i] = prefix + p[i]
	}
	return p
}

const (
	fullCaller  = `{"extensionId":"x","agentId":"agent-7","swarmId":"swarm-a"}`
	fullContext = `{"cwd":"/repo","home":"/home/dev","sessionId":"s-42","runId":"run-9"}`
	fullAction  = `{"resource":{"kind":"file","type":"mcp-tool"},"operation":"write",
		"targets":[{"uri":"file:///repo/a","path":"a","realPath":"/repo/a"},{"path":"b"}],
		"attributes":{"toolName":"write_file","input":{"path":"a"},"content":"x","diffLines":4,"linesAdded":3,"linesRemoved":1,"tokens":9,"costUsd":0.5,"more":[1]}}`
	someHash = `"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
)

func callerCases(needed bool) []edited {
	cases := join(
		all(paths("caller"), object...),
		all(paths("caller.agentId", "caller.swarmId"), optional...),
		all(paths("caller.agentId", "caller.swarmId"), empty...),
		all(paths("caller.agentId", "caller.swarmId", "caller.extensionId"), str...),
		all(paths("caller.agentId", "caller.swarmId", "caller.extensionId"), named...),
	)
	if needed {
		return join(cases, all(paths("caller", "caller.extensionId"), required...), all(paths("caller.extensionId"), filled...), []edited{refused("caller", `{}`)})
	}
	return join(cases, all(paths("caller", "caller.extensionId"), optional...), all(paths("caller.extensionId"), empty...), []edited{valid("caller", `{}`)})
}

func contextCases() []edited {
	members := under("context.", "cwd", "home", "sessionId", "runId")
	return join(
		all(paths("context"), object...),
		all(paths("context"), optional...),
		all(members, optional...), all(members, empty...), all(members, str...),
		all(members[2:], named...),
		all(members[:2], to(text(5000), true)),
	)
}

func actionCases() []edited {
	process := func(target string) []string {
		return []string{"action.resource.kind", `"process"`, "action.operation", `"exec"`, "action.targets", `[` + target + `]`}
	}
	file := func(target string) []string { return []string{"action.targets", `[` + target + `]`} }
	network := func(target string) []string {
		return []string{"action.resource.kind", `"network"`, "action.operation", `"connect"`, "action.targets", `[` + target + `]`}
	}
	counts := under("action.attributes.", "diffLines", "linesAdded", "linesRemoved", "tokens")
	texts := under("action.attributes.", "toolName", "content")
	targets := func(n int) string { return `[` + strings.TrimSuffix(strings.Repeat(`{"path":"a"},`, n), ",") + `]` }
	cases := join(
		all(paths("action", "action.resource"), object...),
		all(paths("action", "action.resource", "action.resource.kind", "action.operation", "action.targets"), required...),
		all(paths("action.resource.kind", "action.operation"), filled...),
		all(paths("action.resource.kind"), to(`"File"`, false), to(`"files"`, false), to(`1`, false), to(`["file"]`, false)),
		all(paths("action.resource.type"), optional...), all(paths("action.resource.type"), empty...),
		all(paths("action.resource.type"), str...), all(paths("action.resource.type"), named...),
		all(paths("action.operation"), to(`"read"`, true), to(`"write"`, true), to(`"delete"`, true), to(`"list"`, true), to(`"stat"`, true),
			to(`"exec"`, false), to(`"spawn"`, false), to(`"Write"`, false), to(`1`, false), to(`{}`, false)),
		all(paths("action.targets"), to(`[]`, false), to(`{}`, false), to(`"a"`, false), to(targets(1000), true), to(targets(1001), false)),
		all(paths("action.targets.1"), to(`null`, false), to(`"a"`, false), to(`[]`, false), to(`1`, false), to(`{}`, false), to(drop, true)),
		all(paths("action.attributes", "action.attributes.input"), object...),
		all(paths("action.attributes", "action.attributes.input", "action.attributes.costUsd", "action.attributes.more"), optional...),
		all(paths("action.attributes.input", "action.attributes.more"), to(`{}`, true), to(`{"a":{"b":[null,1]}}`, true)),
		all(counts, optional...), all(counts, count...),
		all(paths("action.attributes.costUsd"), cost...),
		all(texts, optional...), all(texts, empty...), all(texts, str...), all(texts[:1], named...), all(texts[1:], to(text(5000), true)),
		// a member that is known elsewhere, or under another name, is unknown here
		all(paths("action.attributes.ToolName", "action.attributes.command", "action.Targets", "action.resource.uri", "Action"), to(`7`, true)),
		all(under("action.targets.0.", "uri", "path", "realPath"), str...),
		all(under("action.targets.0.", "uri", "path", "realPath"), optional...),
		all(under("action.targets.0.", "uri", "path", "realPath"), empty...),
		all(paths("action.targets.0.path"), to(text(5000), true)),
	)
	return append(cases,
		refused(file(`{}`)...), refused(file(`{"realPath":"/a"}`)...), refused(file(`{"uri":"","path":null}`)...), refused(file(`{"uri":null}`)...), refused(file(`{"path":""}`)...), valid(file(`{"uri":"file:///a"}`)...),
		refused(file(`{"path":"a","command":"ls"}`)...), refused(file(`{"path":"a","argv":["ls"]}`)...), refused(file(`{"path":"a","argv":[]}`)...),
		valid(file(`{"path":"a","command":"","argv":null}`)...), valid(file(`{"path":"a","command":null,"Command":"ls"}`)...),
		refused(file(`{"path":"a","command":1}`)...), refused(file(`{"path":"a","argv":"ls"}`)...), refused(file(`{"URI":"file:///a"}`)...),
		refused("action.targets", `[{"path":"a"},{"command":"ls"}]`),

		valid(process(`{"command":"ls | wc"}`)...), valid(process(`{"argv":["ls"]}`)...), valid(process(`{"argv":["ls","","-l"]}`)...),
		valid("action.resource.kind", `"process"`, "action.operation", `"spawn"`, "action.targets", `[{"command":"ls"},{"argv":["a"]}]`),
		refused("action.resource.kind", `"process"`, "action.operation", `"read"`, "action.targets", `[{"command":"ls"}]`),
		refused("action.resource.kind", `"process"`, "action.operation", `""`, "action.targets", `[{"command":"ls"}]`),
		refused(process(`{}`)...), refused(process(`null`)...), refused(process(`{"command":null}`)...), refused(process(`{"uri":"file:///a"}`)...), refused(process(`{"argv":[]}`)...), refused(process(`{"argv":null}`)...),
		refused(process(`{"argv":[""]}`)...), refused(process(`{"argv":["","a"]}`)...), refused(process(`{"argv":["ls",null]}`)...), refused(process(`{"argv":[1]}`)...),
		refused(process(`{"argv":[["ls"]]}`)...), refused(process(`{"argv":"ls"}`)...), refused(process(`{"argv":{"0":"ls"}}`)...), refused(process(`{"command":["ls"]}`)...),
		refused(process(`{"command":1}`)...), refused(process(`{"command":""}`)...), refused(process(`{"command":"","argv":[]}`)...),
		refused(process(`{"command":"ls","argv":["-l"]}`)...), refused(process(`{"command":"ls","argv":[]}`)...), refused(process(`{"command":"ls","argv":["ls"]}`)...),
		refused(process(`{"command":7,"argv":["ls"]}`)...),
		valid(process(`{"command":"ls","argv":null}`)...), valid(process(`{"command":"","argv":["ls"]}`)...), valid(process(`{"command":null,"argv":["ls"]}`)...),
		valid(process(`{"command":"ls","uri":"file:///a","path":"a","realPath":"/a"}`)...), refused(process(`{"command":"ls","uri":1}`)...), refused(process(`{"command":"ls","path":[]}`)...),

		valid(network(`{"uri":"https://a.example/"}`)...), valid(network(`{}`)...), valid(network(`null`)...), valid(network(`{"command":"a","argv":["b"]}`)...),
		valid(network(`{"argv":[]}`)...), refused(network(`{"argv":[""]}`)...), refused(network(`{"argv":[null]}`)...), refused(network(`{"argv":[1]}`)...), refused(network(`{"argv":["a",1]}`)...),
		refused(network(`{"argv":"a"}`)...), refused(network(`{"command":1}`)...), refused(network(`[]`)...), refused(network(``)...), refused(network(`7`)...),
		valid("action.resource.kind", `"custom"`, "action.operation", text(256)), refused("action.resource.kind", `"custom"`, "action.operation", text(257)),
		refused("action.resource.kind", `"custom"`, "action.operation", `""`), refused("action.resource.kind", `"custom"`, "action.operation", `1`),
	)
}

func findingCases() []edited {
	return join(
		all(paths("findings"), to(`[]`, true), to(`{}`, false), to(`"x"`, false), to(`1`, false)), all(paths("findings"), optional...),
		all(paths("findings.0"), object...), all(paths("findings.0"), to(`null`, false), to(`{}`, false), to(drop, true)),
		all(paths("findings.0.policy", "findings.0.decision"), required...), all(paths("findings.0.policy"), filled...), all(paths("findings.0.policy"), str...),
		all(paths("findings.0.decision"), filled...), all(paths("findings.0.decision"), str...), // words of later versions are taken
		all(under("findings.0.", "rule", "reason", "remediation"), optional...), all(under("findings.0.", "rule", "reason", "remediation"), str...),
		all(under("findings.0.", "rule", "reason", "remediation"), empty...),
		all(paths("findings.0.target"), optional...),
		all(paths("findings.0.target"), to(`0`, true), to(`0.0`, true), to(`999`, true), to(`9.99e2`, true), to(`1000`, false), to(`-1`, false), to(`0.5`, false), to(`"0"`, false), to(`{}`, false)),
	)
}

func envelopeCases() []edited {
	return join(all(paths("protocolVersion"), version...), all(paths("requestId"), id...), all(paths("requestId"), required...), all(paths("requestId"), filled...), extraCases())
}

func extraCases() []edited {
	return join(all(paths("", "Extra", "PROTOCOLVERSION", "requestID", "é", "x-1"), to(`{"any":[1,null]}`, true), to(`null`, true)),
		[]edited{refused("*", `[]`), refused("*", `"x"`), refused("*", `1`), refused("*", `true`)})
}

func answerCases() []edited {
	return join(
		all(paths("approved"), required...), all(paths("approved"), boolean...),
		all(paths("approver", "reason"), optional...), all(paths("approver", "reason"), empty...), all(paths("approver", "reason"), str...),
		all(paths("approver"), named...), all(paths("reason"), to(text(5000), true)),
	)
}

func nothing() []edited { return []edited{refused("*", `{}`), refused("*", `null`)} }

func wires() []wire {
	usage := under("usage.", "durationMs", "tokens", "linesAdded", "linesRemoved", "reworkLines")
	tests := under("testResults.", "passed", "failed", "skipped")
	return []wire{
		{
			name: "check", decode: decodeAs(protocol.DecodeCheck),
			full: `{"protocolVersion":"1","requestId":"abc-123","caller":` + fullCaller + `,"action":` + fullAction + `,"context":` + fullContext +
				`,"options":{"interactive":true,"timeoutMs":1000}}`,
			also: []string{
				`{"protocolVersion":"1","requestId":"a","caller":{"extensionId":"x"},"action":{"resource":{"kind":"file"},"operation":"read","targets":[{"path":"a"}]}}`,
				`{"protocolVersion":"1","requestId":"a","caller":{"extensionId":"x"},"action":{"resource":{"kind":"process"},"operation":"exec","targets":[{"command":"ls"},{"argv":["ls","-l"]}]}}`,
				`{"protocolVersion":"1","requestId":"a","caller":{"extensionId":"x"},"action":{"resource":{"kind":"network"},"operation":"connect","targets":[{"uri":"https://a.example/"}]}}`,
			},
			cases: join(envelopeCases(), nothing(), callerCases(true), actionCases(), contextCases(),
				all(paths("options"), object...), all(paths("options"), optional...), all(paths("options"), to(`{}`, true)),
				all(paths("options.interactive"), optional...), all(paths("options.interactive"), boolean...),
				all(paths("options.timeoutMs"), optional...),
				all(paths("options.timeoutMs"), to(`1`, true), to(`1000.0`, true), to(`6e5`, true), to(`0`, false), to(`-1`, false), to(`600001`, false), to(`0.5`, false),
					to(`1e400`, false), to(`"1000"`, false), to(`true`, false))),
		},
		{
			name: "decision", decode: decodeAs(protocol.DecodeDecision),
			full: `{"protocolVersion":"1","requestId":"abc-123","decision":"ask","code":"policy","reason":"r",
				"findings":[{"policy":"workspace","rule":"r","decision":"ask","target":0,"reason":"r","remediation":"m"}],
				"warnings":["w"],"ask":{"prompt":"p","expiresAt":"2030-01-02T15:04:05Z"},"replayed":true,"requestHash":` + someHash + `,
				"budget":{"toolCalls":{"used":12,"limit":200}},"provider":{"id":"guardrails-provider","version":"0.1.0","policyHash":` + someHash + `}}`,
			also: []string{
				`{"protocolVersion":"1","decision":"error","code":"internal","provider":{"id":"p"}}`,
				`{"protocolVersion":"1","requestId":"a","decision":"allow","code":"default","reason":"","findings":[],"warnings":[],"requestHash":` + someHash + `,"provider":{"id":"p"}}`,
				`{"protocolVersion":"1","requestId":"a","decision":"block","code":"default","requestHash":` + someHash + `,"provider":{"id":"p"}}`,
			},
			cases: join(envelopeCases(), nothing(), findingCases(),
				all(paths("decision"), required...), all(paths("decision"), outcomes("allow", "ask", "error", "block")...), all(paths("decision"), to(`"warn"`, false)),
				all(paths("code", "provider.id"), required...), all(paths("code", "provider.id"), str...), all(paths("code", "provider.id"), filled...),
				all(paths("code"), to(`"from-a-later-version"`, true)),
				all(paths("reason"), optional...), all(paths("reason"), str...), all(paths("reason"), empty...),
				all(paths("warnings"), optional...), all(paths("warnings"), to(`[]`, true), to(`[""]`, true), to(`[null]`, true), to(`["a",null]`, true), to(`[1]`, false), to(`[["a"]]`, false), to(`{}`, false), to(`"a"`, false)),
				all(paths("ask", "ask.prompt", "ask.expiresAt"), required...), all(paths("ask"), object...), all(paths("ask"), to(`{}`, false)),
				all(paths("ask.prompt"), str...), all(paths("ask.prompt"), filled...), all(paths("ask.expiresAt"), instant...),
				all(paths("replayed"), optional...), all(paths("replayed"), boolean...),
				all(paths("requestHash"), hash...), all(paths("requestHash"), required...), all(paths("requestHash"), filled...),
				all(paths("provider"), required...), all(paths("provider"), object...), all(paths("provider"), to(`{}`, false)),
				all(paths("provider.version"), optional...), all(paths("provider.version"), str...),
				all(paths("provider.policyHash"), hash...), all(paths("provider.policyHash"), optional...), all(paths("provider.policyHash"), empty...),
				all(paths("budget"), object...), all(paths("budget"), optional...), all(paths("budget.toolCalls"), object...), all(paths("budget.toolCalls"), optional...),
				all(paths("budget.toolCalls"), to(`{}`, true)),
				all(paths("budget.toolCalls.used", "budget.toolCalls.limit"), optional...),
				all(paths("budget.toolCalls.used", "budget.toolCalls.limit"), to(`-0.5`, true), to(`1e300`, true), to(`"1"`, false), to(`true`, false), to(`[]`, false)),
				[]edited{
					valid("decision", `"allow"`, "ask", drop), valid("decision", `"block"`, "ask", `null`), refused("decision", `"allow"`, "ask", `{}`), refused("decision", `"allow"`, "ask", `"x"`), refused("decision", `"error"`, "ask", `{"prompt":"p"}`),
					valid("decision", `"error"`, "requestHash", drop), valid("decision", `"error"`, "requestHash", `null`), valid("decision", `"error"`, "requestHash", `""`), refused("decision", `"error"`, "requestHash", `"x"`),
					refused("decision", `"error"`, "requestHash", `1`),
					valid("decision", `"error"`, "requestId", drop), valid("decision", `"error"`, "requestId", `null`), valid("decision", `"error"`, "requestId", `""`), refused("decision", `"error"`, "requestId", `"é"`),
					refused("decision", `"error"`, "requestId", `7`), refused("decision", `"error"`, "requestId", `"`+strings.Repeat("x", 129)+`"`),
					refused("decision", `"block"`, "requestHash", drop, "ask", drop), refused("decision", `"allow"`, "requestHash", `null`), refused("decision", `"allow"`, "requestId", `""`),
				}),
		},
		{
			name: "approval", decode: decodeAs(protocol.DecodeApproval),
			full:  `{"protocolVersion":"1","requestId":"abc-123","approved":true,"approver":"dev","reason":"r","caller":` + fullCaller + `,"context":` + fullContext + `}`,
			also:  []string{`{"protocolVersion":"1","requestId":"a","approved":false}`},
			cases: join(envelopeCases(), nothing(), answerCases(), callerCases(false), contextCases()),
		},
		{
			name: "result", decode: decodeAs(protocol.DecodeResult),
			full: `{"protocolVersion":"1","requestId":"abc-123","outcome":"success","usage":{"durationMs":12,"tokens":0,"costUsd":0.5,"linesAdded":3,"linesRemoved":1,"reworkLines":0},
				"caller":` + fullCaller + `,"context":` + fullContext + `}`,
			also: []string{`{"protocolVersion":"1","requestId":"a","outcome":"failure"}`},
			cases: join(envelopeCases(), nothing(), callerCases(false), contextCases(),
				all(paths("outcome"), required...), all(paths("outcome"), outcomes("success", "failure", "cancelled")...), all(paths("outcome"), to(`"canceled"`, false)),
				all(paths("usage"), optional...), all(paths("usage"), object...), all(paths("usage"), to(`{}`, true)),
				all(usage, optional...), all(usage, count...), all(paths("usage.costUsd"), optional...), all(paths("usage.costUsd"), cost...)),
		},
		{
			name: "run", decode: decodeAs(protocol.DecodeRun),
			full: `{"protocolVersion":"1","runId":"run-9","event":"violation","taskId":"t-1","intent":"i","testResults":{"ran":true,"passed":40,"failed":0,"skipped":1},
				"ruleId":"r","description":"d","autoCorrected":true,"caller":` + fullCaller + `,"context":` + fullContext + `}`,
			also: []string{`{"protocolVersion":"1","runId":"a","event":"start"}`, `{"protocolVersion":"1","runId":"a","event":"finish"}`},
			cases: join(all(paths("protocolVersion"), version...), extraCases(), nothing(), callerCases(false), contextCases(),
				all(paths("runId"), required...), all(paths("runId"), filled...), all(paths("runId"), str...), all(paths("runId"), named...),
				all(paths("event"), required...), all(paths("event"), outcomes("start", "finish", "violation")...),
				all(paths("taskId"), optional...), all(paths("taskId"), empty...), all(paths("taskId"), str...), all(paths("taskId"), named...),
				all(paths("intent", "description"), optional...), all(paths("intent", "description"), empty...), all(paths("intent", "description"), str...),
				all(paths("autoCorrected", "testResults.ran"), optional...), all(paths("autoCorrected", "testResults.ran"), boolean...),
				all(paths("testResults"), optional...), all(paths("testResults"), object...), all(paths("testResults"), to(`{}`, true)),
				all(tests, optional...), all(tests, count...),
				all(paths("ruleId"), required...), all(paths("ruleId"), filled...), all(paths("ruleId"), str...), all(paths("ruleId"), named...),
				[]edited{valid("event", `"start"`, "ruleId", drop), valid("event", `"finish"`, "ruleId", `null`), valid("event", `"finish"`, "ruleId", `""`),
					refused("event", `"start"`, "ruleId", `1`), refused("event", `"start"`, "ruleId", text(257))}),
		},
		{
			name: "operator-ask", decode: decodeAs(protocol.DecodeOperatorAsk),
			full: `{"protocolVersion":"1","requestId":"abc-123","scope":"swarm-a.agent-7","prompt":"p",
				"findings":[{"policy":"workspace","rule":"r","decision":"ask","target":0,"reason":"r","remediation":"m"}],
				"requestHash":` + someHash + `,"expiresAt":"2030-01-02T15:04:05Z","caller":` + fullCaller + `,"action":` + fullAction + `,"context":` + fullContext + `}`,
			cases: join(envelopeCases(), nothing(), findingCases(), callerCases(true), actionCases(), contextCases(),
				all(paths("scope"), scope...), all(paths("prompt"), required...), all(paths("prompt"), filled...), all(paths("prompt"), str...),
				all(paths("requestHash"), hash...), all(paths("requestHash"), required...), all(paths("requestHash"), filled...),
				all(paths("expiresAt"), instant...), all(paths("expiresAt"), required...)),
		},
		{
			name: "operator-approval", decode: decodeAs(protocol.DecodeOperatorApproval),
			full:  `{"protocolVersion":"1","requestId":"abc-123","scope":"swarm-a.agent-7","approved":true,"approver":"on-call","reason":"r"}`,
			cases: join(envelopeCases(), nothing(), answerCases(), all(paths("scope"), scope...), all(paths("caller", "context"), to(`7`, true))),
		},
		{
			name: "operator-nets", decode: decodeAs(protocol.DecodeOperatorNets),
			full: `{"sessionId":"s-42","net":"deploys","active":false}`,
			cases: join(extraCases(), nothing(), all(paths("sessionId", "net", "active"), required...), all(paths("sessionId", "net"), filled...),
				all(paths("sessionId", "net"), str...), all(paths("sessionId", "net"), named...), all(paths("active"), boolean...)),
		},
		{
			name: "status-request", decode: decodeAs(protocol.DecodeStatusRequest),
			full: `{"sessionId":"s-42"}`,
			cases: join(extraCases(), []edited{valid("*", `{}`), valid("*", `null`)}, all(paths("sessionId"), optional...), all(paths("sessionId"), empty...),
				all(paths("sessionId"), str...), all(paths("sessionId"), named...)),
		},
		{
			name: "status", decode: decodeAs(protocol.DecodeStatus),
			full: `{"sessions":[{"session":"s/s-42","nets":[{"name":"deploys","scope":"session","active":true,"marking":{"idle":1},"enabledTools":["deploy"]}],
				"pending":[{"requestId":"a","tool":"t"}],"asks":[{"requestId":"b","prompt":"p"}],"text":"t"}]}`,
			cases: join(extraCases(), []edited{valid("*", `{}`), valid("*", `null`)},
				all(paths("sessions", "sessions.0.nets", "sessions.0.pending", "sessions.0.asks", "sessions.0.nets.0.enabledTools"), optional...),
				all(paths("sessions", "sessions.0.nets", "sessions.0.pending", "sessions.0.asks", "sessions.0.nets.0.enabledTools"), to(`[]`, true), to(`{}`, false), to(`"x"`, false), to(`7`, false), to(`[7]`, false)),
				all(paths("sessions.0"), object...), all(paths("sessions.0"), to(`null`, false), to(`{}`, false)),
				all(paths("sessions.0.nets.0", "sessions.0.pending.0", "sessions.0.asks.0", "sessions.0.nets.0.marking"), object...),
				all(paths("sessions.0.nets.0", "sessions.0.pending.0", "sessions.0.asks.0", "sessions.0.nets.0.marking"), optional...),
				all(paths("sessions.0.session"), required...), all(paths("sessions.0.session"), filled...), all(paths("sessions.0.session"), str...),
				all(under("sessions.0.", "text", "nets.0.name", "nets.0.scope", "pending.0.requestId", "pending.0.tool", "asks.0.requestId", "asks.0.prompt", "nets.0.enabledTools.0"), str...),
				all(under("sessions.0.", "text", "nets.0.name", "nets.0.scope", "pending.0.requestId", "pending.0.tool", "asks.0.requestId", "asks.0.prompt", "nets.0.enabledTools.0"), optional...),
				all(paths("sessions.0.nets.0.active"), optional...), all(paths("sessions.0.nets.0.active"), boolean...),
				all(paths("sessions.0.nets.0.marking.idle"), optional...), all(paths("sessions.0.nets.0.marking.idle"), count...)),
		},
		{
			name: "blocked", decode: decodeAs(protocol.DecodeBlocked),
			full: `{"feature":"policies","toolName":"write_file","input":{"path":"a"},"reason":"r","userDenied":true}`,
			cases: join(extraCases(), nothing(), all(paths("feature", "toolName", "input", "reason"), required...), all(paths("feature", "toolName", "reason"), filled...),
				all(paths("toolName", "reason"), str...), all(paths("feature"), outcomes("policies", "permissionGate")...),
				all(paths("input"), to(`"x"`, true), to(`7`, true), to(`[]`, true), to(`false`, true), to(`""`, true)),
				all(paths("userDenied"), optional...), all(paths("userDenied"), boolean...)),
		},
		{
			name: "dangerous", decode: decodeAs(protocol.DecodeDangerous),
			full: `{"command":"rm -rf /","description":"d","pattern":"p"}`,
			cases: join(extraCases(), nothing(), all(paths("command", "description", "pattern"), required...),
				all(paths("command", "description", "pattern"), filled...), all(paths("command", "description", "pattern"), str...)),
		},
	}
}

// TestSchemasAndValidatorAgree holds every schema to the Go validator with
// documents written by hand.
func TestSchemasAndValidatorAgree(t *testing.T) {
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			schema := compile(t, w.name)
			check := func(ok bool, doc []byte, why string) {
				t.Helper()
				_, err := w.decode(doc)
				bySchema := verdict(schema, doc)
				if ok != (err == nil) || ok != (bySchema == nil) {
					t.Errorf("%s: want accepted: %t\n%.400s\nGo: %v\nschema: %v", why, ok, doc, err, bySchema)
				}
			}
			for _, doc := range append(w.also, w.full) {
				check(true, []byte(doc), "as it is")
			}
			for _, c := range w.cases {
				check(c.ok, c.apply(t, w.full), fmt.Sprintf("%.200q", c.edits))
			}
			for i, example := range schema.Examples {
				doc, err := json.Marshal(example)
				if err != nil {
					t.Fatal(err)
				}
				check(true, doc, fmt.Sprintf("example %d", i))
			}
			if len(schema.Examples) == 0 || schema.Title == "" || schema.Description == "" {
				t.Error("the schema has no title, no description or no examples")
			}
		})
	}
}

// TestSchemasAreComplete fails where a document of the protocol has no schema,
// a schema no document, or a member no place in its schema.
func TestSchemasAreComplete(t *testing.T) {
	var want []string // the documents that can be decoded, as names of schemas
	for _, decl := range packageDecls(t) {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv != nil {
			continue
		}
		if name, ok := strings.CutPrefix(f.Name.Name, "Decode"); ok {
			want = append(want, kebab(name))
		}
	}
	slices.Sort(want)
	if len(want) == 0 {
		t.Fatal("found no Decode functions")
	}
	var tested []string
	for _, w := range wires() {
		tested = append(tested, w.name)
	}
	slices.Sort(tested)
	if !slices.Equal(tested, want) {
		t.Errorf("tested are %q, but the package decodes %q", tested, want)
	}
	files, err := filepath.Glob(filepath.Join(schemaDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	slices.Sort(files)
	if !slices.Equal(files, want) {
		t.Errorf("%s has schemas of %q, but the package decodes %q", schemaDir, files, want)
	}
	for _, w := range wires() {
		v, derr := w.decode([]byte(w.full))
		if derr != nil {
			t.Fatal(derr)
		}
		root := schemaJSON(t, w.name)
		if got, want := root["$id"], "urn:guardrails-provider:schema:"+w.name+":v1"; got != want {
			t.Errorf("%s: $id is %v, not %s", w.name, got, want)
		}
		everyMember(reflect.TypeOf(v), w.name, root, root, t.Errorf)
	}
}

// everyMember looks for every member of a Go type among the properties of its schema.
func everyMember(typ reflect.Type, at string, schema, root map[string]any, report func(string, ...any)) {
	schema = resolve(schema, root)
	switch typ.Kind() {
	case reflect.Pointer:
		everyMember(typ.Elem(), at, schema, root, report)
	case reflect.Slice:
		if items, ok := schema["items"].(map[string]any); ok && typ.Elem().Kind() == reflect.Struct {
			everyMember(typ.Elem(), at+"[]", items, root, report)
		}
	case reflect.Map:
		values, ok := schema["additionalProperties"].(map[string]any)
		if !ok {
			report("%s: the schema says nothing about its values", at)
			return
		}
		everyMember(typ.Elem(), at+"{}", values, root, report)
	case reflect.Struct:
		if typ.PkgPath() != reflect.TypeFor[protocol.Check]().PkgPath() {
			return
		}
		properties, _ := schema["properties"].(map[string]any)
		known := 0
		for f := range typ.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				continue // embedded: everything else
			}
			known++
			p, ok := properties[name].(map[string]any)
			if !ok {
				report("%s: the schema has no %s", at, name)
				continue
			}
			if p["description"] == nil && resolve(p, root)["description"] == nil {
				report("%s.%s has no description", at, name)
			}
			everyMember(f.Type, at+"."+name, p, root, report)
		}
		if known != len(properties) {
			report("%s: the schema has %d members, Go has %d", at, len(properties), known)
		}
	}
}

func resolve(schema, root map[string]any) map[string]any {
	for {
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		schema = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
}

// TestSharedDefinitionsAreEqual holds the copies of a definition together:
// every schema stands alone, so that any tool can read one file.
func TestSharedDefinitionsAreEqual(t *testing.T) {
	seen := make(map[string]any)
	for _, w := range wires() {
		definitions, _ := schemaJSON(t, w.name)["$defs"].(map[string]any)
		for name, d := range definitions {
			if first, ok := seen[name]; ok && !reflect.DeepEqual(first, d) {
				t.Errorf("%s: the definition %s differs from that of another schema", w.name, name)
			}
			seen[name] = d
		}
	}
}

// doubled are the assertions that say what another one says as well, each there
// for what a validator then reports.
var doubled = []struct{ part, other string }{
	{"/if/required", "the member is required outside of the if"},
	{"/if/properties/resource/required", "likewise"},
	{"/action/properties/resource/type", "what is no object matches both ifs, and no operation is in both lists"},
	{"/processTarget/type", "what is no object matches both branches of oneOf"},
	{"/hash/maxLength", "the $ of some regular expressions takes a line end before the end"},
	{"/optionalHash/maxLength", "likewise"},
	{"/time/not", "likewise"},
	{"/not/type", "what is no string is refused by the type beside the not"},
}

// TestSchemasAreTight takes every assertion out of every schema, one at a time:
// some case of the table must notice. A schema with less in it is one that the
// table would let pass.
func TestSchemasAreTight(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("compiles every schema many times; the race detector has nothing to find in it")
	}
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			type sample struct {
				doc any
				ok  bool
			}
			var samples []sample
			for _, c := range w.cases {
				samples = append(samples, sample{asSchemaReads(t, c.apply(t, w.full)), c.ok})
			}
			for _, doc := range append(w.also, w.full) {
				samples = append(samples, sample{asSchemaReads(t, []byte(doc)), true})
			}
			root := schemaJSON(t, w.name)
			weaken(root, "", func(what string) {
				schema, err := compileJSON(root)
				if err != nil {
					return // it does not even compile
				}
				for _, s := range samples {
					if (schema.Validate(s.doc) == nil) != s.ok {
						return
					}
				}
				for _, d := range doubled {
					if strings.Contains(what, d.part) {
						return
					}
				}
				t.Errorf("without %s no case fails", what)
			})
		})
	}
}

// weaken takes out one assertion at a time, visits, and puts it back.
func weaken(schema any, at string, visit func(what string)) {
	switch s := schema.(type) {
	case []any:
		for i := range s {
			weaken(s[i], at+"/"+strconv.Itoa(i), visit)
		}
	case map[string]any:
		for _, k := range sortedKeys(s) {
			v := s[k]
			switch k {
			case "$schema", "$id", "title", "description", "examples", "default":
				continue
			case "properties", "$defs":
				for _, name := range sortedKeys(v.(map[string]any)) {
					weaken(v.(map[string]any)[name], at+"/"+k+"/"+name, visit)
				}
				continue
			case "required", "enum":
				list := v.([]any)
				for i := range list {
					s[k] = slices.Delete(slices.Clone(list), i, i+1)
					visit(fmt.Sprintf("%s/%s: %v", at, k, list[i]))
				}
			case "type":
				if list, ok := v.([]any); ok {
					for i := range list {
						s[k] = slices.Delete(slices.Clone(list), i, i+1)
						visit(fmt.Sprintf("%s/%s: %v", at, k, list[i]))
					}
				}
			}
			delete(s, k)
			visit(at + "/" + k)
			s[k] = v
			weaken(v, at+"/"+k, visit)
		}
	}
}

// pool is what mutations put into documents: values on the edges of what the
// documents take.
func pool() []string {
	words := []string{"", " ", "1", "2", "x", "allow", "Allow", "block", "ask", "error", "warn", "file", "process", "network", "custom", "read", "exec", "success", "start", "violation",
		"policies", "a.b", "a..b", "*", "a b", "2030-01-02T15:04:05Z", "2030-01-02t15:04:05Z", "2030-02-30T15:04:05Z", "0001-01-01T00:00:00Z", "é", "\U0001F600", "a\n", "\u0000", "\u007f",
		"sha256:" + strings.Repeat("a", 64), "sha256:" + strings.Repeat("A", 64),
		strings.Repeat("x", 128), strings.Repeat("x", 129), strings.Repeat("é", 256), strings.Repeat("é", 257)}
	values := []string{`null`, `true`, `false`, `0`, `-0`, `1`, `12.0`, `0.5`, `-1`, `999`, `1000`, `600000`, `600001`, `9007199254740991`, `9007199254740992`, `1e12`, `1.1e12`, `1e300`,
		`[]`, `[null]`, `[""]`, `["a"]`, `["a",""]`, `["",1]`, `[{}]`, `[[]]`, `{}`, `{"a":null}`, `{"":1}`, `{"path":"a"}`, `{"command":"a"}`, `{"argv":["a"]}`}
	for _, w := range words {
		quoted, err := json.Marshal(w)
		if err != nil {
			panic(err)
		}
		values = append(values, string(quoted))
	}
	return values
}

// TestSchemasAndValidatorAgreeOnMutations puts every value of the pool in every
// place of every full document.
func TestSchemasAndValidatorAgreeOnMutations(t *testing.T) {
	values := pool()
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			schema := compile(t, w.name)
			accepted, total := 0, 0
			for _, doc := range append(w.also, w.full) {
				for _, at := range places(parse(t, doc), nil) {
					for _, value := range append(values, drop) {
						mutated := marshal(t, put(parse(t, doc), at, value))
						total++
						if agree(t, w, schema, mutated) {
							accepted++
						}
					}
				}
			}
			t.Logf("%d documents, %d accepted", total, accepted)
		})
	}
}

// TestSchemasAndValidatorAgreeOnGenerated mutates documents in several places
// at once.
func TestSchemasAndValidatorAgreeOnGenerated(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	if before == checks.DefValue {
		n := "3000"
		if raceEnabled {
			n = "500"
		}
		if err := flag.Set("rapid.checks", n); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = flag.Set("rapid.checks", before) }()
	}
	values := pool()
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			schema := compile(t, w.name)
			seeds := append(w.also, w.full)
			for _, c := range w.cases {
				if doc := c.apply(t, w.full); c.ok && len(doc) < 4096 {
					seeds = append(seeds, string(doc))
				}
			}
			names := memberNames(parse(t, w.full), nil)
			accepted, total := 0, 0
			rapid.Check(t, func(r *rapid.T) {
				doc := parse(t, rapid.SampledFrom(seeds).Draw(r, "seed"))
				for range rapid.IntRange(1, 4).Draw(r, "mutations") {
					doc = mutate(r, doc, names, values)
				}
				total++
				if agree(r, w, schema, marshal(r, doc)) {
					accepted++
				}
			})
			t.Logf("%d documents, %d accepted", total, accepted)
			if accepted < total/20 || total-accepted < total/20 {
				t.Errorf("of %d documents %d are accepted: the mutations say little", total, accepted)
			}
		})
	}
}

// mutate changes one thing in a document.
func mutate(r *rapid.T, doc any, names, values []string) any {
	at := rapid.SampledFrom(places(doc, nil)).Draw(r, "place")
	value := rapid.OneOf(
		rapid.SampledFrom(values),
		rapid.Just(drop),
		rapid.Custom(func(r *rapid.T) string { return string(marshal(r, rapid.String().Draw(r, "string"))) }),
		rapid.Custom(func(r *rapid.T) string {
			return strconv.FormatInt(rapid.Int64Range(-2000, 1<<54).Draw(r, "integer"), 10)
		}),
		rapid.Custom(func(r *rapid.T) string {
			return strconv.FormatFloat(rapid.Float64Range(-10, 1e13).Draw(r, "number"), 'g', -1, 64)
		}),
	).Draw(r, "value")
	switch node := get(doc, at).(type) {
	case map[string]any:
		switch rapid.IntRange(0, 2).Draw(r, "what") {
		case 0: // a member, known here, elsewhere or not at all
			name := rapid.OneOf(rapid.SampledFrom(names), rapid.String(), rapid.Map(rapid.SampledFrom(names), strings.ToUpper)).Draw(r, "name")
			if value != drop {
				node[name] = parse(r, value)
			}
			return doc
		}
	case []any:
		switch rapid.IntRange(0, 2).Draw(r, "what") {
		case 0:
			if len(node) > 0 && len(node) < 100 {
				return put(doc, at, string(marshal(r, append(node, node[0]))))
			}
		}
	}
	return put(doc, at, value)
}

type testing_ interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// agree compares the two verdicts on a document and returns them. One that is
// accepted must be written as one that is accepted and means the same.
func agree(t testing_, w wire, schema *jsonschema.Schema, doc []byte) bool {
	t.Helper()
	v, err := w.decode(doc)
	bySchema := verdict(schema, doc)
	if (err == nil) != (bySchema == nil) {
		t.Fatalf("%s\n%s\nGo: %v\nschema: %v", w.name, doc, err, bySchema)
	}
	if err != nil {
		return false
	}
	again, eerr := protocol.Encode(v)
	if eerr != nil {
		t.Fatalf("%s is accepted but not written: %v", doc, eerr)
	}
	v2, err := w.decode(again)
	if err != nil {
		t.Fatalf("%s is accepted but written as %s: %v", doc, again, err)
	}
	if err := verdict(schema, again); err != nil {
		t.Fatalf("%s is accepted but written as %s, which the schema refuses: %v", doc, again, err)
	}
	twice, eerr := protocol.Encode(v2)
	if eerr != nil || !bytes.Equal(again, twice) {
		t.Fatalf("%s is written as %s and then as %s (%v)", doc, again, twice, eerr)
	}
	return true
}

// verdict asks the schema about a document. Numbers are read as doubles, as the
// protocol and most validators do; one beyond them stays what it is.
func verdict(schema *jsonschema.Schema, doc []byte) error {
	v, err := decodeTree(doc)
	if err != nil {
		return err
	}
	return schema.Validate(doubles(v))
}

func asSchemaReads(t testing_, doc []byte) any {
	v, err := decodeTree(doc)
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return doubles(v)
}

func doubles(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	case []any:
		for i := range v {
			v[i] = doubles(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = doubles(v[k])
		}
	}
	return v
}

func decodeTree(doc []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

func parse(t testing_, doc string) any {
	v, err := decodeTree([]byte(doc))
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return v
}

func marshal(t testing_, v any) []byte {
	doc, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func (c edited) apply(t testing_, doc string) []byte {
	v := parse(t, doc)
	for i := 0; i < len(c.edits); i += 2 {
		if c.edits[i] == "*" {
			v = parse(t, c.edits[i+1])
			continue
		}
		v = put(v, strings.Split(c.edits[i], "."), c.edits[i+1])
	}
	return marshal(t, v)
}

// places are the paths of everything in a document, the whole included.
func places(v any, at []string) [][]string {
	found := [][]string{slices.Clone(at)}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			found = append(found, places(v[k], append(slices.Clone(at), k))...)
		}
	case []any:
		for i := range v {
			found = append(found, places(v[i], append(slices.Clone(at), strconv.Itoa(i)))...)
		}
	}
	return found
}

func get(v any, at []string) any {
	for _, k := range at {
		switch node := v.(type) {
		case map[string]any:
			v = node[k]
		case []any:
			i, _ := strconv.Atoi(k)
			v = node[i]
		}
	}
	return v
}

// put changes what stands at a path, or takes it out.
func put(v any, at []string, value string) any {
	var parsed any
	if value != drop {
		var err error
		if parsed, err = decodeTree([]byte(value)); err != nil {
			panic(fmt.Sprintf("%s: %v", value, err))
		}
	}
	if len(at) == 0 {
		return parsed
	}
	last := at[len(at)-1]
	switch node := get(v, at[:len(at)-1]).(type) {
	case map[string]any:
		if value == drop {
			delete(node, last)
		} else {
			node[last] = parsed
		}
	case []any:
		i, err := strconv.Atoi(last)
		if err != nil {
			panic(err)
		}
		if value != drop {
			node[i] = parsed
		} else {
			shorter := slices.Delete(slices.Clone(node), i, i+1)
			return put(v, at[:len(at)-1], string(must(json.Marshal(shorter))))
		}
	default:
		panic("no such path: " + strings.Join(at, "."))
	}
	return v
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func memberNames(v any, names []string) []string {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			if !slices.Contains(names, k) {
				names = append(names, k)
			}
			names = memberNames(v[k], names)
		}
	case []any:
		for i := range v {
			names = memberNames(v[i], names)
		}
	}
	return names
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func schemaJSON(t *testing.T, name string) map[string]any {
	t.Helper()
	root, err := readSchema(name)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func readSchema(name string) (map[string]any, error) {
	text, err := os.ReadFile(filepath.Join(schemaDir, name+".json"))
	if err != nil {
		return nil, err
	}
	v, err := decodeTree(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	root, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: not an object", name)
	}
	return root, nil
}

func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := compileJSON(schemaJSON(t, name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

func compileJSON(root map[string]any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	id, _ := root["$id"].(string)
	if err := c.AddResource(id, root); err != nil {
		return nil, err
	}
	return c.Compile(id)
}

func packageDecls(t *testing.T) []ast.Decl {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var decls []ast.Decl
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		decls = append(decls, f.Decls...)
	}
	return decls
}

func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}
