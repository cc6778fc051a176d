package helper_test

import (
	"go/build"
	"slices"
	"strings"
	"testing"
)

// TestImports holds the package to the protocol, nats.go and the standard
// library: a caller who imports it gets nothing else of ours.
func TestImports(t *testing.T) {
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(pkg.GoFiles) == 0 {
		t.Fatal("there are no files")
	}
	allowed := []string{"github.com/guardrails-provider/guardrails-provider/protocol", "github.com/nats-io/nats.go"}
	for _, path := range pkg.Imports {
		standard := !strings.Contains(strings.Split(path, "/")[0], ".")
		if !standard && !slices.Contains(allowed, path) {
			t.Errorf("%v imports %s", pkg.ImportPos[path], path)
		}
	}
}
