package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/guardrails-provider/guardrails-provider/helper"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

type checkCmd struct {
	Args []string `arg:"" optional:"" name:"path" help:"Paths to check with --file, or - for a check document on standard input."`

	File string `help:"Operation on files: read, write, delete, list or stat." placeholder:"OPERATION" xor:"what"`
	Exec string `help:"Shell source to check." placeholder:"SOURCE" xor:"what"`

	Cwd       string        `help:"Folder that relative paths and commands are in; left out: this one." placeholder:"DIR"`
	Home      string        `help:"What ~ means; left out: your home." placeholder:"DIR"`
	Session   string        `help:"context.sessionId." placeholder:"ID"`
	Run_      string        `help:"context.runId." placeholder:"ID" name:"run"`
	Tool      string        `help:"attributes.toolName." placeholder:"NAME"`
	Extension string        `help:"caller.extensionId." default:"guardrails-provider-cli" placeholder:"ID"`
	Scope     string        `help:"Scope of the subjects, such as swarm-a.agent-7." placeholder:"TOKENS"`
	Timeout   time.Duration `help:"How long to wait." default:"1s"`
	Posture   string        `help:"What counts where nobody judges: closed or open." enum:"closed,open" default:"closed"`
	Ask       bool          `help:"Ask on the terminal where the decision is ask."`
	JSON      bool          `help:"Print the decision document."`

	connection
	prefixFlag
}

func (*checkCmd) Help() string {
	return `Sends one check and prints the decision. Exit: 0 allowed, 1 not allowed, 3 nobody judged.

Examples:
  guardrails-provider check --file write /etc/passwd
  guardrails-provider check --exec 'git push'
  guardrails-provider check - < check.json`
}

func (c *checkCmd) Run(a *app) error {
	check, err := c.document(a.stdin)
	if err != nil {
		return err
	}
	if problem := check.Validate(); problem != nil {
		return &exit{exitUse, problem}
	}
	if _, err := c.subjects(); err != nil {
		return err
	}
	nc, err := c.connect("guardrails-provider check")
	if err != nil {
		return c.nobody(a, check.RequestID, helper.CauseConnection, err)
	}
	defer nc.Close()
	opts := []helper.Option{
		helper.WithPrefix(c.SubjectPrefix), helper.WithScope(c.Scope), helper.WithTimeout(c.Timeout),
	}
	if c.Posture == "open" {
		opts = append(opts, helper.WithPosture(helper.Open))
	}
	if c.Ask {
		opts = append(opts, helper.WithUser(asker(a)))
	}
	guard, err := helper.New(nc, check.Caller, opts...)
	if err != nil {
		return &exit{exitUse, err}
	}
	defer guard.Close()
	return c.print(a, guard.CheckDocument(a.ctx, *check))
}

// document makes the check that the flags describe, or reads it.
func (c *checkCmd) document(stdin io.Reader) (*protocol.Check, error) {
	if len(c.Args) == 1 && c.Args[0] == "-" && c.File == "" && c.Exec == "" {
		doc, err := io.ReadAll(io.LimitReader(stdin, protocol.MaxDocument+1))
		if err != nil {
			return nil, couldNot("standard input: %s", oneLine(err))
		}
		check, problem := protocol.DecodeCheck(doc)
		if problem != nil {
			return nil, &exit{exitUse, fmt.Errorf("standard input: %w", problem)}
		}
		return check, nil
	}
	check := &protocol.Check{
		ProtocolVersion: protocol.Version,
		RequestID:       rand.Text(),
		Caller:          protocol.Caller{ExtensionID: c.Extension},
		Context:         protocol.Context{Cwd: c.Cwd, Home: c.Home, SessionID: c.Session, RunID: c.Run_},
	}
	check.Action.Attributes.ToolName = c.Tool
	switch {
	case c.File != "":
		if len(c.Args) == 0 {
			return nil, wrongUse("name the paths: guardrails-provider check --file %s PATH…", c.File)
		}
		check.Action.Resource.Kind, check.Action.Operation = protocol.KindFile, c.File
		for _, path := range c.Args {
			target := protocol.Target{Path: path}
			if strings.HasPrefix(path, "file:") {
				target = protocol.Target{URI: path}
			}
			check.Action.Targets = append(check.Action.Targets, target)
		}
	case c.Exec != "":
		if len(c.Args) > 0 {
			return nil, wrongUse("--exec takes the whole command as one word; quote it: --exec '%s %s'", c.Exec, strings.Join(c.Args, " "))
		}
		check.Action.Resource.Kind, check.Action.Operation = protocol.KindProcess, protocol.OpExec
		check.Action.Targets = []protocol.Target{{Command: c.Exec}}
	default:
		return nil, wrongUse("say what to check: --file write PATH, --exec 'git push', or - for a document on standard input")
	}
	var err error
	if check.Context.Cwd, err = filepath.Abs(check.Context.Cwd); err != nil { // empty: this folder
		return nil, couldNot("the current folder: %s", oneLine(err))
	}
	if check.Context.Home == "" {
		check.Context.Home, _ = os.UserHomeDir() // without one, ~ is an error of the check
	}
	return check, nil
}

