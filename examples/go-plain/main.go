// Command go-plain asks the guard before it acts, with nats.go and encoding/json
// and nothing of ours:
//
//	go run ./examples/go-plain write /etc/passwd
//
// Exit: 0 allowed, 1 not allowed, 2 wrong use, 3 nobody judged.
package main

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
)

const timeout = time.Second

type object = map[string]any

type decision struct {
	ProtocolVersion string `json:"protocolVersion"`
	RequestID       string `json:"requestId"`
	Decision        string `json:"decision"`
	Code            string `json:"code"`
	Reason          string `json:"reason"`
	RequestHash     string `json:"requestHash"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go-plain OPERATION PATH")
		os.Exit(2)
	}
	d, err := ask(os.Args[1], os.Args[2])
	if err != nil {
		// Here a program applies its posture: proceed only where little is at stake.
		fmt.Fprintln(os.Stderr, "nobody judged:", err)
		os.Exit(3)
	}
	fmt.Printf("%s (%s): %s\n", d.Decision, d.Code, d.Reason)
	if d.Decision != "allow" { // exactly that, and nothing else
		os.Exit(1)
	}
}

// ask returns what the provider decided; an error means that nobody judged.
func ask(operation, path string) (*decision, error) {
	nc, err := nats.Connect(cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL), nats.Timeout(timeout))
	if err != nil {
		return nil, err
	}
	defer nc.Close()

	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir()
	id := rand.Text()
	check, err := json.Marshal(object{
		"protocolVersion": "1",
		"requestId":       id,
		"caller":          object{"extensionId": "example-go"},
		"action": object{
			"resource":  object{"kind": "file"},
			"operation": operation,
			"targets":   []object{{"path": path}},
		},
		"context": object{"cwd": cwd, "home": home},
		"options": object{"timeoutMs": timeout.Milliseconds()},
	})
	if err != nil {
		return nil, err
	}

	msg, err := nc.Request("guardrails.check", check, timeout)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil, errors.New("no provider listens on this server")
	case err != nil:
		return nil, err // a time-out, or the connection was lost
	}
	var d decision
	if err := json.Unmarshal(msg.Data, &d); err != nil {
		return nil, err
	}
	if d.ProtocolVersion != "1" || d.RequestID != id {
		return nil, errors.New("the answer is to another check")
	}
	switch d.Code {
	case "overloaded", "policy-unavailable", "state-unavailable",
		"unsupported-version", "unsupported-kind", "unsupported-operation":
		return nil, errors.New(d.Reason)
	}
	if hash := fmt.Sprintf("sha256:%x", sha256.Sum256(check)); d.Decision != "error" && d.RequestHash != hash {
		return nil, errors.New("the answer is to a check with other contents")
	}
	return &d, nil
}
