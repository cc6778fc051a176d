package rules

import (
	"fmt"
	"slices"

	"github.com/guardrails-provider/guardrails-provider/policy/petri"
)

// Nets compiles the rules of all texts, one net each, in their order. A rule
// that stands in several texts becomes one net: two would always agree.
func Nets(texts ...*Text) []petri.Definition {
	var nets []petri.Definition
	seen := make(map[string]bool)
	for _, t := range texts {
		for _, r := range t.Rules {
			if name := r.String(); !seen[name] {
				seen[name] = true
				nets = append(nets, r.Net())
			}
		}
	}
	return nets
}

// Net returns the rule as a net. It restricts and never grants. It has at most
// one place and one transition for each tool that it names, so that which of them
// covers a call is never a matter of order, and its states are few: at most one
// more than its initial tokens, or two.
func (r Rule) Net() petri.Definition {
	d := petri.Definition{Name: r.String(), Restricts: true}
	switch r.Kind {
	case KindRequire:
		r.require(&d)
	case KindApproval:
		// Nothing to hold: the transition is always enabled, and never fires
		// without an approval.
		d.Transitions = []petri.Transition{{
			Name: r.Tool, Manual: true, Tools: []string{r.Tool},
			Reason: r.Tool + " requires human approval.",
		}}
	case KindLimitPerSession:
		// Every call that is let through takes one of Max tokens, and nothing
		// ever puts one back.
		d.Places = []string{"left"}
		d.InitialMarking = map[string]int{"left": r.Max}
		d.Transitions = []petri.Transition{{
			Name: r.Tool, Inputs: []string{"left"}, Tools: []string{r.Tool},
			Reason: fmt.Sprintf("%s is limited to %d per session.", r.Tool, r.Max),
		}}
	case KindLimitPerTool:
		r.limitPerTool(&d)
	default: // block, and what is no rule: nothing is let through
		// No token ever comes to the place that the tool needs.
		d.Places = []string{"never"}
		d.Transitions = []petri.Transition{{
			Name: r.Tool, Inputs: []string{"never"}, Tools: []string{r.Tool},
			Reason: r.Tool + " is blocked by a rule.",
		}}
	}
	return d
}

// require lets Tool through only after Other succeeded since Tool was last let
// through. The place done holds a token exactly while that is so:
//
//   - At first it is empty: Other has not succeeded.
//   - Tool takes the token when it is let through, not when it succeeds: a
//     second Tool needs a second success even while the first is pending.
//   - Other empties done and puts one token there when it succeeds. It has no
//     other condition: it is never held back, and a pending one is still enabled
//     whatever happened since its check. Two successes in a row, or any number
//     of pendings, leave one token: they make one Tool possible and not two.
//
// Without the reset, two transitions of Other would be needed, one for an empty
// done and one that only reads it. A pending of the second kind, overtaken by
// Tool, would no longer be enabled when it succeeds, and its success be lost.
func (r Rule) require(d *petri.Definition) {
	d.Places = []string{"done"}
	d.Transitions = []petri.Transition{
		{
			Name: r.Other, Deferred: true, Tools: []string{r.Other},
			Reset: []string{"done"}, Outputs: []string{"done"},
		},
		{
			Name: r.Tool, Inputs: []string{"done"}, Tools: []string{r.Tool},
			Reason: fmt.Sprintf("%s requires a successful call to %s first.", r.Tool, r.Other),
		},
	}
}

// limitPerTool lets Tool through Max times, until Other succeeds. The place
// left holds what is left of the budget, which is full at first:
//
//   - Tool takes a token when it is let through. Its own result changes nothing:
//     a call that failed was made.
//   - Other, when it succeeds, empties left and puts Max tokens there: the whole
//     budget, never more than it, whatever was left and however often it
//     succeeds. It has no condition, so that it is never held back and still
//     enabled at its result.
func (r Rule) limitPerTool(d *petri.Definition) {
	d.Places = []string{"left"}
	d.InitialMarking = map[string]int{"left": r.Max}
	d.Transitions = []petri.Transition{
		{
			Name: r.Other, Deferred: true, Tools: []string{r.Other},
			Reset: []string{"left"}, Outputs: slices.Repeat([]string{"left"}, r.Max),
		},
		{
			Name: r.Tool, Inputs: []string{"left"}, Tools: []string{r.Tool},
			Reason: fmt.Sprintf("%s is limited to %d per successful call to %s.", r.Tool, r.Max, r.Other),
		},
	}
}
