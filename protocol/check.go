package protocol

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Kinds of resource.
const (
	KindFile    = "file"
	KindProcess = "process"
	KindNetwork = "network" // reserved: judged only where the provider's policy opts in
	KindCustom  = "custom"  // reserved, likewise
)

// Operations on files and processes.
const (
	OpRead   = "read"
	OpWrite  = "write"
	OpDelete = "delete"
	OpList   = "list"
	OpStat   = "stat"
	OpExec   = "exec"
	OpSpawn  = "spawn"
)

// Check says: I am about to perform this action on this resource. Should I?
type Check struct {
	ProtocolVersion string  `json:"protocolVersion"`
	RequestID       string  `json:"requestId"`
	Caller          Caller  `json:"caller"`
	Action          Action  `json:"action"`
	Context         Context `json:"context,omitzero"`
	Options         Options `json:"options,omitzero"`
}

// Caller is who asks.
type Caller struct {
	ExtensionID string `json:"extensionId"`
	AgentID     string `json:"agentId,omitzero"`
	SwarmID     string `json:"swarmId,omitzero"`
}

// Action is what the caller is about to do.
type Action struct {
	Resource   Resource   `json:"resource"`
	Operation  string     `json:"operation"`
	Targets    []Target   `json:"targets"`
	Attributes Attributes `json:"attributes,omitzero"`
}

// Resource is what kind of thing the action touches. Type is the caller's own
// word for it and has no meaning here.
type Resource struct {
	Kind string `json:"kind"`
	Type string `json:"type,omitzero"`
}

// Target is one thing that the action touches. A file has URI or Path (where it
// has both, both are judged) and may have RealPath, the caller's own resolution
// of links. A process has either Command, shell source, or Argv, exact words
// with no shell in between; its URI is carried and not judged.
type Target struct {
	URI      string `json:"uri,omitzero"`
	Path     string `json:"path,omitzero"`
	RealPath string `json:"realPath,omitzero"`
	Command  string `json:"command,omitzero"`
	Argv     Words  `json:"argv,omitzero"`
}

// Attributes is free. The named fields have a meaning for policies; Extra
// carries everything else, as a JSON object.
type Attributes struct {
	ToolName     string         `json:"toolName,omitzero"`
	Input        jsontext.Value `json:"input,omitzero"` // the tool's own input, a JSON object
	Content      string         `json:"content,omitzero"`
	DiffLines    Count          `json:"diffLines,omitzero"`
	LinesAdded   Count          `json:"linesAdded,omitzero"`
	LinesRemoved Count          `json:"linesRemoved,omitzero"`
	Tokens       Count          `json:"tokens,omitzero"`
	CostUSD      float64        `json:"costUsd,omitzero"`
	Extra        jsontext.Value `json:",embed"`
}

// Context is where the action happens.
type Context struct {
	Cwd       string `json:"cwd,omitzero"`
	Home      string `json:"home,omitzero"`
	SessionID string `json:"sessionId,omitzero"`
	RunID     string `json:"runId,omitzero"`
}

// Options is how the caller wants to be answered.
type Options struct {
	Interactive bool   `json:"interactive,omitzero"` // the caller can ask its user
	TimeoutMs   Millis `json:"timeoutMs,omitzero"`   // how long the caller waits; 0: DefaultTimeoutMs
}

// Timeout returns how long the caller waits.
func (o Options) Timeout() time.Duration {
	if o.TimeoutMs == 0 {
		return DefaultTimeoutMs * time.Millisecond
	}
	return time.Duration(o.TimeoutMs) * time.Millisecond
}

// escapeScope keeps a slash in a scope or an extension from naming the state of
// another scope.
var escapeScope = strings.NewReplacer("%", "%25", "/", "%2F")

// Session names the state that stateful policies keep for this check: the
// session, or without one the extension in its scope. The two cannot collide.
func (c *Check) Session(scope string) string {
	if c.Context.SessionID != "" {
		return "s/" + c.Context.SessionID
	}
	return "e/" + escapeScope.Replace(scope) + "/" + c.Caller.ExtensionID
}

func (c *Check) leaveOut() { c.Action.Attributes.leaveOut() }

// DecodeCheck reads and validates a check. The error names the field, or says
// that the version, kind or operation is not supported.
func DecodeCheck(doc []byte) (*Check, *Error) { return decode[Check](doc) }

