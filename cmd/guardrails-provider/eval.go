package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/rs/zerolog"

	"github.com/guardrails-provider/guardrails-provider/policy/engine"
	"github.com/guardrails-provider/guardrails-provider/policy/live"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

type evalCmd struct {
	Policy []string `help:"Policy files and folders; left out: the starter policy." placeholder:"FILE|DIR"`
}

func (*evalCmd) Help() string {
	return `Reads one JSON document a line: a check, or {"subject":"guardrails.check","data":{…}} (a
guardrails.status likewise), and prints one line for each, in order. A line that can't be
read gets an error decision, and the run goes on. Empty lines are passed over.

Example:
  guardrails-provider eval --policy guardrails.yaml < guardrails.checks.jsonl`
}

// line is a line of input or output.
type line struct {
	Subject string         `json:"subject"`
	Data    jsontext.Value `json:"data"`
}

// maxLine lets a document of the greatest size stand in its wrapping; of a longer
// line the rest is passed over.
const maxLine = protocol.MaxDocument + 64<<10

func (c *evalCmd) Run(a *app) error {
	policies, err := live.Open(zerolog.Nop(), c.Policy...)
	if err != nil {
		return loadProblem(err)
	}
	e := evaluator{engine: engine.New(engine.Config{
		Policy:  policies.Current,
		Answers: engine.NewMemory(),
		Version: Version,
		Fault:   func(err error) { fmt.Fprintln(a.stderr, "guardrails-provider: "+oneLine(err)) },
	})}
	in := bufio.NewReaderSize(a.stdin, 64<<10)
	out := bufio.NewWriter(a.stdout)
	defer out.Flush()
	for a.ctx.Err() == nil {
		text, size, err := readLine(in)
		if text = bytes.TrimSpace(text); len(text) > 0 {
			subject, answer := e.answer(a.ctx, text, size)
			if err := writeLine(out, subject, answer); err != nil {
				return couldNot("%s", oneLine(err))
			}
			if in.Buffered() == 0 { // somebody may wait for it
				if err := out.Flush(); err != nil {
					return couldNot("%s", oneLine(err))
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return couldNot("standard input: %s", oneLine(err))
		}
	}
	return nil
}

// readLine reads a line of any length; it returns no more than a little over
// maxLine of it, and its size.
func readLine(in *bufio.Reader) (text []byte, size int, err error) {
	for {
		part, err := in.ReadSlice('\n')
		size += len(part)
		if len(text) <= maxLine {
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, size, err
		}
	}
}

func writeLine(out io.Writer, subject string, document any) error {
	data, err := protocol.Encode(document)
	if err != nil {
		return err
	}
	text, err := json.Marshal(line{subject, data})
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return err
}

type evaluator struct{ engine *engine.Engine }

// answer decides one line and returns the subject and the document of its answer.
func (e *evaluator) answer(ctx context.Context, text []byte, size int) (string, any) {
	var subjects protocol.Subjects
	if size > maxLine {
		return e.refuse(subjects, "", text, &protocol.Error{Code: protocol.CodeTooLarge,
			Problem: fmt.Sprintf("the line has %d bytes; a document of at most %d is taken", size, protocol.MaxDocument)})
	}
	status := subjects.On(protocol.ChannelStatus, "")
	doc, scope := text, ""
	var l line
	if json.Unmarshal(text, &l) == nil && l.Subject != "" &&
		(l.Data != nil || l.Subject == status) {
		doc = l.Data
		if l.Subject == status {
			request, problem := protocol.DecodeStatusRequest(doc)
			if problem != nil {
				return e.refuse(subjects, "", doc, problem)
			}
			return l.Subject, e.engine.Status(request)
		}
		var ok bool
		if scope, ok = subjects.Scope(protocol.ChannelCheck, l.Subject); !ok {
			return e.refuse(subjects, "", doc, &protocol.Error{Code: protocol.CodeInvalidRequest, Field: "subject", Problem: unknownSubject(l.Subject)})
		}
		if err := protocol.CheckScope(scope); err != nil {
			return e.refuse(subjects, "", doc, &protocol.Error{Code: protocol.CodeInvalidRequest, Field: "subject", Problem: err.Error()})
		}
	}
	check, problem := protocol.DecodeCheck(doc)
	if problem != nil {
		return e.refuse(subjects, scope, doc, problem)
	}
	return subjects.On(protocol.ChannelDecision, scope), e.engine.Answer(ctx, engine.Request{
		Scope: scope, Check: check, Hash: protocol.Hash(doc), Arrived: time.Now(),
	})
}

func (e *evaluator) refuse(s protocol.Subjects, scope string, doc []byte, problem *protocol.Error) (string, any) {
	id, _ := protocol.Peek(doc)
	return s.On(protocol.ChannelDecision, scope), e.engine.Error(id, protocol.Hash(doc), problem)
}

func unknownSubject(subject string) string {
	for _, later := range []protocol.Channel{protocol.ChannelResult, protocol.ChannelApproval, protocol.ChannelRun,
		protocol.ChannelOperatorApproval, protocol.ChannelOperatorNets, protocol.ChannelPrompt} {
		if subject == protocol.DefaultPrefix+"."+string(later) || strings.HasPrefix(subject, protocol.DefaultPrefix+"."+string(later)+".") {
			return subject + " is not supported by this version, which keeps no state"
		}
	}
	return fmt.Sprintf("%q is not read here; write guardrails.check, or guardrails.status", subject)
}
