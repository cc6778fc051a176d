package zones_test

import (
	"fmt"

	"github.com/guardrails-provider/guardrails-provider/policy/opinion"
	"github.com/guardrails-provider/guardrails-provider/protocol"
	"github.com/guardrails-provider/guardrails-provider/zones"
)

func ExampleSet_Judge() {
	set, err := zones.Compile(zones.Config{Zones: []zones.Zone{
		{ID: "workspace", Path: ".", Files: zones.Files{"*": protocol.VerdictAllow}},
		{ID: "keys", Match: []string{"~/.ssh/**"}, Protect: true, Files: zones.Files{"*": protocol.VerdictBlock}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var o opinion.Opinion
	set.Judge(&protocol.Check{
		Action: protocol.Action{
			Resource:  protocol.Resource{Kind: protocol.KindFile},
			Operation: protocol.OpWrite,
			Targets:   []protocol.Target{{Path: "a.txt"}, {Path: "~/.ssh/config"}, {URI: "file:///etc/%2e%2e/var/x"}},
		},
		Context: protocol.Context{Cwd: "/home/dev/project", Home: "/home/dev"},
	}, &o)
	for _, f := range o.Findings {
		fmt.Println(f.Decision, f.Reason)
	}
	for _, u := range o.Ungranted {
		fmt.Println("nobody speaks for:", u.What)
	}
	// Output:
	// allow Writing /home/dev/project/a.txt is allowed in zone workspace.
	// block Writing /home/dev/.ssh/config is not allowed in zone keys.
	// nobody speaks for: Writing /var/x
}
