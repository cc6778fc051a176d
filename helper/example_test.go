package helper_test

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/helper"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

func Example() {
	bus, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		panic(err)
	}
	bus.Start()
	defer bus.WaitForShutdown()
	defer bus.Shutdown()
	bus.ReadyForConnections(5 * time.Second)
	nc, err := nats.Connect(bus.ClientURL())
	if err != nil {
		panic(err)
	}
	defer nc.Close()

	guard, err := helper.New(nc, protocol.Caller{ExtensionID: "my-editor"},
		helper.WithPostureFunc(helper.ReadsOpen),
		helper.WithContext(protocol.Context{Cwd: "/repo", SessionID: "s-42"}))
	if err != nil {
		panic(err)
	}
	defer guard.Close()

	file := func(operation, path string) protocol.Action {
		return protocol.Action{
			Resource:  protocol.Resource{Kind: protocol.KindFile},
			Operation: operation,
			Targets:   []protocol.Target{{Path: path}},
		}
	}
	for _, action := range []protocol.Action{file("read", "README.md"), file("write", "README.md")} {
		outcome := guard.Check(context.Background(), action)
		fmt.Println(action.Operation, outcome.MayProceed(), outcome.By, outcome.Cause)
	}
	// Output:
	// read true posture no-provider
	// write false posture no-provider
}
