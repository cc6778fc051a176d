package conformance_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var url string // of the server that the provider under test runs

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "conformance")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		stop, err := serve(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		code := m.Run()
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}())
}

// serve builds the provider and runs it as a process of its own. stop ends it as
// an operator would, and says how that went wrong.
func serve(dir string) (stop func() error, err error) {
	program := filepath.Join(dir, "guardrails-provider")
	build := exec.Command("go", "build", "-o", program, "../../cmd/guardrails-provider")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	cmd := exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(dir, "data"))
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GUARDRAILS_") })
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	found := ""
	if lines.Scan() {
		found = regexp.MustCompile(`nats://\S+`).FindString(lines.Text())
	}
	if found == "" {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("the provider names no address: %q\n%s", lines.Text(), &log)
	}
	url = found
	drained := make(chan struct{})
	go func() { // it must never wait for somebody to read
		defer close(drained)
		for lines.Scan() {
		}
	}()
	return func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		<-drained
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("after SIGTERM the provider ended with %w\n%s", err, &log)
		}
		return nil
	}, nil
}

// Encodings of the protocol; bare is plain without any header, as the simplest
// of callers sends it.
const (
	plain      = "plain"
	bare       = "plain without headers"
	structured = "CloudEvents structured"
	base64ed   = "CloudEvents structured, data_base64"
	binary     = "CloudEvents binary"
)

// TestDecisions is the matrix: how the answer comes, in which scope, in which
// encoding; each with an action that is allowed and one that is not.
func TestDecisions(t *testing.T) {
	for _, way := range []string{"request and reply", "publish and subscribe"} {
		for _, scope := range []string{"", "swarm-a.agent-7"} {
			for _, encoding := range []string{plain, bare, structured, base64ed, binary} {
				t.Run(fmt.Sprintf("%s/scope=%s/%s", way, scope, encoding), func(t *testing.T) {
					c := dial(t, url)
					for _, action := range actions {
						decided(t, c, way, scope, encoding, action)
					}
				})
			}
		}
	}
}

type action struct{ kind, operation, target, decision, code string }

// What the built-in policy says of these is in its comments.
var actions = []action{
	{"file", "read", `"path": "README.md"`, "allow", "policy"},
	{"file", "write", `"uri": "file:///etc/passwd"`, "block", "policy"},
	{"process", "exec", `"command": "git push --force"`, "block", "policy"},
	{"network", "connect", `"uri": "tcp://example.org"`, "error", "unsupported-kind"},
}

func decided(t *testing.T, c *client, way, scope, encoding string, a action) {
	t.Helper()
	id := rand.Text()
	traceparent := fmt.Sprintf("00-%x-00f067aa0ba902b7-01", id[:16])
	// White space, an unknown member and an escape: the hash is of the very bytes.
	doc := `{ "protocolVersion": "1",` + "\n\t" + `"requestId": "` + id + `", "unknown": ["\u00e9", {}],
		"caller": { "extensionId": "by-hand" }, "context": { "cwd": "/repo" },
		"action": { "resource": { "kind": "` + a.kind + `" }, "operation": "` + a.operation + `", "targets": [ { ` + a.target + ` } ] } }`
	suffix := ""
	if scope != "" {
		suffix = "." + scope
	}
	reply, want := "", 1
	decisions := c.subscribe("guardrails.decision" + suffix)
	replies := "none"
	if way == "request and reply" {
		reply, want = "_INBOX.by-hand."+id, 2 // the decision subject has it as well
		replies = c.subscribe(reply)
	}
	body, header := sealed(encoding, doc, id, traceparent)
	c.publish("guardrails.check"+suffix, reply, body, header...)
	var seen []string
	for range want {
		m := c.next()
		seen = append(seen, m.sid)
		answer := opened(t, encoding, m, traceparent)
		if answer.ProtocolVersion != "1" || answer.RequestID != id {
			t.Errorf("the answer is to %q, version %q", answer.RequestID, answer.ProtocolVersion)
		}
		if answer.Decision != a.decision || answer.Code != a.code {
			t.Errorf("%s %s: %s (%s): %s", a.operation, a.target, answer.Decision, answer.Code, answer.Reason)
		}
		if hash := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(doc))); answer.RequestHash != hash {
			t.Errorf("requestHash is %s, not %s", answer.RequestHash, hash)
		}
		if answer.Provider.ID != "guardrails-provider" {
			t.Errorf("provider.id is %q", answer.Provider.ID)
		}
	}
	if !slices.Contains(seen, decisions) || want == 2 && !slices.Contains(seen, replies) {
		t.Errorf("answers came on the subscriptions %q, not on %s and %s", seen, decisions, replies)
	}
	c.unsubscribe(decisions)
	if want == 2 {
		c.unsubscribe(replies)
	}
	c.flush() // fails where a further message came: each check is answered once
}

