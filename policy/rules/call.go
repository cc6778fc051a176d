package rules

import (
	"fmt"
	"slices"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// OwnName returns the name of a check's tool before any map line:
// attributes.toolName, or <kind>.<operation>.
func OwnName(c *protocol.Check) string {
	a := &c.Action
	if a.Attributes.ToolName != "" {
		return a.Attributes.ToolName
	}
	if name, ok := ownNames[kindOperation{a.Resource.Kind, a.Operation}]; ok {
		return name
	}
	return a.Resource.Kind + "." + a.Operation
}

type kindOperation struct{ kind, operation string }

// ownNames saves the most usual names from being put together again.
var ownNames = func() map[kindOperation]string {
	names := make(map[kindOperation]string)
	for kind, operations := range map[string][]string{
		protocol.KindFile:    {protocol.OpRead, protocol.OpWrite, protocol.OpDelete, protocol.OpList, protocol.OpStat},
		protocol.KindProcess: {protocol.OpExec, protocol.OpSpawn},
	} {
		for _, o := range operations {
			names[kindOperation{kind, o}] = kind + "." + o
		}
	}
	return names
}()

// Name finds the names of a check's call.
//
// Where the input has no command, each target of a process action gives one,
// and the call has the names of all of them, in their order. A command's names
// are, in order: that of the first regex or word line that fits, and those of
// its quoted commands, as they stand in the source, one for each command that
// has one. The own name is last, where the specification asks for it: no regex
// or word line named a command, and one in it has no name, or nothing was read
// as shell.
//
// What can't be known is handled so that nothing slips through:
//
//   - A command has a name when it plainly is what the line says. Unless that is
//     sure (see zones/programs), and where variables steer what it runs or the
//     shell opens files for it, it counts as one without a name besides: what its
//     name is granted, all of it isn't.
//   - A command that may have a name, because of a word that isn't known, is a
//     Doubt; so is one that runs others which nobody can see, and source that is
//     opaque. They have no name either.
//   - A field that isn't text is read as JSON by regexes and words; an array of
//     strings is an argument vector. Whatever else can't be read is a Doubt.
func (n *Namer) Name(c *protocol.Check, into *Names) {
	into.List, into.Doubts = into.List[:0], into.Doubts[:0]
	own := OwnName(c)
	t := n.tools[own]
	if t == nil {
		into.List = append(into.List, own)
		return
	}
	in := naming{Names: into, tool: t, lines: t.lines}
	var buffer [4]value
	if len(t.fields) > 0 {
		in.values = readFields(c.Action.Attributes.Input, t.fields, buffer[:0], into)
	}
	if len(t.actions) > 0 {
		switch v := &in.values[slices.Index(t.fields, fieldAction)]; v.kind {
		case valueMissing:
		case valueText:
			if a, ok := t.actions[v.text]; ok {
				own, in.lines = a.name, a.lines
			}
		default:
			into.doubt(v.text, "", "input.action is not text")
		}
	}
	if i := slices.Index(t.fields, fieldCommand); i >= 0 && in.values[i].empty() && c.Action.Resource.Kind == protocol.KindProcess {
		for k := range c.Action.Targets {
			in.values[i] = commandOf(&c.Action.Targets[k])
			in.name(k > 0, i)
		}
	} else {
		in.name(false, 0)
	}
	if in.unnamed && !slices.Contains(into.List, own) {
		into.List = append(into.List, own)
	}
}

func commandOf(t *protocol.Target) value {
	if t.Argv != nil {
		return argvValue(t.Argv)
	}
	return value{kind: valueText, text: t.Command}
}

// naming is one call on its way to its names.
type naming struct {
	*Names
	tool    *tool
	lines   *lines
	values  []value // of the tool's fields
	unnamed bool    // the call has its own name, too
}

// name adds the names of the call with the values as they are. again says that
// all but the value of one field were looked at before.
func (in *naming) name(again bool, only int) {
	whole, of := in.whole()
	first := len(in.List)
	shell, all := false, true
	for i, quoted := range in.lines.quoted {
		v := &in.values[i]
		if len(quoted) == 0 || v.kind == valueMissing || again && i != only {
			continue
		}
		shell = true
		all = in.commands(v, quoted) && all
	}
	switch {
	case whole == "":
		in.unnamed = in.unnamed || !shell || !all
	case again && of != only && slices.Contains(in.List, whole):
		// A line on another field named the call before.
	case !slices.Contains(in.List[first:], whole):
		in.List = slices.Insert(in.List, first, whole)
	}
}

// whole returns the name of the first regex or word line that fits, and the
// field it looks at.
func (in *naming) whole() (name string, field int) {
	var hay haystack
	at := -1 // the field that hay holds
	long := -1
	for i := range in.lines.whole {
		l := &in.lines.whole[i]
		v := &in.values[l.field]
		switch {
		case v.kind == valueMissing:
			continue
		case len(v.text) > MaxField:
			if long != l.field {
				long = l.field
				in.doubt(v.text, "", fmt.Sprintf("input.%s has more than %d bytes", in.tool.fields[l.field], MaxField))
			}
			continue
		}
		if at != l.field {
			at, hay = l.field, haystack{text: v.text}
		}
		if l.pattern.fits(&hay) {
			return l.name, l.field
		}
	}
	return "", -1
}
