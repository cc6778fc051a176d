package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/mattn/go-isatty"
)

// Version is the version of this program. A release sets it when it is linked.
var Version = "0.1.0"

const description = `The guard that agents ask before they act.

A program publishes on NATS what it is about to do (guardrails.check); the provider
answers allow, block, ask or error (guardrails.decision). Without a command it serves.`

// cli is the command line. Flags can be set as GUARDRAILS_… in the environment, too.
type cli struct {
	Serve      serveCmd                  `cmd:"" default:"withargs" help:"Run the provider (also without a command)."`
	Check      checkCmd                  `cmd:"" help:"Send one check to a running provider and print its decision."`
	Eval       evalCmd                   `cmd:"" help:"Decide JSON lines from standard input, without a bus."`
	Validate   validateCmd               `cmd:"" help:"Check policy files; print every mistake, or their figures."`
	Init       initCmd                   `cmd:"" help:"Write a commented starter policy, and checks to try it with."`
	Demo       demoCmd                   `cmd:"" help:"Watch a few scripted agents ask an embedded provider; ends by itself."`
	Status     statusCmd                 `cmd:"" help:"Show running providers and the sessions that they keep."`
	Version    versionCmd                `cmd:"" help:"Print the versions of the program and of what it is built with."`
	Completion kongcompletion.Completion `cmd:"" help:"Print how to switch on completion in bash, zsh or fish."`
}

// app is what commands work with: nothing of the process itself.
type app struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer
}

// Exit codes.
const (
	exitDone     = 0
	exitNo       = 1 // the answer is no
	exitUse      = 2 // wrong use
	exitCouldNot = 3 // no server, no file
)

// exit is an error with the exit code that it deserves. A nil err exits silently.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

func wrongUse(format string, args ...any) error {
	return &exit{exitUse, fmt.Errorf(format, args...)}
}

func couldNot(format string, args ...any) error {
	return &exit{exitCouldNot, fmt.Errorf(format, args...)}
}

// Run runs the command line and returns the exit code. It touches nothing of the
// process but files, signals and the environment.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := run(&app{ctx, stdin, stdout, stderr}, args)
	var e *exit
	switch {
	case err == nil:
		return exitDone
	case !errors.As(err, &e):
		e = &exit{exitCouldNot, err}
	}
	if message := e.Error(); message != "" {
		fmt.Fprintln(stderr, "guardrails-provider: "+message)
	}
	return e.code
}

// helped ends the program after help was printed.
type helped struct{ code int }

func run(a *app, args []string) (err error) {
	defer func() { // kong prints help and then exits
		switch h := recover().(type) {
		case nil:
		case helped:
			if err = nil; h.code != 0 {
				err = &exit{code: h.code}
			}
		default:
			panic(h)
		}
	}()
	var c cli
	parser, err := kong.New(&c,
		kong.Name("guardrails-provider"),
		kong.Description(description),
		kong.Writers(a.stdout, a.stderr),
		kong.Exit(func(code int) { panic(helped{code}) }),
		kong.DefaultEnvars("GUARDRAILS"),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Bind(a),
	)
	if err != nil {
		return err
	}
	kongcompletion.Register(parser)
	k, err := parser.Parse(args)
	if err != nil {
		return &exit{exitUse, fmt.Errorf("%w; see guardrails-provider --help", err)}
	}
	if k.Selected().Name != "serve" {
		signal.Reset(syscall.SIGHUP)
	}
	return k.Run(a)
}

// terminal says whether w is one, and colour is wanted there.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

func colour(w io.Writer) bool {
	return terminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// paint returns text in a colour of the terminal's, where there are colours.
func paint(w io.Writer, code, text string) string {
	if !colour(w) {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// oneLine keeps an error to one line.
func oneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}