func sealed(encoding, doc, id, traceparent string) (body string, header []string) {
	event := `{"traceparent":"` + traceparent + `","specversion":"1.0","type":"dev.guardrails.check.v1","source":"/by-hand","id":"` + id + `",`
	switch encoding {
	case plain:
		return doc, []string{"traceparent", traceparent}
	case structured:
		return event + `"datacontenttype":"application/json","data":` + doc + `}`, []string{"Content-Type", "application/cloudevents+json"}
	case base64ed:
		return event + `"data_base64":"` + base64.StdEncoding.EncodeToString([]byte(doc)) + `"}`, []string{"Content-Type", "application/cloudevents+json; charset=utf-8"}
	case binary:
		return doc, []string{"ce-specversion", "1.0", "ce-type", "dev.guardrails.check.v1", "ce-source", "/by-hand", "ce-id", id,
			"ce-traceparent", traceparent, "Content-Type", "application/json"}
	}
	return doc, nil
}

type decision struct {
	ProtocolVersion string `json:"protocolVersion"`
	RequestID       string `json:"requestId"`
	Decision        string `json:"decision"`
	Code            string `json:"code"`
	Reason          string `json:"reason"`
	RequestHash     string `json:"requestHash"`
	Provider        struct {
		ID string `json:"id"`
	} `json:"provider"`
}

// opened reads a decision, and holds its encoding to that of the check.
func opened(t *testing.T, encoding string, m message, traceparent string) (d decision) {
	t.Helper()
	if m.status != "" {
		t.Fatalf("NATS answers %s: nobody listens", m.status)
	}
	doc := []byte(m.body)
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s is %q, not %q", what, got, want)
		}
	}
	switch encoding {
	case bare:
		if m.header != nil {
			t.Errorf("a check without headers got %v", m.header)
		}
	case plain:
		want("traceparent", m.header.Get("traceparent"), traceparent)
		want("ce-specversion", m.header.Get("ce-specversion"), "")
	case structured, base64ed:
		want("Content-Type", m.header.Get("Content-Type"), "application/cloudevents+json")
		var event struct {
			SpecVersion, ID, Source, Type, Traceparent string
			Data                                       json.RawMessage
		}
		if err := json.Unmarshal(doc, &event); err != nil {
			t.Fatalf("%v: %s", err, m.body)
		}
		want("specversion", event.SpecVersion, "1.0")
		want("type", event.Type, "dev.guardrails.decision.v1")
		want("traceparent", event.Traceparent, traceparent)
		if event.ID == "" || event.Source == "" {
			t.Errorf("an event without id or source: %s", m.body)
		}
		doc = event.Data
	case binary:
		want("ce-specversion", m.header.Get("ce-specversion"), "1.0")
		want("ce-type", m.header.Get("ce-type"), "dev.guardrails.decision.v1")
		want("ce-traceparent", m.header.Get("ce-traceparent"), traceparent)
		if m.header.Get("ce-id") == "" || m.header.Get("ce-source") == "" {
			t.Errorf("an event without id or source: %v", m.header)
		}
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatalf("%v: %s", err, m.body)
	}
	return d
}

// TestScopesDontMix says that a decision is heard in its check's scope, and in no
// other.
func TestScopesDontMix(t *testing.T) {
	c := dial(t, url)
	other := map[string]bool{c.subscribe("guardrails.decision"): true, c.subscribe("guardrails.decision.a"): true, c.subscribe("guardrails.decision.a.b.c"): true}
	own := c.subscribe("guardrails.decision.a.b")
	body, _ := sealed(bare, `{"protocolVersion":"1","requestId":"`+rand.Text()+`","caller":{"extensionId":"by-hand"},"action":{"resource":{"kind":"file"},"operation":"stat","targets":[{"path":"/"}]}}`, "", "")
	c.publish("guardrails.check.a.b", "", body)
	if m := c.next(); m.sid != own || other[m.sid] {
		t.Errorf("the decision came on %s", m.subject)
	}
	c.flush() // fails where it came a second time
}

