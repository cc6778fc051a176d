package bus

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/policy/engine"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// job is one check on its way to its answer.
type job struct {
	request  engine.Request
	reply    string // subject; empty: none
	encoding protocol.Encoding
	trace    protocol.Trace
	deadline *time.Timer
	running  atomic.Bool
	answered atomic.Bool // whoever sets it answers
	bytes    int         // of the message
}

// claim makes the caller the one who answers; false: somebody else is.
func (j *job) claim() bool { return j.answered.CompareAndSwap(false, true) }

// onCheck decodes a check and hands it to its session's lane. It runs in the
// subscription's own goroutine, one message after the other, so that the order
// of a session's checks is that of their arrival.
func (p *Provider) onCheck(msg *nats.Msg) {
	j := &job{reply: p.replySubject(msg), request: engine.Request{Arrived: p.cfg.Now()}}
	defer p.recover(j)
	scope, ok := p.cfg.Subjects.Scope(protocol.ChannelCheck, msg.Subject)
	if !ok {
		p.cfg.Log.Error().Str("subject", msg.Subject).Msg("a message on a subject that was not subscribed to")
		return
	}
	j.request.Scope = scope
	p.counters.receive(scope)
	m, problem := protocol.Open(protocol.ChannelCheck, msg.Header, msg.Data)
	j.encoding, j.trace = m.Encoding, m.Trace
	if problem != nil {
		p.reject(j, m.Document, problem)
		return
	}
	check, problem := protocol.DecodeCheck(m.Document)
	if problem != nil {
		p.reject(j, m.Document, problem)
		return
	}
	j.request.Check, j.request.Hash = check, protocol.Hash(m.Document)
	j.deadline = time.AfterFunc(answerWithin(check.Options.Timeout()), func() { p.late(j) })
	j.bytes = len(msg.Data)
	if !p.lanes.put(check.Session(scope), j, j.bytes) {
		j.deadline.Stop()
		p.fail(j, protocol.CodeOverloaded, "too many checks wait already; ask again")
	}
}

// replySubject is where the sender of a message wants its answer. The provider
// may publish where its callers may not: with a reply subject of ours, or of
// NATS's own, an agent could have it tell others what it may not tell them itself.
func (p *Provider) replySubject(msg *nats.Msg) string {
	if strings.HasPrefix(msg.Reply, p.cfg.Subjects.Prefix()+".") || strings.HasPrefix(msg.Reply, "$") {
		p.cfg.Log.Warn().Str("subject", msg.Subject).Str("reply", msg.Reply).Msg("a check with a reply subject that is not the sender's own; it is answered on the decision subject only")
		return ""
	}
	return msg.Reply
}

// answerWithin is what is left of a caller's patience for the provider: an
// answer needs some of it to travel.
func answerWithin(timeout time.Duration) time.Duration {
	return timeout - min(timeout/10, maxTravel)
}

const maxTravel = 20 * time.Millisecond

// judge decides one check, in its lane.
func (p *Provider) judge(j *job) {
	defer p.recover(j)
	defer j.deadline.Stop()
	if j.answered.Load() {
		return // it waited longer than its caller
	}
	j.running.Store(true)
	claimed := false
	j.request.Commit = func() bool {
		claimed = j.claim()
		return claimed
	}
	d := p.cfg.judge(context.Background(), j.request)
	if claimed || d != nil && j.claim() {
		p.publish(j, d)
	}
}

// late answers a check whose caller is about to give up.
func (p *Provider) late(j *job) {
	defer p.recover(j)
	if j.running.Load() {
		p.fail(j, protocol.CodePolicyFailed, "the decision took longer than options.timeoutMs")
		return
	}
	p.fail(j, protocol.CodeOverloaded, "the check waited longer than options.timeoutMs; ask again")
}

// recover turns a panic into an answer.
func (p *Provider) recover(j *job) {
	cause := recover()
	if cause == nil {
		return
	}
	p.counters.panics.Add(1)
	p.cfg.Log.Error().Str("panic", fmt.Sprint(cause)).Bytes("stack", debug.Stack()).Msg("a check made the provider panic; it is answered with error")
	p.fail(j, protocol.CodeInternal, "the provider failed; its log says more")
}

