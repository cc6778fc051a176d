package policy

import (
	"regexp"

	"github.com/guardrails-provider/guardrails-provider/policy/source"
	"github.com/guardrails-provider/guardrails-provider/protocol"
	"github.com/guardrails-provider/guardrails-provider/zones"
	"github.com/guardrails-provider/guardrails-provider/zones/programs"
)

// idPattern keeps names readable in reasons, subjects and file names.
var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func (f *format) readZones(v source.Value) {
	elements, _ := v.List()
	for _, e := range elements {
		if m, ok := e.Mapping(); ok {
			f.zones.Zones = append(f.zones.Zones, f.readZone(m))
		}
	}
}

func (f *format) readZone(m *source.Mapping) (z zones.Zone) {
	if v, ok := m.Need("id", "give every zone a name of its own"); ok {
		if id, ok := v.Text(); ok {
			if first, taken := f.zoneIDs[id]; taken {
				v.Mistake("%q is taken already, at %s; give every zone a name of its own", id, first.Position())
			} else if !idPattern.MatchString(id) {
				v.Mistake("%q is not a name; write letters, digits, dots, dashes and underscores, at most 64", id)
			}
			if _, taken := f.zoneIDs[id]; !taken {
				f.zoneIDs[id] = v
			}
			z.ID = id
		}
	}
	pathValue, hasPath := m.Get("path")
	matchValue, hasMatch := m.Get("match")
	switch {
	case hasPath && hasMatch:
		matchValue.Mistake("stands beside path; a zone has one of them, write two zones")
	case !hasPath && !hasMatch:
		m.Mistake("has neither path nor match; write where the zone is, such as path: \".\"")
	}
	if hasPath {
		if text, ok := pathValue.Text(); ok {
			if err := zones.CheckPath(text); err != nil {
				pathValue.Mistake("%v", err)
			}
			z.Path = text
		}
	}
	if hasMatch {
		z.Match = readMatch(matchValue)
	}
	if v, ok := m.Get("protect"); ok {
		z.Protect, _ = v.Bool()
	}
	if v, ok := m.Get("reason"); ok {
		z.Reason, _ = v.Text()
	}
	files, hasFiles := m.Get("files")
	if hasFiles {
		z.Files = readFiles(files)
	}
	commands, hasCommands := m.Get("commands")
	if hasCommands {
		z.Commands = readCommands(commands)
	}
	if !hasFiles && !hasCommands {
		m.Mistake("has neither files nor commands, so it has no opinion; write one, such as files: allow")
	}
	m.Done()
	return z
}

func readMatch(v source.Value) (patterns []string) {
	texts, ok := v.Texts()
	if ok && len(texts) == 0 {
		v.Mistake("is an empty list; write patterns such as **/.env")
	}
	for _, t := range texts {
		if err := zones.CheckGlob(t.Text); err != nil {
			t.At.Mistake("%v", err)
			continue
		}
		patterns = append(patterns, t.Text)
	}
	return patterns
}

func readFiles(v source.Value) zones.Files {
	if !v.IsMapping() {
		if d, ok := v.OneOf("allow", "ask", "block"); ok {
			return zones.Files{"*": protocol.Verdict(d)}
		}
		return nil
	}
	m, ok := v.Mapping()
	if !ok {
		return nil
	}
	files := make(zones.Files)
	for _, op := range []string{protocol.OpRead, protocol.OpWrite, protocol.OpDelete, protocol.OpList, protocol.OpStat, "*"} {
		if v, ok := m.Get(op); ok {
			if d, ok := v.OneOf("allow", "ask", "block"); ok {
				files[op] = protocol.Verdict(d)
			}
		}
	}
	m.Done()
	if m.Empty() {
		v.Mistake("names no operation; write read, write, delete, list, stat or \"*\"")
	}
	return files
}

// commandModes are the modes by the keys under which patterns stand, too.
var commandModes = []string{"allow", "safe-only", "ask", "block"}

func readCommands(v source.Value) *zones.Commands {
	if !v.IsMapping() {
		if text, ok := v.OneOf(commandModes...); ok {
			mode, _ := zones.ParseMode(text)
			return &zones.Commands{Default: mode, HasDefault: true}
		}
		return nil
	}
	m, ok := v.Mapping()
	if !ok {
		return nil
	}
	c := new(zones.Commands)
	before := v.Mistakes()
	if v, ok := m.Get("default"); ok {
		if text, ok := v.OneOf(commandModes...); ok {
			c.Default, _ = zones.ParseMode(text)
			c.HasDefault = true
		}
	}
	for _, key := range commandModes {
		v, ok := m.Get(key)
		if !ok {
			continue
		}
		mode, _ := zones.ParseMode(key)
		texts, _ := v.Texts()
		for _, t := range texts {
			pattern, err := programs.ParsePattern(t.Text)
			if err != nil {
				t.At.Mistake("%v", err)
				continue
			}
			c.Rules = append(c.Rules, zones.CommandRule{Pattern: pattern, Mode: mode})
		}
	}
	m.Done()
	if v.Mistakes() == before && !c.HasDefault && len(c.Rules) == 0 {
		v.Mistake("says nothing; write default: ask, or patterns under allow, safe-only, ask or block")
	}
	return c
}
