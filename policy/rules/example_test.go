package rules_test

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/guardrails-provider/guardrails-provider/policy/rules"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

func Example() {
	text, mistakes := rules.Parse(`
		map bash.command "git push" as push
		require test before push   # one test a push
		limit push to 3 per session
	`)
	if len(mistakes) > 0 {
		panic(mistakes)
	}
	for _, net := range rules.Nets(text) {
		t := net.Transitions[len(net.Transitions)-1]
		fmt.Println(t.Reason)
	}

	namer := rules.NewNamer(nil, text)
	var names rules.Names
	for _, command := range []string{`"git -C app push"`, `"git commit -m done && git push"`, `"echo 'git push'"`, `"sudo git push"`} {
		var c protocol.Check
		c.Action.Attributes.ToolName = "bash"
		c.Action.Attributes.Input = jsontext.Value(`{"command":` + command + `}`)
		namer.Name(&c, &names)
		fmt.Println(command, names.List, names.Doubts)
	}
	// Output:
	// push requires a successful call to test first.
	// push is limited to 3 per session.
	// "git -C app push" [push] []
	// "git commit -m done && git push" [push bash] []
	// "echo 'git push'" [bash] []
	// "sudo git push" [bash] [`sudo git push` can't be named: sudo runs another command, which this version does not follow]
}

func ExampleParse() {
	_, mistakes := rules.Parse("requre test befor deploy\nblock")
	for _, m := range mistakes {
		fmt.Println(m.In("ops.rules", "", 1, 1))
	}
	// Output:
	// ops.rules:1:1: requre is no rule; did you mean require? The form is: require A before B, such as: require test before deploy
	// ops.rules:1:13: expected before, not befor; did you mean before?
	// ops.rules:2:6: the line ends here; expected a tool's name; the form is: block A, such as: block mkfs
}
