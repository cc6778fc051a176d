package petri_test

import (
	"fmt"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/policy/petri"
)

// manyNets are nets of which two speak of each tool.
func manyNets(b *testing.B, count int) (*petri.Set, petri.View) {
	b.Helper()
	var nets []*petri.Net
	for i := range count {
		tool, next := fmt.Sprintf("tool%d", i), fmt.Sprintf("tool%d", (i+1)%count)
		nets = append(nets, compile(b, petri.Definition{Name: fmt.Sprintf("n%d", i), Places: []string{"ready", "done"}, InitialMarking: map[string]int{"ready": 1},
			Transitions: []petri.Transition{
				{Name: "a", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: []string{tool}},
				{Name: "b", Inputs: []string{"ready"}, Outputs: []string{"ready"}, Tools: []string{next}},
				{Name: "c", Inputs: []string{"done"}, Tools: []string{"last" + tool}},
			}}))
	}
	set, err := petri.NewSet(nets...)
	if err != nil {
		b.Fatal(err)
	}
	markings := make([]petri.Marking, count)
	for i := range markings {
		markings[i] = set.Net(i).Initial()
	}
	return set, func(i int) (petri.Marking, bool) { return markings[i], true }
}

func BenchmarkCall(b *testing.B) {
	for _, count := range []int{10, 1000, 10_000} {
		set, view := manyNets(b, count)
		for _, c := range []struct {
			name  string
			names []string
			want  petri.Verdict
		}{
			{"unknown", []string{"nobody"}, petri.Abstain},
			{"gated", []string{"tool3"}, petri.Gated},
			{"gated-three-names", []string{"tool3", "tool4", "tool3"}, petri.Gated},
			{"blocked", []string{"lasttool3"}, petri.Blocked},
		} {
			b.Run(fmt.Sprintf("nets=%d/%s", count, c.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p, err := set.Plan(petri.Call{ID: "c", Names: c.names}, view)
					if err != nil || p.Verdict() != c.want {
						b.Fatal(err)
					}
					if c.want == petri.Gated {
						if _, err := p.Commit(view, petri.NoApproval); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

func BenchmarkAnalyze(b *testing.B) {
	n := compile(b, twoMillion())
	for b.Loop() {
		n.Analyze(petri.LoadStates)
	}
}