// reject answers a message that is not a valid check, wherever somebody can be
// told.
func (p *Provider) reject(j *job, doc []byte, problem *protocol.Error) {
	id, _ := protocol.Peek(doc)
	if id == "" && j.reply == "" {
		p.counters.unanswerable.Add(1)
		p.cfg.Log.Warn().Str("scope", j.request.Scope).Int("bytes", len(doc)).Str("problem", problem.Error()).
			Msg("a message that is no check, without a requestId or a reply subject: nobody can be answered")
		return
	}
	p.answer(j, p.cfg.Engine.Error(id, protocol.Hash(doc), problem))
}

// fail answers a valid check with an error.
func (p *Provider) fail(j *job, code protocol.Code, problem string) {
	id := ""
	if j.request.Check != nil {
		id = j.request.Check.RequestID
	}
	if id == "" && j.reply == "" {
		return
	}
	p.answer(j, p.cfg.Engine.Error(id, j.request.Hash, &protocol.Error{Code: code, Problem: problem}))
}

// answer publishes a decision where nobody else answers.
func (p *Provider) answer(j *job, d *protocol.Decision) {
	if j.claim() {
		p.publish(j, d)
	}
}

// publish sends the decision on the reply subject and on the decision subject.
// The job must have been claimed.
func (p *Provider) publish(j *job, d *protocol.Decision) {
	msg, err := p.seal(j, d)
	if err == nil && int64(len(msg.Data)) > p.nc.MaxPayload() {
		p.cfg.Log.Warn().Str("requestId", d.RequestID).Int("bytes", len(msg.Data)).Int64("most", p.nc.MaxPayload()).
			Msg("a decision is larger than the server takes; its caller gets an error")
		d = p.cfg.Engine.Error(d.RequestID, d.RequestHash, &protocol.Error{
			Code: protocol.CodeTooLarge, Problem: "the findings are more than a message can carry; send fewer targets in one check"})
		msg, err = p.seal(j, d)
	}
	p.counters.answer(j.request.Scope, d, p.cfg.Now().Sub(j.request.Arrived))
	if err != nil {
		p.lost(d, err)
		return
	}
	if j.reply != "" {
		msg.Subject = j.reply
		if err := p.nc.PublishMsg(msg); err != nil {
			p.lost(d, err)
			return
		}
	}
	if d.RequestID == "" {
		return // on the decision subject nobody could tell whose it is
	}
	msg.Subject = p.cfg.Subjects.On(protocol.ChannelDecision, j.request.Scope)
	if err := p.nc.PublishMsg(msg); err != nil {
		p.lost(d, err)
		return
	}
	if e := p.cfg.Log.Debug(); e.Enabled() {
		e.Str("requestId", d.RequestID).Str("decision", string(d.Decision)).Str("code", string(d.Code)).
			Str("scope", j.request.Scope).Bool("replayed", d.Replayed).Msg("decided")
	}
}

func (p *Provider) seal(j *job, d *protocol.Decision) (*nats.Msg, error) {
	doc, err := protocol.Encode(d)
	if err != nil {
		return nil, err
	}
	header, body, err := protocol.Seal(protocol.ChannelDecision, j.encoding, doc, j.trace)
	if err != nil {
		return nil, err
	}
	return &nats.Msg{Header: header, Data: body}, nil
}

// lost reports an answer that could not be sent. Its caller has its posture.
func (p *Provider) lost(d *protocol.Decision, err error) {
	p.counters.lost.Add(1)
	p.cfg.Log.Error().Err(err).Str("requestId", d.RequestID).Msg("an answer could not be sent")
}

// onStatus answers a request for the state of sessions.
func (p *Provider) onStatus(msg *nats.Msg) {
	if p.replySubject(msg) == "" {
		return
	}
	var answer any
	if request, problem := protocol.DecodeStatusRequest(msg.Data); problem != nil {
		id, _ := protocol.Peek(msg.Data)
		answer = p.cfg.Engine.Error(id, protocol.Hash(msg.Data), problem)
	} else {
		answer = p.cfg.Engine.Status(request)
	}
	doc, err := protocol.Encode(answer)
	if err == nil {
		err = msg.Respond(doc)
	}
	if err != nil {
		p.cfg.Log.Error().Err(err).Msg("status")
	}
}
