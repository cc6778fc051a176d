package protocol_test

import (
	"fmt"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// A caller writes a check and sends it on the check's subject.
func Example() {
	check := &protocol.Check{
		ProtocolVersion: protocol.Version,
		RequestID:       "abc-123",
		Caller:          protocol.Caller{ExtensionID: "pi-mcp-adapter"},
		Action: protocol.Action{
			Resource:  protocol.Resource{Kind: protocol.KindFile},
			Operation: protocol.OpWrite,
			Targets:   []protocol.Target{{URI: "file:///repo/package.json"}},
		},
		Context: protocol.Context{Cwd: "/repo"},
	}
	if err := check.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	doc, err := protocol.Encode(check)
	if err != nil {
		fmt.Println(err)
		return
	}
	var subjects protocol.Subjects
	fmt.Println(subjects.On(protocol.ChannelCheck, "swarm-a.agent-7"))
	fmt.Println(string(doc))
	// Output:
	// guardrails.check.swarm-a.agent-7
	// {"protocolVersion":"1","requestId":"abc-123","caller":{"extensionId":"pi-mcp-adapter"},"action":{"resource":{"kind":"file"},"operation":"write","targets":[{"uri":"file:///repo/package.json"}]},"context":{"cwd":"/repo"}}
}

// A caller reads a decision and proceeds on exactly allow.
func ExampleDecodeDecision() {
	decision, err := protocol.DecodeDecision([]byte(`{
		"protocolVersion": "1", "requestId": "abc-123", "decision": "error", "code": "overloaded",
		"reason": "too many checks are waiting", "provider": { "id": "guardrails-provider" }
	}`))
	if err != nil {
		fmt.Println(err) // no answer for us: keep waiting
		return
	}
	switch {
	case decision.Allows():
		fmt.Println("proceed")
	case decision.Decision == protocol.VerdictError && decision.Code.NobodyJudged():
		fmt.Println("nobody judged: the posture decides")
	default:
		fmt.Println("do not proceed")
	}
	// Output: nobody judged: the posture decides
}

// A provider opens a message in any of the three encodings and answers in the same.
func ExampleOpen() {
	header := map[string][]string{
		"ce-specversion": {"1.0"}, "ce-type": {"dev.guardrails.check.v1"}, "ce-id": {"1"}, "ce-source": {"example"},
	}
	body := []byte(`{"protocolVersion":"1","requestId":"abc-123","caller":{"extensionId":"x"},"action":{"resource":{"kind":"file"},"operation":"read"}}`)
	message, err := protocol.Open(protocol.ChannelCheck, header, body)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = protocol.DecodeCheck(message.Document)
	fmt.Println(message.Encoding == protocol.Binary)
	fmt.Println(err.Code, err)
	// Output:
	// true
	// invalid-request action.targets: must have at least one target
}

// A verdict that is not known is as strict as block.
func ExampleVerdict_Stricter() {
	strictest := protocol.VerdictAllow
	for _, v := range []protocol.Verdict{protocol.VerdictWarn, protocol.VerdictBlock, protocol.VerdictAsk} {
		if v.Stricter(strictest) {
			strictest = v
		}
	}
	fmt.Println(strictest)
	// Output: block
}
