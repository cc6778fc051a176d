package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func record(t testing.TB, e *Env, key, source string) *Record {
	t.Helper()
	r, mistakes := e.Record(key, source)
	if len(mistakes) > 0 {
		t.Fatalf("%s: %v", source, mistakes)
	}
	return r
}

func TestKeep(t *testing.T) {
	e := newEnv(t)
	v := vars(t, e)
	// Both see meta as it was: none sees the other's.
	v.Meta, _ = Keep([]*Record{record(t, e, "count", "meta.count + 1"), record(t, e, "names", `meta.names + [string(meta.count)]`)}, v)
	v.Meta, _ = Keep([]*Record{record(t, e, "backedUpPaths", "meta.backedUpPaths + [input.path]"), record(t, e, "ratio", "input.f * 4.0"), record(t, e, "seen", "{'z': 1, 'a': [1.5, null]}")}, v)
	doc, err := json.Marshal(v.Meta)
	const want = `{"armed":false,"backedUpPaths":["/a/b"],"count":1,"last":"","mixed":[1,"a"],"names":["a","0"],"ratio":4.0,"seen":{"a":[1.5,null],"z":1}}`
	got, _ := v.Meta.MarshalJSON()
	if err != nil || string(got) != want || len(doc) > len(want) {
		t.Errorf("got  %s %v\nwant %s", got, err, want)
	}
	again, err := e.DecodeMeta(got)
	if err != nil || !again.Equal(v.Meta) {
		t.Errorf("read back: %v", err)
	}
	g, _ := e.Guard(`meta.backedUpPaths.exists(p, covers(p, input.path)) && meta.ratio == 4.0 && meta.seen.a[0] == 1.5`)
	v.Meta = again
	if holds, err := g.Holds(v); !holds || err != nil {
		t.Errorf("the guard on what was kept: %v, %v", holds, err)
	}
}

// What can't be kept is an error, and meta stays as it was.
func TestKeepRollsBack(t *testing.T) {
	e := newEnv(t)
	v := vars(t, e)
	v.Input, _ = NewObject(map[string]any{"long": strings.Repeat("x", 20<<10), "n": 1, "word": "a"})
	for _, c := range []struct {
		key, source string
		is          error
	}{
		{"count", "input.missing", ErrFailed},
		{"count", "input.word", ErrMeta},
		{"names", "[input.n]", ErrMeta},
		{"backedUpPaths", "[input.long, input.long, input.long, input.long]", ErrLimit},
		{"seen", "{1: 2}", nil},
		{"ratio", "1.0 / 0.0", nil},
		{"backedUpPaths", `[b"bytes"]`, nil},
		{"backedUpPaths", `[targets[0]]`, nil},
		{"backedUpPaths", `[1u]`, nil},
		{"backedUpPaths", `[type(1)]`, nil},
	} {
		r, mistakes := e.Record(c.key, c.source)
		if len(mistakes) > 0 {
			continue // not even compiled
		}
		m, err := Keep([]*Record{record(t, e, "last", `"new"`), r}, v)
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !m.Equal(e.First()) {
			t.Errorf("%s: %v, %v", c.source, err, m.Equal(e.First()))
		}
		t.Log(err)
	}
}

func TestMeta(t *testing.T) {
	_, err := NewEnv(Config{Meta: map[string]any{"a b": 1, "in": 1, "null": nil, "f": func() {}, "n": nil, "big": strings.Repeat("x", MaxKept+1), "ok": uint64(3)}})
	if !errors.Is(err, ErrMeta) || strings.Count(err.Error(), "\n") != 5 {
		t.Error(err)
	}
	many := map[string]any{}
	for i := range MaxMetaKeys + 1 {
		many[fmt.Sprint("k", i)] = i
	}
	if _, err := NewEnv(Config{Meta: many}); !errors.Is(err, ErrMeta) {
		t.Error(err)
	}
	e := newEnv(t)
	for doc, want := range map[string]string{
		`{}`: "", `{"count":5}`: "", `{"ratio":1.0}`: "",
		`{"count":"x"}`: "meta.count is of type int", `{"ratio":1}`: "meta.ratio is of type double", `{"other":1}`: "there is no meta.other",
		`[]`: "not a JSON object", `{"count":1`: "unexpected EOF", `{}{}`: "goes on", `{"names":[1]}`: "list(string)",
		`{"seen":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`: "nested deeper",
	} {
		_, err := e.DecodeMeta([]byte(doc))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.50s: got %v, want %q", doc, err, want)
		}
	}
	if doc, _ := (Meta{}).MarshalJSON(); string(doc) != "{}" {
		t.Error(string(doc))
	}
}

func TestObjects(t *testing.T) {
	o, err := DecodeObject([]byte(`{"a":1,"b":{"c":2},"d":[3]}`), []string{"b"})
	if err != nil || !slices.Equal(o.values.keys, []string{"b"}) {
		t.Errorf("got %v, %v", o.values, err)
	}
	o = o.With("command", "ls")
	if !slices.Equal(o.values.keys, []string{"b", "command"}) {
		t.Errorf("got %v", o.values.keys)
	}
	if o = (Object{}).With("a", "b"); len(o.values.keys) != 1 {
		t.Error("with on nothing")
	}
	for doc, ok := range map[string]bool{
		``: true, `{}`: true, `[]`: false, `null`: false, `{"a":1,"a":2}`: false, `{"a":[1,}`: false, `{"a":1e999}`: false, `{} x`: false,
		`{"a":` + strings.Repeat("[", 101) + strings.Repeat("]", 101) + `}`: false,
	} {
		if _, err := DecodeObject([]byte(doc), nil); (err == nil) != ok {
			t.Errorf("%.40s: %v", doc, err)
		}
	}
	if _, err := NewObject(map[string]any{"f": struct{}{}}); err == nil {
		t.Error("a struct is taken")
	}
}
