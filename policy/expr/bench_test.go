package expr

import (
	"fmt"
	"testing"
)

func BenchmarkGuard(b *testing.B) {
	e := newEnv(b)
	for _, paths := range []int{1, 100} {
		list := make([]any, paths)
		for i := range list {
			list[i] = fmt.Sprint("/srv/data/", i)
		}
		list[paths-1] = "/a"
		kept, err := fromGo(map[string]any{"backedUpPaths": list}, 0)
		if err != nil {
			b.Fatal(err)
		}
		v := vars(b, e)
		v.Meta = Meta{kept.(*mapping)}
		for _, source := range []string{`input.path != ""`, `meta.backedUpPaths.exists(p, covers(p, input.path))`, `targets.all(t, t.path == "" || covers(context.cwd, t.path))`, `marking.ready > 0`} {
			g, mistakes := e.Guard(source)
			if mistakes != nil {
				b.Fatal(mistakes)
			}
			b.Run(fmt.Sprint(paths, " paths/", source), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := g.Holds(v); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkKeep(b *testing.B) {
	e := newEnv(b)
	v := vars(b, e)
	r := []*Record{record(b, e, "backedUpPaths", "meta.backedUpPaths + [input.path]")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Keep(r, v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeObject(b *testing.B) {
	doc := []byte(`{"path":"/repo/src/main.go","content":"package main","limit":100,"options":{"create":true}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeObject(doc, []string{"path"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		e := newEnv(b)
		if _, mistakes := e.Guard(`meta.backedUpPaths.exists(p, covers(p, input.path))`); mistakes != nil {
			b.Fatal(mistakes)
		}
	}
}
