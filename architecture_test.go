// Package architecture holds the module to its own plan: which package may
// import which, and why.
package architecture

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/guardrails-provider/guardrails-provider"

// edges are the packages of this module that each package may import, and the
// modules of others. A package that is not listed fails the test: decide where
// it belongs.
var edges = map[string]struct {
	why    string
	ours   []string
	others []string
}{
	"protocol": {
		"the wire knows nobody: every other part speaks it",
		nil, []string{"github.com/cloudevents/sdk-go/v2", "github.com/go-json-experiment/json"},
	},
	"policy/opinion": {
		"what policies hand to their combination, so that they need not know it",
		[]string{"protocol"}, nil,
	},
	"policy/source": {
		"YAML with positions, without a notion of what a policy means",
		nil, []string{"github.com/goccy/go-yaml"},
	},
	"zones/shell": {
		"the only importer of the shell parser; pure",
		nil, []string{"mvdan.cc/sh/v3"},
	},
	"zones/programs": {
		"what is known of programs, as data, over the shell's reading",
		[]string{"zones/shell"}, []string{"github.com/goccy/go-yaml"},
	},
	"zones": {
		"paths and commands; no bus, and not the package that combines it",
		[]string{"protocol", "policy/opinion", "zones/programs", "zones/shell"},
		[]string{"github.com/bmatcuk/doublestar/v4", "golang.org/x/text"},
	},
	"policy": {
		"check in, verdict out",
		[]string{"protocol", "policy/opinion", "policy/source", "zones", "zones/programs"}, nil,
	},
	"policy/petri": {
		"nets, pure: no I/O, no clock, no bus, and no notion of what a check is",
		nil, nil,
	},
	"policy/rules": {
		"the rules language to nets, and the names of calls",
		[]string{"policy/petri", "policy/source", "protocol", "zones/programs", "zones/shell"}, []string{"github.com/go-json-experiment/json"},
	},
	"policy/expr": {
		"guards and records in CEL",
		[]string{"protocol"}, []string{"cel.dev/cel-go", "github.com/go-json-experiment/json", "golang.org/x/text"},
	},
	"policy/engine": {
		"what stands around a policy; no bus, so that eval is the same engine",
		[]string{"policy", "protocol"}, nil,
	},
	"policy/live": {
		"follows the files of a policy",
		[]string{"policy"}, []string{"github.com/fsnotify/fsnotify", "github.com/rs/zerolog"},
	},
	"bus": {
		"knows NATS, and no zone and no net: what decides is behind the engine",
		[]string{"policy/engine", "protocol"},
		[]string{"github.com/nats-io/nats.go", "github.com/nats-io/nats-server/v2", "github.com/nats-io/nuid", "github.com/gofrs/flock", "github.com/rs/zerolog"},
	},
	"helper": {
		"the caller's side, tiny: importing it must cost a caller next to nothing",
		[]string{"protocol"}, []string{"github.com/nats-io/nats.go"},
	},
	"cmd/guardrails-provider": {
		"wiring",
		[]string{"bus", "helper", "policy", "policy/engine", "policy/live", "policy/source", "protocol"},
		[]string{"github.com/alecthomas/kong", "github.com/jotaen/kong-completion", "github.com/mattn/go-isatty", "github.com/rs/zerolog",
			"github.com/nats-io/nats.go", "github.com/nats-io/nats-server/v2", "github.com/go-json-experiment/json"},
	},
	"examples/compose/ready": {"the health check of the container: the standard library", nil, nil},
	"examples/conformance":   {"tests of the protocol from outside; the client imports nothing of NATS", nil, nil},
	"examples/go-plain":      {"what a caller needs who imports nothing of ours", nil, []string{"github.com/nats-io/nats.go"}},
	"examples/go-helper":     {"what a caller needs who imports the helper", []string{"helper", "protocol"}, []string{"github.com/nats-io/nats.go"}},
}

// noNATS are the packages whose decisions may not even indirectly depend on a bus.
var noNATS = []string{"protocol", "policy", "zones"}

type pkg struct {
	ImportPath string
	Name       string
	GoFiles    []string
	Imports    []string
	Deps       []string
}

func packages(t *testing.T) (all []pkg) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Name,GoFiles,Imports,Deps", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func TestImportEdges(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if len(p.GoFiles) == 0 {
			continue // tests only
		}
		edge, ok := edges[name]
		if !ok {
			t.Errorf("%s is in no plan: add it to the table, with its reason", name)
			continue
		}
		seen++
		for _, path := range p.Imports {
			switch {
			case within(path, module):
				if !slices.Contains(edge.ours, strings.TrimPrefix(path, module+"/")) {
					t.Errorf("%s imports %s; it may not: %s", name, path, edge.why)
				}
			case strings.Contains(strings.SplitN(path, "/", 2)[0], "."):
				if !slices.ContainsFunc(edge.others, func(m string) bool { return within(path, m) }) {
					t.Errorf("%s imports %s; it may not: %s", name, path, edge.why)
				}
			}
		}
		for _, quiet := range noNATS {
			if !within(name, quiet) {
				continue
			}
			for _, dep := range p.Deps {
				if within(dep, "github.com/nats-io") || within(dep, module+"/bus") {
					t.Errorf("%s depends on %s; decisions know no bus", name, dep)
				}
			}
		}
	}
	if seen != len(edges) {
		t.Errorf("%d packages of %d in the plan are there; take the others out", seen, len(edges))
	}
}
