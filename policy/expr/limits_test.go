package expr

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"cel.dev/cel-go/cel"
)

// Whatever an expression does, it ends soon, with an error.
func TestHostile(t *testing.T) {
	e := newEnv(t)
	numbers := make([]any, 10_000)
	texts := make([]any, 10_000)
	object := map[string]any{}
	for i := range numbers {
		numbers[i], texts[i] = i, strings.Repeat("x", 50)
		object[fmt.Sprint("key", i)] = i
	}
	v := vars(t, e)
	v.Input, _ = NewObject(map[string]any{
		"n": numbers, "t": texts, "o": object, "s": strings.Repeat("a", 500_000), "p": "/" + strings.Repeat("a/", 100_000),
		"same": []any{texts, texts, texts, texts},
	})
	for _, source := range []string{
		`input.n.all(a, input.n.all(b, a + b >= 0))`,
		`input.n.all(a, input.n.all(b, input.n.all(c, input.n.all(d, true))))`,
		`input.n.map(a, input.n.map(b, [a, b])).size() > 0`,
		`input.o.all(a, input.o.all(b, true))`,
		`input.t.map(a, input.s + input.s).size() > 0`,
		`input.n.all(a, input.s.contains("b" + string(a)) == false)`,
		`input.n.all(a, !input.s.matches("(a|b)*c"))`,
		`input.n.all(a, covers(input.p, input.p))`,
		`input.n.all(a, input.same == input.same)`,
		`input.n.all(a, input.o == input.o)`,
		`input.n.all(a, !(input.t in input.same.map(x, x + ["y"])))`,
		`input.n.all(a, input.same != [input.same])`,
		`input.n.all(a, size(input.s) > 0)`,
		`input.n.all(a, bytes(input.s) != b"")`,
		`input.n.all(a, input.s <= input.s)`,
		`input.n.all(a, {"k": input.same} == {"k": input.same})`,
		`input.n.all(a, string(input.s) == input.s)`,
		`[1,2,3,4,5,6,7,8,9].map(a, [1,2,3,4,5,6,7,8,9].map(b, [1,2,3,4,5,6,7,8,9].map(c, [1,2,3,4,5,6,7,8,9].map(d, input.s + string(a+b+c+d))))).size() > 0`,
	} {
		g, mistakes := e.Guard(source)
		if len(mistakes) > 0 {
			t.Errorf("%s: %v", source, mistakes)
			continue
		}
		start := time.Now()
		got, err := g.Holds(v)
		took := time.Since(start)
		if err == nil || got {
			t.Errorf("%s: %v, no error", source, got)
		}
		if took > time.Second {
			t.Errorf("%s: %v", source, took)
		}
		t.Logf("%8s  %s: %v", took.Round(time.Microsecond*10), source, err)
	}
}

// A panic while evaluating is an error.
func TestPanics(t *testing.T) {
	e := newEnv(t)
	g, _ := e.Guard("tool == 'x' || true")
	if got, err := g.Holds(nil); err == nil || got {
		t.Errorf("got %v, %v", got, err)
	}
	broken := &Guard{program{program: struct{ cel.Program }{}}} // its Eval calls nil
	for _, zero := range []*Guard{new(Guard), broken} {
		if got, err := zero.Holds(new(Vars)); err == nil || got {
			t.Errorf("the zero guard: got %v, %v", got, err)
		}
	}
	if _, err := Keep([]*Record{new(Record)}, new(Vars)); err == nil {
		t.Error("the zero record keeps something")
	}
}

// Without a check, an input and a marking, there is nothing to find.
func TestEmptyVars(t *testing.T) {
	e := newEnv(t)
	g, _ := e.Guard(`size(targets) == 0 && context.cwd == "" && caller.agentId == "" && size(input) == 0 && size(marking) == 0 && tool == ""`)
	if got, err := g.Holds(new(Vars)); !got || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	g, _ = e.Guard(`meta.count == 0`)
	if got, err := g.Holds(new(Vars)); err == nil || got {
		t.Errorf("meta that isn't there: got %v, %v", got, err)
	}
}

func TestShared(t *testing.T) {
	e := newEnv(t)
	v := vars(t, e)
	g, _ := e.Guard(`targets.exists(t, covers("/a", t.path)) && input.z.map(k, k)[0] == "a" && {"b": 1, "a": 2}.map(k, k)[0] == "a"`)
	r := record(t, e, "backedUpPaths", "meta.backedUpPaths + [input.path]")
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 200 {
				if got, err := g.Holds(v); !got || err != nil {
					t.Errorf("got %v, %v", got, err)
				}
				if m, err := Keep([]*Record{r}, v); err != nil || m.Equal(v.Meta) {
					t.Errorf("got %v", err)
				}
				if _, mistakes := e.Guard("input.path != ''"); mistakes != nil {
					t.Error(mistakes)
				}
			}
		})
	}
	wait.Wait()
}