// TestMalformed says that what is no check gets an error, and that the provider
// lives on.
func TestMalformed(t *testing.T) {
	c := dial(t, url)
	inbox := "_INBOX.by-hand." + rand.Text()
	c.subscribe(inbox)
	for _, m := range []struct{ body, code string }{
		{"", "invalid-request"},
		{"no JSON", "invalid-request"},
		{"null", "invalid-request"},
		{`{"protocolVersion":"2","requestId":"a"}`, "unsupported-version"},
		{`{"protocolVersion":"1","requestId":"a"}`, "invalid-request"},
	} {
		c.publish("guardrails.check", inbox, m.body)
		var d decision
		if answer := c.next(); json.Unmarshal([]byte(answer.body), &d) != nil || d.Decision != "error" || d.Code != m.code {
			t.Errorf("%q: %s", m.body, answer.body)
		}
	}
}

// TestNobodyListens is what a caller hears at once where no provider runs.
func TestNobodyListens(t *testing.T) {
	c := dial(t, url)
	inbox := "_INBOX.by-hand." + rand.Text()
	c.subscribe(inbox)
	c.publish("elsewhere.check", inbox, "{}")
	if m := c.next(); m.status != "503" {
		t.Errorf("status %q", m.status)
	}
}

// TestDiscovery asks as the nats CLI does for micro ls, info, stats and ping.
func TestDiscovery(t *testing.T) {
	c := dial(t, url)
	inbox := "_INBOX.by-hand." + rand.Text()
	c.subscribe(inbox)
	type endpoint struct {
		Name        string `json:"name"`
		Subject     string `json:"subject"`
		QueueGroup  string `json:"queue_group"`
		NumRequests int    `json:"num_requests"`
	}
	var answer struct {
		Type, Name, ID, Version, Description, Started string
		Endpoints                                     []endpoint
	}
	ask := func(subject string) {
		t.Helper()
		c.publish(subject, inbox, "")
		m := c.next()
		if err := json.Unmarshal([]byte(m.body), &answer); err != nil {
			t.Fatalf("%s: %v: %s", subject, err, m.body)
		}
		verb := strings.Split(subject, ".")[1]
		if want := "io.nats.micro.v1." + strings.ToLower(verb) + "_response"; answer.Type != want {
			t.Errorf("%s: the type is %q, not %q", subject, answer.Type, want)
		}
		if answer.Name != "guardrails-provider" || answer.ID == "" {
			t.Errorf("%s: %s", subject, m.body)
		}
		// The nats CLI refuses a version that is not a semantic one.
		if !regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(answer.Version) {
			t.Errorf("%s: the version is %q", subject, answer.Version)
		}
		if verb == "PING" {
			return
		}
		for _, e := range []endpoint{{Name: "check", Subject: "guardrails.check"}, {Name: "check-scoped", Subject: "guardrails.check.>"}, {Name: "status", Subject: "guardrails.status"}} {
			if !slices.ContainsFunc(answer.Endpoints, func(got endpoint) bool {
				return got.Name == e.Name && got.Subject == e.Subject && got.QueueGroup == "guardrails"
			}) {
				t.Errorf("%s: no endpoint %s: %s", subject, e.Name, m.body)
			}
		}
	}
	for _, verb := range []string{"PING", "INFO", "STATS"} {
		ask("$SRV." + verb)
		ask("$SRV." + verb + ".guardrails-provider")
		ask("$SRV." + verb + ".guardrails-provider." + answer.ID)
	}
	requests := func() (n int) {
		ask("$SRV.STATS.guardrails-provider")
		for _, e := range answer.Endpoints {
			n += e.NumRequests
		}
		return n
	}
	before := requests()
	for range 3 {
		c.publish("guardrails.check", inbox, "{}")
		c.next()
	}
	if after := requests(); after != before+3 {
		t.Errorf("three checks took the statistics from %d to %d", before, after)
	}
}
