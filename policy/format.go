package policy

import (
	"time"

	"github.com/guardrails-provider/guardrails-provider/policy/source"
	"github.com/guardrails-provider/guardrails-provider/protocol"
	"github.com/guardrails-provider/guardrails-provider/zones"
)

// laterSections are parts of the format that this version does not decide by.
// To ignore one would be to allow what it forbids, so they are mistakes.
var laterSections = []string{
	"nets", "rules", "rulesFiles", "active", "gates", "tools", "budgets", "evaluators", "assertions",
}

// format gathers one policy from its files. Lists add up; a setting stands once.
type format struct {
	mistakes *source.Mistakes
	setBy    map[string]source.Value // where each setting stands
	policy   Policy
	zones    zones.Config
	zoneIDs  map[string]source.Value
}

func newFormat(mistakes *source.Mistakes) *format {
	return &format{
		mistakes: mistakes,
		setBy:    make(map[string]source.Value),
		zoneIDs:  make(map[string]source.Value),
		policy: Policy{
			mode:     ModeEnforce,
			fallback: protocol.VerdictAsk,
			kinds:    make(map[string]bool),
			times:    DefaultTimes(),
		},
	}
}

// once is Get for a setting that may stand in one of the files only.
func (f *format) once(m *source.Mapping, key string) (source.Value, bool) {
	v, ok := m.Get(key)
	if !ok {
		return v, false
	}
	if first, set := f.setBy[v.Path()]; set {
		v.Mistake("is set already, at %s; set it in one file", first.Position())
		return v, false
	}
	f.setBy[v.Path()] = v
	return v, true
}

func (f *format) read(v source.Value) {
	m, ok := v.Mapping()
	if !ok {
		return
	}
	if v, ok := m.Need("version", "begin the file with version: 1"); ok {
		if n, ok := v.Integer(); ok && n != 1 {
			v.Mistake("must be 1, not %d", n)
		}
	}
	if v, ok := f.once(m, "mode"); ok {
		if mode, ok := v.OneOf(string(ModeEnforce), string(ModeShadow)); ok {
			f.policy.mode = Mode(mode)
		}
	}
	if v, ok := f.once(m, "default"); ok {
		if d, ok := v.OneOf("allow", "ask", "block"); ok {
			f.policy.fallback = protocol.Verdict(d)
		}
	}
	if v, ok := f.once(m, "home"); ok {
		if home, ok := v.Text(); ok {
			if err := zones.CheckHome(home); err != nil {
				v.Mistake("%v", err)
			}
			f.zones.Home = home
		}
	}
	if v, ok := f.once(m, "kinds"); ok {
		f.readKinds(v)
	}
	if v, ok := f.once(m, "resolveSymlinks"); ok {
		f.zones.ResolveSymlinks, _ = v.Bool()
	}
	if v, ok := m.Get("zones"); ok {
		f.readZones(v)
	}
	if m, ok := section(m, "asks"); ok {
		f.duration(m, "expire", &f.policy.times.AskExpire)
		if v, ok := f.once(m, "operator"); ok {
			if operator, ok := v.Bool(); ok && operator {
				v.Mistake("operators are not supported by this version; write false, or take the key out")
			}
		}
		m.Done()
	}
	if m, ok := section(m, "state"); ok {
		f.duration(m, "idle", &f.policy.times.StateIdle)
		f.duration(m, "lease", &f.policy.times.StateLease)
		f.duration(m, "answers", &f.policy.times.Answers)
		if v, ok := f.once(m, "sync"); ok {
			v.OneOf("default", "always")
		}
		m.Done()
	}
	if m, ok := section(m, "runs"); ok {
		f.duration(m, "idle", &f.policy.times.RunIdle)
		m.Done()
	}
	if v, ok := f.once(m, "ledger"); ok {
		if l, ok := v.OneOf("async", "strict"); ok && l == "strict" {
			v.Mistake("the ledger is not supported by this version, so strict could not be kept; write async, or take the key out")
		}
	}
	for _, key := range laterSections {
		m.Refuse(key, "not supported by this version, which decides by zones; take it out, or it would be taken for protection that is not there")
	}
	m.Done()
}

func section(m *source.Mapping, key string) (*source.Mapping, bool) {
	v, ok := m.Get(key)
	if !ok {
		return nil, false
	}
	return v.Mapping()
}

func (f *format) duration(m *source.Mapping, key string, to *time.Duration) {
	if v, ok := f.once(m, key); ok {
		if d, ok := v.Duration(); ok {
			*to = d
		}
	}
}

func (f *format) readKinds(v source.Value) {
	elements, _ := v.List()
	for _, e := range elements {
		if kind, ok := e.OneOf(protocol.KindNetwork, protocol.KindCustom); ok {
			f.policy.kinds[kind] = true
		}
	}
}

func (f *format) compile(hash string) (*Policy, error) {
	set, err := zones.Compile(f.zones)
	if err != nil {
		return nil, err
	}
	p := f.policy
	p.hash, p.zones, p.numZones = hash, set, len(f.zones.Zones)
	return &p, nil
}
