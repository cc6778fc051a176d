package expr

import (
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// Vars are what an expression is evaluated over. Nothing in it is changed.
type Vars struct {
	Input   Object
	Tool    string          // the name as which the call is judged
	Check   *protocol.Check // targets, context and caller; nil: there are none
	Meta    Meta
	Marking map[string]int // every place of the net, the empty ones too
}

// Holds evaluates the guard. With an error it is false, and the call is not to be
// let through.
func (g *Guard) Holds(v *Vars) (bool, error) {
	out, err := g.run(v)
	if err != nil {
		return false, err
	}
	b, ok := out.(types.Bool)
	if !ok {
		return false, fmt.Errorf("%w: the guard is %s and not bool", ErrFailed, out.Type().TypeName())
	}
	return bool(b), nil
}

// Keep evaluates records, all over the same variables, and returns meta with
// what they yield. With an error it returns v.Meta as it was.
func Keep(records []*Record, v *Vars) (Meta, error) {
	if len(records) == 0 {
		return v.Meta, nil
	}
	changes := make(map[string]ref.Val, len(records))
	for _, r := range records {
		out, err := r.run(v)
		if err == nil {
			out, err = r.env.fit(r.key, out)
		}
		if err != nil {
			return v.Meta, fmt.Errorf("record of meta.%s: %w", r.key, err)
		}
		changes[r.key] = out
	}
	return Meta{v.Meta.values.with(changes)}, nil
}

// run evaluates the expression; a panic is an error like any other.
func (p *program) run(v *Vars) (out ref.Val, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			out, err = nil, fmt.Errorf("%w: panic: %s", ErrFailed, shorten(fmt.Sprint(cause)))
		}
	}()
	if p.program == nil {
		return nil, fmt.Errorf("%w: there is no expression", ErrFailed)
	}
	out, _, err = p.program.Eval(&activation{vars: v})
	switch {
	case err != nil:
		return nil, p.explain(err)
	case out == nil || types.IsUnknownOrError(out):
		return nil, fmt.Errorf("%w: it has no value", ErrFailed)
	}
	return out, nil
}

// explain puts an error of CEL's interpreter into plain words, with its position.
func (p *program) explain(err error) error {
	var cancelled interpreter.EvalCancelledError
	if errors.As(err, &cancelled) && cancelled.Cause == interpreter.CostLimitExceeded {
		return fmt.Errorf("%w: the evaluation costs more than %d", ErrLimit, MaxCost)
	}
	at := ""
	var failed *types.Err
	if errors.As(err, &failed) && failed.NodeID() != 0 {
		l := p.ast.NativeRep().SourceInfo().GetStartLocation(failed.NodeID())
		if l.Line() > 0 {
			at = fmt.Sprintf("%d:%d: ", l.Line(), l.Column()+1)
		}
	}
	problem := shorten(err.Error())
	if key, ok := strings.CutPrefix(problem, "no such key: "); ok {
		problem = "there is no " + key + "; where it may be missing, ask with has() first"
	}
	return fmt.Errorf("%w: %s%s", ErrFailed, at, problem)
}

// activation hands the variables to CEL, each made when it is first asked for.
type activation struct {
	vars                              *Vars
	targets, context, caller, marking ref.Val
	meta, input                       ref.Val
}

func (a *activation) Parent() cel.Activation { return nil }

func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case "input":
		if a.input == nil {
			a.input = orEmpty(a.vars.Input.values)
		}
		return a.input, true
	case "tool":
		return types.String(a.vars.Tool), true
	case "meta":
		if a.meta == nil {
			a.meta = &object{metaType, orEmpty(a.vars.Meta.values)}
		}
		return a.meta, true
	case "marking":
		if a.marking == nil {
			values := make(map[string]ref.Val, len(a.vars.Marking))
			for place, n := range a.vars.Marking {
				values[place] = types.Int(n)
			}
			a.marking = newMapping(values)
		}
		return a.marking, true
	case "targets":
		if a.targets == nil {
			a.targets = a.makeTargets()
		}
		return a.targets, true
	case "context":
		if a.context == nil {
			var c protocol.Context
			if a.vars.Check != nil {
				c = a.vars.Check.Context
			}
			a.context = texts(contextType, "cwd", c.Cwd, "home", c.Home, "runId", c.RunID, "sessionId", c.SessionID)
		}
		return a.context, true
	case "caller":
		if a.caller == nil {
			var c protocol.Caller
			if a.vars.Check != nil {
				c = a.vars.Check.Caller
			}
			a.caller = texts(callerType, "agentId", c.AgentID, "extensionId", c.ExtensionID, "swarmId", c.SwarmID)
		}
		return a.caller, true
	}
	return nil, false
}

func (a *activation) makeTargets() ref.Val {
	if a.vars.Check == nil {
		return newList(nil)
	}
	all := make([]ref.Val, 0, len(a.vars.Check.Action.Targets))
	for i := range a.vars.Check.Action.Targets {
		t := &a.vars.Check.Action.Targets[i]
		all = append(all, &object{targetType, &mapping{
			keys: targetFields,
			vals: []ref.Val{stringList(t.Argv), types.String(t.Command), types.String(t.Path), types.String(t.RealPath), types.String(t.URI)},
		}})
	}
	return newList(all)
}

var (
	noFields     = newMapping(nil)
	metaType     = newStructType("meta") // of values: the fields are each net's own
	targetFields = sortedKeys(targetType.fields)
)

func orEmpty(m *mapping) *mapping {
	if m == nil {
		return noFields
	}
	return m
}

// texts makes an object of fields and their texts, in the order of the names.
func texts(t *structType, pairs ...string) *object {
	m := &mapping{}
	for i := 0; i < len(pairs); i += 2 {
		m.keys = append(m.keys, pairs[i])
		m.vals = append(m.vals, types.String(pairs[i+1]))
	}
	return &object{t, m}
}

// adapter passes on what is a value of CEL already, and takes the rest as CEL
// does.
type adapter struct{}

func (adapter) NativeToValue(v any) ref.Val {
	if m, ok := v.(*mapping); ok {
		return m
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}
