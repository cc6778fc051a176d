package bus

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/policy/engine"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// FuzzProvider sends bytes to a whole provider on a real server, as a request or
// by publishing, with and without a scope: whatever comes, it is answered wherever
// a requestId or a reply subject can be made out, the answer is a valid decision
// in the encoding of its message and of the request that was sent, and what is no
// valid check gets its error.
func FuzzProvider(f *testing.F) {
	add := func(header nats.Header, body string) {
		for way := range byte(4) {
			f.Add(way, header.Get("Content-Type"), header.Get("ce-specversion"), header.Get("ce-type"), header.Get("traceparent"), []byte(body))
		}
	}
	check := string(fileCheck("id", "session"))
	add(nil, check)
	add(nil, strings.Replace(check, `"path":"a.go"`, `"uri":"file:///repo/%2e%2e/etc"`, 1))
	add(nil, strings.Replace(check, `"path":"a.go"`, `"path":"~/x","realPath":"/x\u0000"`, 1))
	for _, command := range []string{"git push", "cd / && rm -rf *", "echo $(cat <<E\n$(ls)\nE\n)", "((((", "{1..9}{1..9}", "a='", "for i in a; do `b`; done"} {
		doc := strings.Replace(check, `{"path":"a.go"}`, `{"command":`+quoted(command)+`}`, 1)
		add(nil, strings.NewReplacer(`"kind":"file"`, `"kind":"process"`, `"write"`, `"exec"`).Replace(doc))
	}
	add(nil, strings.NewReplacer(`"kind":"file"`, `"kind":"process"`, `"write"`, `"exec"`, `{"path":"a.go"}`, `{"argv":["git","-C","x","push"]}`).Replace(check))
	add(nil, `{"requestId":"x","requestId":"y"}`)
	add(nil, `{"requestId":"cut`)
	add(nil, "")
	add(nil, "\xff\x00")
	add(nats.Header{"Content-Type": {"application/cloudevents+json"}},
		`{"specversion":"1.0","id":"1","source":"/x","type":"dev.guardrails.check.v1","data":`+check+`}`)
	add(nats.Header{"Content-Type": {"application/cloudevents+json"}}, `{"data_base64":"e30="}`)
	add(nats.Header{"ce-specversion": {"1.0"}, "ce-type": {"dev.guardrails.check.v1"}}, check)
	add(nats.Header{"traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}, check)

	s, err := StartServer(ServerConfig{Listen: "127.0.0.1:0", DataDir: f.TempDir(), Log: zerolog.Nop()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Stop)
	p := policy.Starter("/home/dev")
	provider, err := StartEmbedded(s, Config{
		Engine: engine.New(engine.Config{
			Policy: func() *policy.Policy { return p }, Answers: engine.NewMemory(), Version: "fuzz",
			Fault: func(err error) { panic(err) },
		}),
		Log: zerolog.Nop(),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = provider.Stop(context.Background()) })
	nc := testClient(f, s)
	published := map[string]*nats.Subscription{"": subscribe(f, nc, "guardrails.decision"), ".swarm-a.agent-7": subscribe(f, nc, "guardrails.decision.swarm-a.agent-7")}

	f.Fuzz(func(t *testing.T, way byte, contentType, specVersion, ceType, trace string, body []byte) {
		header := nats.Header{}
		for name, value := range map[string]string{"Content-Type": contentType, "ce-specversion": specVersion,
			"ce-type": ceType, "ce-id": specVersion, "ce-source": specVersion, "traceparent": trace} {
			if value != "" && !strings.ContainsAny(value, "\r\n") {
				header[name] = []string{value}
			}
		}
		if len(header) == 0 {
			header = nil
		}
		scope := []string{"", ".swarm-a.agent-7"}[way&1]
		sent := &nats.Msg{Subject: "guardrails.check" + scope, Header: header, Data: body}
		// What the provider sees is what the wire made of the headers.
		asked, openProblem := protocol.Open(protocol.ChannelCheck, roundTrip(header), body)
		id, _ := protocol.Peek(asked.Document)
		var answer *nats.Msg
		var err error
		unanswerable := provider.Counts().Unanswerable
		if way&2 == 0 {
			answer, err = nc.RequestMsg(sent, patience)
		} else {
			err = nc.PublishMsg(sent)
		}
		if errors.Is(err, nats.ErrMaxPayload) {
			t.Skip("more than the server takes")
		}
		if err != nil {
			t.Fatalf("no answer: %v", err)
		}
		if id == "" && answer == nil {
			eventually(t, "it is counted", func() bool { return provider.Counts().Unanswerable == unanswerable+1 })
			return
		}
		if id != "" { // the decision is on the decision subject in any case
			heard := next(t, published[scope])
			if answer == nil {
				answer = heard
			} else if got, problem := protocol.Open(protocol.ChannelDecision, heard.Header, heard.Data); problem != nil || got.Encoding != asked.Encoding {
				t.Errorf("on the decision subject: %v %s", problem, heard.Data)
			}
		}
		got, problem := protocol.Open(protocol.ChannelDecision, answer.Header, answer.Data)
		if problem != nil {
			t.Fatalf("the answer can't be opened: %v", problem)
		}
		if got.Encoding != asked.Encoding {
			t.Errorf("asked in encoding %d, answered in %d", asked.Encoding, got.Encoding)
		}
		d, problem := protocol.DecodeDecision(got.Document)
		if problem != nil {
			t.Fatalf("not a valid decision: %v: %s", problem, got.Document)
		}
		if d.RequestHash != protocol.Hash(asked.Document) {
			t.Error("the hash is not that of the document")
		}
		if d.RequestID != id {
			t.Errorf("answer for %q, asked as %q", d.RequestID, id)
		}
		_, checkProblem := protocol.DecodeCheck(asked.Document)
		if openProblem != nil {
			checkProblem = openProblem
		}
		if checkProblem != nil && (d.Decision != protocol.VerdictError || d.Code != checkProblem.Code) {
			t.Errorf("%v, answered %s (%s)", checkProblem, d.Decision, d.Code)
		}
		if n := provider.Counts().Panics; n > 0 {
			t.Fatalf("%d panics", n)
		}
	})
}

func quoted(text string) string {
	doc, err := protocol.Encode(text)
	if err != nil {
		panic(err)
	}
	return string(doc)
}

// roundTrip trims values as NATS headers do.
func roundTrip(header nats.Header) nats.Header {
	if header == nil {
		return nil
	}
	trimmed := make(nats.Header, len(header))
	for name, values := range header {
		for _, v := range values {
			trimmed[name] = append(trimmed[name], strings.Trim(v, " \t"))
		}
	}
	return trimmed
}
