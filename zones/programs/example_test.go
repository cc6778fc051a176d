package programs_test

import (
	"fmt"

	"github.com/guardrails-provider/guardrails-provider/zones/programs"
	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

func ExampleDescribe() {
	for _, source := range []string{"git -C sub status", "sort -o out in", "sudo ls"} {
		d := programs.Describe(shell.Read(source).Commands[0].Words)
		fmt.Printf("%s, safe: %v, opaque: %q\n", d.Name, d.Safe, d.Opaque)
		for _, f := range d.Files {
			if f.Name {
				continue // a word that is hardly a path
			}
			fmt.Println(" ", f.Access, f.Word.Text)
		}
	}
	// Output:
	// git, safe: true, opaque: ""
	//   list sub
	// sort, safe: false, opaque: ""
	//   write out
	//   read in
	// sudo, safe: false, opaque: "sudo runs another command, which this version does not follow"
}

func ExampleParsePattern() {
	p, err := programs.ParsePattern("git push --force")
	if err != nil {
		panic(err)
	}
	for _, source := range []string{"git -C x push -uf origin", "git push", "echo git push --force"} {
		fmt.Println(p.MatchesAny(shell.Read(source).Commands[0].Words))
	}
	// Output:
	// true
	// false
	// false
}

func ExampleSteering() {
	fmt.Println(programs.Steering("LD_PRELOAD"), programs.Steering("CI"))
	// Output: true false
}
