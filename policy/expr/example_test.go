package expr_test

import (
	"fmt"

	"github.com/guardrails-provider/guardrails-provider/policy/expr"
)

func Example() {
	env, err := expr.NewEnv(expr.Config{
		Meta:   map[string]any{"backedUpPaths": []any{}},
		Places: []string{"ready", "backedUp"},
	})
	if err != nil {
		panic(err)
	}
	guard, _ := env.Guard(`meta.backedUpPaths.exists(p, covers(p, input.path))`)
	record, _ := env.Record("backedUpPaths", `meta.backedUpPaths + [input.path]`)
	fields, all := guard.Inputs()
	fmt.Println("of the input:", fields, all)

	// A backup of /srv/data, then a delete below it and one beside it.
	vars := expr.Vars{Tool: "backup", Meta: env.First()}
	vars.Input, _ = expr.DecodeObject([]byte(`{"path":"/srv/data"}`), nil)
	vars.Meta, _ = expr.Keep([]*expr.Record{record}, &vars)
	for _, input := range []string{`{"path":"/srv/data/old.db"}`, `{"path":"/srv/database"}`, `{}`} {
		vars.Input, _ = expr.DecodeObject([]byte(input), fields)
		holds, err := guard.Holds(&vars)
		fmt.Println(input, holds, err)
	}

	_, mistakes := env.Guard("input.path != '' &&\n  marking.reddy > 0")
	fmt.Println(mistakes)
	// Output:
	// of the input: [path] false
	// {"path":"/srv/data/old.db"} true <nil>
	// {"path":"/srv/database"} false <nil>
	// {} false evaluation failed: 1:45: there is no path; where it may be missing, ask with has() first
	// [2:10: the net has no place reddy; it has ready, backedUp]
}
