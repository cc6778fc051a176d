package policy_test

import (
	"fmt"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

const exampleText = `version: 1
default: ask
zones:
  - id: workspace
    path: "."
    files: allow
    commands: { default: allow, ask: [git push] }
  - id: secrets
    match: ["**/.env"]
    protect: true
    files: block
    reason: Secrets stay on this machine.
`

func ExamplePolicy_Decide() {
	p, err := policy.Parse(policy.File{Name: "guardrails.yaml", Text: []byte(exampleText)})
	if err != nil {
		fmt.Println(err)
		return
	}
	check, problem := protocol.DecodeCheck([]byte(`{
		"protocolVersion": "1", "requestId": "abc-123",
		"caller": {"extensionId": "my-extension"},
		"action": {"resource": {"kind": "file"}, "operation": "read",
			"targets": [{"path": "main.go"}, {"path": "config/.env"}]},
		"context": {"cwd": "/repo"}
	}`))
	if problem != nil {
		fmt.Println(problem)
		return
	}
	v := p.Decide(check)
	fmt.Println(v.Decision, v.Code)
	for _, f := range v.Findings {
		fmt.Printf("target %d, %s: %s\n", *f.Target, f.Decision, f.Reason)
	}
	// Output:
	// block policy
	// target 0, allow: Reading /repo/main.go is allowed in zone workspace.
	// target 1, block: Reading /repo/config/.env is not allowed in zone secrets: Secrets stay on this machine.
}

func ExamplePolicy_Decide_command() {
	p, err := policy.Parse(policy.File{Name: "guardrails.yaml", Text: []byte(exampleText)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, command := range []string{
		"git commit -m 'then git push'",
		"git commit -m done && git -C sub push",
		"cat .env",
		"$TOOL x",
	} {
		v := p.Decide(&protocol.Check{
			Action: protocol.Action{
				Resource:  protocol.Resource{Kind: protocol.KindProcess},
				Operation: protocol.OpExec,
				Targets:   []protocol.Target{{Command: command}},
			},
			Context: protocol.Context{Cwd: "/repo"},
			Options: protocol.Options{Interactive: true},
		})
		fmt.Println(v.Decision, command)
	}
	// Output:
	// allow git commit -m 'then git push'
	// ask git commit -m done && git -C sub push
	// block cat .env
	// ask $TOOL x
}

// All mistakes are reported at once, each with its place.
func ExampleParse() {
	_, err := policy.Parse(policy.File{Name: "guardrails.yaml", Text: []byte(`version: 1
defualt: block
zones:
  - id: workspace
    path: repo
    files: { read: allow, write: deny }
`)})
	fmt.Println(err)
	// Output:
	// guardrails.yaml:2:1: defualt: unknown key; did you mean default?
	// guardrails.yaml:5:11: zones[0].path: "repo" is relative; write an absolute path, such as /repo, ~/workspace or "."
	// guardrails.yaml:6:34: zones[0].files.write: must be allow, ask or block, not "deny"
}
