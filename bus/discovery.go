package bus

import (
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// The provider speaks the NATS micro service protocol with that package's own
// documents, but answers for itself. A micro endpoint counts a request as served
// when its handler returns, which here is when the work begins; it does not say
// when its subscription is drained, which an orderly stop has to know.

// announce subscribes to the verbs of discovery.
func (p *Provider) announce() error {
	for verb, answer := range map[micro.Verb]func() any{
		micro.PingVerb:  func() any { return micro.Ping{ServiceIdentity: p.identity(), Type: micro.PingResponseType} },
		micro.InfoVerb:  func() any { return p.info() },
		micro.StatsVerb: func() any { return p.stats() },
	} {
		for _, at := range [][2]string{{"", ""}, {protocol.ServiceName, ""}, {protocol.ServiceName, p.id}} {
			subject, err := micro.ControlSubject(verb, at[0], at[1])
			if err != nil {
				return err
			}
			sub, err := p.nc.Subscribe(subject, func(msg *nats.Msg) {
				doc, err := json.Marshal(answer())
				if err == nil {
					err = msg.Respond(doc)
				}
				if err != nil {
					p.cfg.Log.Warn().Err(err).Str("subject", msg.Subject).Msg("discovery")
				}
			})
			if err != nil {
				return err
			}
			p.others = append(p.others, sub)
		}
	}
	return nil
}

func (p *Provider) identity() micro.ServiceIdentity {
	return micro.ServiceIdentity{
		Name:    protocol.ServiceName,
		ID:      p.id,
		Version: p.cfg.Version,
		Metadata: map[string]string{
			"protocolVersion": protocol.Version,
			"policyHash":      p.cfg.Engine.PolicyHash(),
		},
	}
}

const (
	endpointCheck  = "check"
	endpointScoped = "check-scoped"
	endpointStatus = "status"
)

func (p *Provider) endpoints() [][2]string {
	s := p.cfg.Subjects
	return [][2]string{
		{endpointCheck, s.On(protocol.ChannelCheck, "")},
		{endpointScoped, s.All(protocol.ChannelCheck)},
		{endpointStatus, s.On(protocol.ChannelStatus, "")},
	}
}

func (p *Provider) info() micro.Info {
	info := micro.Info{
		ServiceIdentity: p.identity(),
		Type:            micro.InfoResponseType,
		Description:     "Answers whether an agent may do what it is about to do.",
	}
	for _, e := range p.endpoints() {
		info.Endpoints = append(info.Endpoints, micro.EndpointInfo{Name: e[0], Subject: e[1], QueueGroup: protocol.QueueGroup})
	}
	return info
}

// stats reports our own counts. The data of the first endpoint is those of the
// instance as a whole.
func (p *Provider) stats() micro.Stats {
	stats := micro.Stats{ServiceIdentity: p.identity(), Type: micro.StatsResponseType, Started: p.started.UTC()}
	for _, e := range p.endpoints() {
		s := &micro.EndpointStats{Name: e[0], Subject: e[1], QueueGroup: protocol.QueueGroup}
		switch e[0] {
		case endpointCheck:
			p.counters.plain.report(s)
			s.Data, _ = json.Marshal(p.Counts()) // plain numbers: it cannot fail
		case endpointScoped:
			p.counters.scoped.report(s)
		}
		stats.Endpoints = append(stats.Endpoints, s)
	}
	return stats
}

func (c *endpointCounters) report(s *micro.EndpointStats) {
	s.NumRequests = int(c.requests.Load())
	s.NumErrors = int(c.errors.Load())
	if last := c.lastError.Load(); last != nil {
		s.LastError = *last
	}
	s.ProcessingTime = time.Duration(c.answerTime.Load())
	if s.NumRequests > 0 {
		s.AverageProcessingTime = s.ProcessingTime / time.Duration(s.NumRequests)
	}
}
