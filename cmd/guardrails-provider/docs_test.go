package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestDocumented: docs/cli.md names every command and every flag.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	var c cli
	parser, err := kong.New(&c, kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	flags := 0
	for _, command := range parser.Model.Children {
		if !strings.Contains(string(page), "| `"+command.Name) {
			t.Errorf("the command %s is not in docs/cli.md", command.Name)
		}
		if command.Name == "completion" {
			continue // its library documents it
		}
		for _, f := range command.Flags {
			flags++
			if f.Name != "help" && !strings.Contains(string(page), "`--"+f.Name) && !strings.Contains(string(page), "--"+f.Name+"`") {
				t.Errorf("the flag --%s of %s is not in docs/cli.md", f.Name, command.Name)
			}
		}
	}
	if flags < 15 {
		t.Errorf("only %d flags were looked at", flags)
	}
}
