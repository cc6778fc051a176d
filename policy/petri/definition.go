package petri

// Definition is a net as a policy writes it, before it is compiled. Names are
// unique within their kind. The zero value is a net without a transition, which
// has no opinion on anything.
type Definition struct {
	Name           string
	Places         []string
	TerminalPlaces []string
	FreeTools      []string
	InitialMarking map[string]int // a place that is left out has no token
	Transitions    []Transition   // the order matters: the first enabled one covers a call
	// Restricts says that the net never grants: it only blocks. The nets of rules
	// do; those of a policy's nets section grant.
	Restricts bool
}

// Transition is one transition of a Definition. Inputs and Outputs may name a
// place several times: so many tokens.
type Transition struct {
	Name     string
	Manual   bool // needs an approval before it fires
	Operator bool // with Manual: the approval of an operator
	Inputs   []string
	Outputs  []string
	Read     []string // must hold a token, which stays
	Inhibit  []string // must be empty
	Reset    []string // emptied when it fires
	Tools    []string // empty and not Manual: structural, fires by itself
	Deferred bool     // fires when the result says success
	Reserve  bool     // with Deferred: its input tokens are held from check to result
	// Reason replaces the words in which a block says what the net asks for.
	Reason string
}