// Validate says what is wrong with the check; nil means that it may be sent.
// It does not know which kinds a provider's policy opts in to: "network" and
// "custom" are valid here.
func (c *Check) Validate() *Error {
	if err := checkVersion(c.ProtocolVersion); err != nil {
		return err
	}
	if err := checkRequestID(c.RequestID); err != nil {
		return err
	}
	if err := c.Caller.validate("caller", true); err != nil {
		return err
	}
	if err := c.Action.validate(); err != nil {
		return err
	}
	if err := c.Context.validate(); err != nil {
		return err
	}
	if t := c.Options.TimeoutMs; t < 0 || t > MaxTimeoutMs {
		return invalid("options.timeoutMs", "must be from %d to %d (milliseconds), not %d", MinTimeoutMs, MaxTimeoutMs, t)
	}
	return nil
}

func (c Caller) validate(field string, required bool) *Error {
	if required && c.ExtensionID == "" {
		return missing(field + ".extensionId")
	}
	for _, n := range [...]named{{".extensionId", c.ExtensionID}, {".agentId", c.AgentID}, {".swarmId", c.SwarmID}} {
		if len(n.value) > MaxName { // else no field needs to be named
			if err := checkNames(named{field + n.field, n.value}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c Context) validate() *Error {
	return checkNames(named{"context.sessionId", c.SessionID}, named{"context.runId", c.RunID})
}

func (a *Action) validate() *Error {
	if a.Resource.Kind == "" {
		return missing("action.resource.kind")
	}
	if a.Operation == "" {
		return missing("action.operation")
	}
	if err := checkNames(
		named{"action.resource.type", a.Resource.Type},
		named{"action.operation", a.Operation},
		named{"action.attributes.toolName", a.Attributes.ToolName},
	); err != nil {
		return err
	}
	switch a.Resource.Kind {
	case KindFile:
		switch a.Operation {
		case OpRead, OpWrite, OpDelete, OpList, OpStat:
		default:
			return unsupportedOperation(a, "read, write, delete, list or stat")
		}
	case KindProcess:
		switch a.Operation {
		case OpExec, OpSpawn:
		default:
			return unsupportedOperation(a, "exec or spawn")
		}
	case KindNetwork, KindCustom:
	default:
		return &Error{Code: CodeUnsupportedKind, Field: "action.resource.kind",
			Problem: fmt.Sprintf("%s is not supported; write file or process", quote(a.Resource.Kind))}
	}
	if len(a.Targets) == 0 {
		return invalid("action.targets", "must have at least one target")
	}
	if len(a.Targets) > MaxTargets {
		return invalid("action.targets", "has %d targets; at most %d are taken, send several checks", len(a.Targets), MaxTargets)
	}
	for i := range a.Targets {
		if field, problem := a.Targets[i].problem(a.Resource.Kind); problem != "" {
			at := fmt.Sprintf("action.targets[%d]", i)
			if field != "" {
				at += "." + field
			}
			return invalid(at, "%s", problem)
		}
	}
	return a.Attributes.validate()
}

func unsupportedOperation(a *Action, want string) *Error {
	return &Error{Code: CodeUnsupportedOperation, Field: "action.operation",
		Problem: fmt.Sprintf("%s is not an operation on a %s; write %s", quote(a.Operation), a.Resource.Kind, want)}
}

func (t *Target) problem(kind string) (field, problem string) {
	switch kind {
	case KindFile:
		switch {
		case t.URI == "" && t.Path == "":
			return "", "must have a uri (file:) or a path"
		case t.Command != "":
			return "command", "belongs to a process, not to a file; send a second check for the process"
		case t.Argv != nil:
			return "argv", "belongs to a process, not to a file; send a second check for the process"
		}
	case KindProcess:
		switch {
		case t.Command == "" && len(t.Argv) == 0:
			return "", "must have a command (shell source) or an argv (the words, program first)"
		case t.Command != "" && t.Argv != nil:
			return "", "has command and argv; give command (shell source) or argv (the whole command line, program first), not both"
		}
	}
	if len(t.Argv) > 0 && t.Argv[0] == "" {
		return "argv[0]", "must name the program"
	}
	return "", ""
}

// leaveOut drops an input that is null, which counts as left out: a raw value
// would keep the word.
func (a *Attributes) leaveOut() {
	if a.Input.Kind() == 'n' {
		a.Input = nil
	}
}

func (a *Attributes) validate() *Error {
	if k := a.Input.Kind(); a.Input != nil && k != '{' && k != 'n' {
		return invalid("action.attributes.input", "must be an object, not %s", article(a.Input.Kind()))
	}
	for _, n := range [...]struct {
		field string
		n     Count
	}{
		{"diffLines", a.DiffLines}, {"linesAdded", a.LinesAdded}, {"linesRemoved", a.LinesRemoved}, {"tokens", a.Tokens},
	} {
		if err := checkCount("action.attributes.", n.field, n.n); err != nil {
			return err
		}
	}
	return checkCost("action.attributes.", a.CostUSD)
}