// asker asks on the terminal; anything but a yes is a no.
func asker(a *app) helper.UserFunc {
	return func(ctx context.Context, q helper.Question) bool {
		fmt.Fprintf(a.stderr, "%s\nAllow it? [y/N] ", q.Decision.Ask.Prompt)
		answer, err := bufio.NewReader(a.stdin).ReadString('\n')
		if err != nil {
			return false
		}
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return true
		}
		return false
	}
}

// result is what --json prints: a decision, and who decided where that was not
// the provider. Its decision is what the caller may do, whoever said so.
type result struct {
	*protocol.Decision
	By    helper.Decider `json:"by,omitzero"`
	Cause helper.Cause   `json:"cause,omitzero"`
}

// print says what came of the check, and makes the exit code of it.
func (c *checkCmd) print(a *app, o helper.Outcome) error {
	if o.Decision == nil {
		return c.nobody(a, o.RequestID, o.Cause, o.Err())
	}
	d, code := *o.Decision, exitNo
	if o.MayProceed() {
		code = exitDone
	}
	switch o.By {
	case helper.ByUser:
		d.Decision, d.Code, d.Ask = protocol.VerdictBlock, protocol.CodeRejected, nil
		if o.MayProceed() {
			d.Decision, d.Code = protocol.VerdictAllow, protocol.CodeApproved
		}
	case helper.ByPosture: // the provider said that nobody could judge
		if d.Decision = protocol.VerdictAllow; !o.MayProceed() {
			d.Decision, code = protocol.VerdictBlock, exitCouldNot
		}
	}
	if c.JSON {
		out := result{Decision: &d}
		if o.By != helper.ByProvider {
			out.By, out.Cause = o.By, o.Cause
		}
		return printJSON(a, out, code)
	}
	fmt.Fprintf(a.stdout, "%s (%s): %s\n", paint(a.stdout, verdictColour(d.Decision), string(d.Decision)), d.Code, d.Reason)
	for _, f := range d.Findings {
		name := f.Policy
		if f.Rule != "" {
			name += "/" + f.Rule
		}
		fmt.Fprintf(a.stdout, "  %-5s %s: %s\n", f.Decision, name, f.Reason)
	}
	switch o.By {
	case helper.ByUser:
		fmt.Fprintln(a.stdout, map[bool]string{true: "allowed by you", false: "refused by you"}[o.MayProceed()])
	case helper.ByPosture:
		fmt.Fprintf(a.stdout, "nobody judged; posture %s\n", c.Posture)
	}
	return &exit{code: code}
}

// nobody prints what counts where no decision came: the posture, where the cause
// is one that leaves it to the posture.
func (c *checkCmd) nobody(a *app, id string, cause helper.Cause, why error) error {
	postures := cause != helper.CauseInvalid && cause != helper.CauseCancelled
	verdict, code := protocol.VerdictBlock, exitCouldNot
	if postures && c.Posture == "open" {
		verdict, code = protocol.VerdictAllow, exitDone
	}
	if c.JSON {
		out := result{Cause: cause, Decision: &protocol.Decision{
			ProtocolVersion: protocol.Version, RequestID: id, Decision: verdict, Code: "posture", Reason: oneLine(why),
			Findings: []protocol.Finding{}, Warnings: []string{}, Provider: protocol.Provider{ID: "none"},
		}}
		if postures {
			out.By = helper.ByPosture
		}
		return printJSON(a, out, code)
	}
	if code == exitDone {
		fmt.Fprintf(a.stdout, "%s by posture (%s)\n", paint(a.stdout, "33", "allow"), cause)
	}
	advice := ""
	if cause == helper.CauseNoProvider {
		advice = "; start one with guardrails-provider serve"
	}
	return &exit{code, fmt.Errorf("%s (%s)%s", oneLine(why), cause, advice)}
}

func printJSON(a *app, out result, code int) error {
	text, err := protocol.Encode(out)
	if err == nil && terminal(a.stdout) {
		err = (*jsontext.Value)(&text).Indent(jsontext.WithIndent("  "))
	}
	if err == nil {
		_, err = fmt.Fprintln(a.stdout, string(text))
	}
	if err != nil {
		return couldNot("%s", oneLine(err))
	}
	return &exit{code: code}
}

func verdictColour(v protocol.Verdict) string {
	switch v {
	case protocol.VerdictAllow:
		return "32"
	case protocol.VerdictAsk:
		return "33"
	}
	return "31"
}
