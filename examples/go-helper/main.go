// Command go-helper asks the guard before it acts, with the helper package:
//
//	go run ./examples/go-helper write /etc/passwd
//
// Exit: 0 allowed, 1 not allowed, 2 wrong use, 3 nobody judged.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/helper"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go-helper OPERATION PATH")
		os.Exit(2)
	}
	os.Exit(run(os.Args[1], os.Args[2]))
}

func run(operation, path string) int {
	nc, err := nats.Connect(cmp.Or(os.Getenv("NATS_URL"), nats.DefaultURL))
	if err != nil {
		fmt.Fprintln(os.Stderr, "nobody judged:", err)
		return 3
	}
	defer nc.Close()
	cwd, _ := os.Getwd()
	home, _ := os.UserHomeDir()
	guard, err := helper.New(nc, protocol.Caller{ExtensionID: "example-helper"},
		helper.WithContext(protocol.Context{Cwd: cwd, Home: home}))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer guard.Close()

	outcome := guard.Check(context.Background(), protocol.Action{
		Resource:  protocol.Resource{Kind: protocol.KindFile},
		Operation: operation,
		Targets:   []protocol.Target{{Path: path}},
	})
	// A program acts where MayProceed is true; here it is told why.
	switch d := outcome.Decision; {
	case outcome.By == helper.ByPosture:
		fmt.Fprintln(os.Stderr, outcome.Err())
		return 3
	case d == nil:
		fmt.Fprintln(os.Stderr, outcome.Err())
	default:
		fmt.Printf("%s (%s): %s\n", d.Decision, d.Code, d.Reason)
	}
	if !outcome.MayProceed() {
		return 1
	}
	return 0
}
