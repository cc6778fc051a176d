// Command guardrails-provider is the guard that agents ask before they act: the
// provider itself, and what its operators use. See "guardrails-provider --help".
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A SIGHUP means reload to serve, and must not end it before serve listens for
	// it; run gives it back to the other commands.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
