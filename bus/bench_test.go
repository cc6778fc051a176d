package bus

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/policy/engine"
	"github.com/guardrails-provider/guardrails-provider/protocol"
	"github.com/rs/zerolog"
)

// rounds is how often raw echo and provider take turns in one benchmark: the
// machine's moods then strike both, and the medians of the rounds are compared.
const rounds = 9

// startPair starts a provider and, on the same server, an echo that answers with
// as many bytes as a decision has: what NATS itself costs.
func startPair(b *testing.B) *nats.Conn {
	b.Helper()
	s := testServer(b)
	p := policy.Starter("")
	provider, err := StartEmbedded(s, Config{
		Engine: engine.New(engine.Config{
			Policy: func() *policy.Policy { return p }, Answers: engine.NewMemory(), Version: "bench",
			Fault: func(err error) { b.Error(err) },
		}),
		Log: zerolog.Nop(),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = provider.Stop(context.Background()) })
	echo := testClient(b, s)
	if _, err := echo.QueueSubscribe("echo", "echo", func(m *nats.Msg) { _ = m.Respond(m.Data) }); err != nil {
		b.Fatal(err)
	}
	if err := echo.Flush(); err != nil {
		b.Fatal(err)
	}
	return testClient(b, s)
}

// payload is a check of 400 bytes with an id of its own.
func payload(caller, n int) []byte {
	id := fmt.Sprintf("bench-%d-%d-%d", time.Now().UnixNano(), caller, n)
	doc := fmt.Appendf(nil, `{"protocolVersion":"1","requestId":%q,"caller":{"extensionId":"bench","agentId":"agent-%d"},`+
		`"action":{"resource":{"kind":"file","type":"mcp-tool"},"operation":"write","targets":[{"uri":"file:///repo/src/main.go"}],`+
		`"attributes":{"toolName":"write_file"}},"context":{"cwd":"/repo","home":"/home/dev","sessionId":"s-%d"}}`, id, caller, caller)
	return append(doc, bytes.Repeat([]byte(" "), max(0, 400-len(doc)))...)
}

func call(nc *nats.Conn, subject string, doc []byte, allowed bool) error {
	msg, err := nc.Request(subject, doc, patience)
	if err != nil {
		return err
	}
	if allowed && !bytes.Contains(msg.Data, []byte(`"decision":"allow"`)) {
		return fmt.Errorf("not allowed: %s", msg.Data)
	}
	return nil
}

func median[T int64 | float64](all []T) T {
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

// BenchmarkLatency compares one caller's round trip with that of a raw echo:
// the medians over all calls of each, in microseconds.
func BenchmarkLatency(b *testing.B) {
	nc := startPair(b)
	const each = 1000
	measure := func(subject string, allowed bool) float64 {
		took := make([]int64, each)
		for i := range took {
			doc := payload(0, i)
			start := time.Now()
			if err := call(nc, subject, doc, allowed); err != nil {
				b.Fatal(err)
			}
			took[i] = int64(time.Since(start))
		}
		return float64(median(took)) / 1e3
	}
	measure("echo", false)
	measure("guardrails.check", true)
	for b.Loop() {
		var raw, ours, more []float64
		for range rounds {
			r, o := measure("echo", false), measure("guardrails.check", true)
			raw, ours, more = append(raw, r), append(ours, o), append(more, o-r)
		}
		b.ReportMetric(median(raw), "raw-p50-µs")
		b.ReportMetric(median(ours), "check-p50-µs")
		b.ReportMetric(median(more), "added-p50-µs")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkThroughput compares the calls a second of 64 callers.
func BenchmarkThroughput(b *testing.B) {
	nc := startPair(b)
	const callers, each = 64, 200
	measure := func(subject string, allowed bool) float64 {
		docs := make([][][]byte, callers)
		for c := range docs {
			for i := range each {
				docs[c] = append(docs[c], payload(c, i))
			}
		}
		start := time.Now()
		var all sync.WaitGroup
		for c := range callers {
			all.Go(func() {
				for _, doc := range docs[c] {
					if err := call(nc, subject, doc, allowed); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		return callers * each / time.Since(start).Seconds()
	}
	measure("echo", false)
	measure("guardrails.check", true)
	for b.Loop() {
		var raw, ours, share []float64
		for range rounds {
			r, o := measure("echo", false), measure("guardrails.check", true)
			raw, ours, share = append(raw, r), append(ours, o), append(share, 100*o/r)
		}
		b.ReportMetric(median(raw), "raw-calls/s")
		b.ReportMetric(median(ours), "checks/s")
		b.ReportMetric(median(share), "%-of-raw")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkAnswer is the provider's own work on one message, without NATS: from
// bytes to the bytes of the answer.
func BenchmarkAnswer(b *testing.B) {
	e := testEngine(b, string(policy.StarterText("")))
	docs := make([][]byte, 1<<14)
	for i := range docs {
		docs[i] = payload(i, i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		doc := docs[i%len(docs)]
		i++
		m, problem := protocol.Open(protocol.ChannelCheck, nil, doc)
		if problem != nil {
			b.Fatal(problem)
		}
		check, problem := protocol.DecodeCheck(m.Document)
		if problem != nil {
			b.Fatal(problem)
		}
		check.RequestID = strconv.Itoa(i) // else it would be a repeat
		d := e.Answer(context.Background(), engine.Request{Check: check, Hash: protocol.Hash(m.Document), Arrived: time.Now()})
		if _, err := protocol.Encode(d); err != nil {
			b.Fatal(err)
		}
	}
}
