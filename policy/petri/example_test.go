package petri_test

import (
	"fmt"

	"github.com/guardrails-provider/guardrails-provider/policy/petri"
)

// Delete only after a successful backup, and a backup is good for one delete.
func Example() {
	net, err := petri.Compile(petri.Definition{
		Name:           "backups",
		Places:         []string{"ready", "backedUp"},
		InitialMarking: map[string]int{"ready": 1},
		Transitions: []petri.Transition{
			{Name: "backup", Inputs: []string{"ready"}, Outputs: []string{"ready", "backedUp"}, Tools: []string{"backup"}, Deferred: true},
			{Name: "delete", Inputs: []string{"backedUp"}, Tools: []string{"delete"}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	nets, _ := petri.NewSet(net)
	marking := net.Initial()
	view := func(int) (petri.Marking, bool) { return marking, true }
	call := func(tool string) []petri.Pending {
		plan, _ := nets.Plan(petri.Call{ID: "call of " + tool, Names: []string{tool}}, view)
		if plan.Verdict() == petri.Blocked {
			fmt.Println(plan.Opinions[0].Steps[0].Reason)
			return nil
		}
		change, err := plan.Commit(view, petri.NoApproval)
		if err != nil {
			fmt.Println(err)
			return nil
		}
		for _, n := range change.Nets {
			marking = n.After
		}
		fmt.Printf("%s: %v, then %s\n", tool, plan.Verdict(), net.Format(marking))
		return change.Pending
	}

	call("delete")
	pending := call("backup")
	change, _ := nets.Settle(pending, petri.Success, view)
	marking = change.Nets[0].After
	fmt.Println("the backup succeeded:", net.Format(marking))
	call("delete")
	// Output:
	// delete requires a successful call to backup first.
	// backup: gated, then ready:1, backedUp:0
	// the backup succeeded: ready:1, backedUp:1
	// delete: gated, then ready:1, backedUp:0
}

func ExampleSet_Prove() {
	net, _ := petri.Compile(petri.Definition{
		Name: "git", Places: []string{"working", "committed"}, InitialMarking: map[string]int{"working": 1},
		Transitions: []petri.Transition{
			{Name: "commit", Inputs: []string{"working"}, Outputs: []string{"committed"}, Tools: []string{"commit"}},
			{Name: "push", Inputs: []string{"committed"}, Outputs: []string{"working"}, Tools: []string{"push"}},
		},
	})
	nets, _ := petri.NewSet(net)
	for _, text := range []string{"never push before commit", "at most 1 push per session"} {
		a, err := petri.ParseAssertion(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(nets.Prove(a, petri.LoadStates))
	}
	// Output:
	// never push before commit: proved (4 states)
	// at most 1 push per session: refuted by commit, push, commit, push
}
