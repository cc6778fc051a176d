package policy_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/policy/source"
)

var update = flag.Bool("update", false, "write the golden files anew")

// faulty is every file and folder of testdata/faulty.
func faulty(t *testing.T) (paths []string) {
	t.Helper()
	entries, err := os.ReadDir("testdata/faulty")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".golden" {
			paths = append(paths, "testdata/faulty/"+e.Name())
		}
	}
	if len(paths) < 45 {
		t.Fatalf("only %d faulty policies", len(paths))
	}
	return paths
}

// Every faulty policy is refused, with these very messages.
func TestFaulty(t *testing.T) {
	for _, path := range faulty(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			p, err := policy.Load(path)
			if err == nil || p != nil {
				t.Fatalf("it was accepted: %v, %v", p, err)
			}
			got := strings.ReplaceAll(err.Error(), "testdata/faulty/", "") + "\n"
			golden := strings.TrimSuffix(path, ".yaml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Every message says where and what, and they stand in the order of the text.
func TestFaultyMessages(t *testing.T) {
	shape := regexp.MustCompile(`^[^:]+(:[1-9]\d*:[1-9]\d*)?: .+[^ ]$`)
	for _, path := range faulty(t) {
		_, err := policy.Load(path)
		var ms *source.Mistakes
		if !errors.As(err, &ms) {
			if !errors.Is(err, policy.ErrNoPolicy) {
				t.Errorf("%s: the error is %T: %v", path, err, err)
			}
			continue
		}
		for _, line := range strings.Split(err.Error(), "\n") {
			if !shape.MatchString(line) {
				t.Errorf("%s: %q", path, line)
			}
		}
		if !slices.IsSortedFunc(ms.List, func(a, b source.Mistake) int {
			if a.File != b.File {
				return strings.Compare(a.File, b.File)
			}
			if a.Line != b.Line {
				return a.Line - b.Line
			}
			return a.Column - b.Column
		}) {
			t.Errorf("%s: not in order:\n%v", path, err)
		}
	}
}

// A stale golden would say of a policy that is gone that it is refused.
func TestFaultyGoldensHavePolicies(t *testing.T) {
	goldens, _ := filepath.Glob("testdata/faulty/*.golden")
	for _, g := range goldens {
		base := strings.TrimSuffix(g, ".golden")
		if _, err := os.Stat(base + ".yaml"); err == nil {
			continue
		}
		if info, err := os.Stat(base); err != nil || !info.IsDir() {
			t.Errorf("%s belongs to nothing", g)
		}
	}
}

func TestGoodPoliciesLoad(t *testing.T) {
	for path, zones := range map[string]int{
		"testdata/good.yaml": 3, "testdata/example.yaml": 4, "starter.yaml": 10, "testdata/folder": 2,
	} {
		p, err := policy.Load(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if p.Zones() != zones {
			t.Errorf("%s: has %d zones, want %d", path, p.Zones(), zones)
		}
	}
	if p, err := policy.Load("testdata/folder/10-first.yaml", "testdata/folder/20-second.yml"); err != nil || p.Zones() != 2 || p.Default() != "block" {
		t.Errorf("two files: %v", err)
	}
}

// line is a line "key: value" or "- key: value" of a fixture.
var line = regexp.MustCompile(`^( *(?:- )?)("?[A-Za-z*-]+"?): *(.*)$`)

// Every misspelled key and every value of another type in the good policy is
// refused, on the very line.
func TestMutantsAreRefused(t *testing.T) {
	text, err := os.ReadFile("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	mutants := 0
	try := func(i int, mutant string) {
		t.Helper()
		mutants++
		changed := slices.Clone(lines)
		changed[i] = mutant
		_, err := policy.Parse(policy.File{Name: "mutant.yaml", Text: []byte(strings.Join(changed, "\n") + "\n")})
		var ms *source.Mistakes
		if !errors.As(err, &ms) {
			t.Errorf("line %d as %q: accepted, or %v", i+1, mutant, err)
			return
		}
		if !slices.ContainsFunc(ms.List, func(m source.Mistake) bool { return m.Line == i+1 && m.Column > 0 }) {
			t.Errorf("line %d as %q: no mistake on the line:\n%v", i+1, mutant, err)
		}
	}
	for i, l := range lines {
		m := line.FindStringSubmatch(l)
		if m == nil {
			t.Fatalf("line %d is not understood: %q", i+1, l)
		}
		before, key, value := m[1], m[2], m[3]
		bare := strings.Trim(key, `"`)
		for _, other := range []string{bare + "x", strings.ToUpper(bare[:1]) + bare[1:] + "X", "x" + bare, "~", "7", "<<"} {
			try(i, fmt.Sprintf("%s%q: %s", before, other, value))
		}
		if len(bare) > 1 {
			try(i, before+bare[1:]+": "+value)
		}
		if value == "" {
			if bare == "files" || bare == "commands" || bare == "zones" || bare == "asks" || bare == "state" || bare == "runs" {
				continue // a block follows; its own keys are mutated
			}
			t.Fatalf("line %d has no value", i+1)
		}
		others := []string{"{ a: b }", "[[a]]", "7", "1.5", "true", "null", "~", "''", "!!str x", "*gone", "{}", "[7]", "[true]", "[null]"}
		for _, other := range others {
			switch {
			case bare == "version" && other == "1":
			case (bare == "resolveSymlinks" || bare == "protect") && other == "true":
			default:
				try(i, before+key+": "+other)
			}
		}
		switch bare {
		case "mode", "default", "files", "sync", "ledger", "read", "write", "delete", "list", "stat", "*", "kinds", "expire", "idle", "lease", "answers", "resolveSymlinks", "protect", "operator", "version":
			try(i, before+key+": nonsense")
		}
	}
	if mutants < 500 {
		t.Errorf("only %d mutants", mutants)
	}
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/faulty/*.yaml"} {
		paths, _ := filepath.Glob(pattern)
		for _, p := range paths {
			if text, err := os.ReadFile(p); err == nil {
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := policy.Parse(policy.File{Name: "fuzz.yaml", Text: text})
		if (p == nil) == (err == nil) {
			t.Fatalf("a policy and an error, or neither: %v", err)
		}
		var ms *source.Mistakes
		if err != nil && !errors.As(err, &ms) {
			t.Fatalf("the error has no position: %T %v", err, err)
		}
	})
}
