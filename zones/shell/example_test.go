package shell_test

import (
	"fmt"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

func ExampleRead() {
	r := shell.Read(`cd build && git -C x push "origin" 2>&1 | tee log; $CLEAN`)
	for _, c := range r.Commands {
		for _, w := range c.Words {
			fmt.Printf("%s ", w.Text)
		}
		fmt.Println(c.Dir.Steps, c.Dir.Unknown)
	}
	for _, o := range r.Opaque {
		fmt.Println("opaque:", o.Reason)
	}
	// Output:
	// cd build [] false
	// git -C x push origin [build] false
	// tee log [build] false
	// $CLEAN [] true
	// opaque: the command word is not known from the text
}

func ExampleArgv() {
	r := shell.Argv([]string{"echo", "git push && rm *"})
	fmt.Printf("%q\n", r.Commands[0].Words[1].Text)
	// Output: "git push && rm *"
}
