package expr

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		dir, path string
		want      bool
	}{
		{"/a", "/a", true}, {"/a", "/a/b", true}, {"/a/", "/a/b/c", true}, {"/", "/", true}, {"/", "/x", true}, {"/a", "/a/", true},
		{"/a", "/ab", false}, {"/a/b", "/a", false}, {"/a", "/a/../b", false}, {"/a", "/b/../a/c", true}, {"/a/../b", "/b/c", true},
		{"/a", "/a/./b", true}, {"//a", "/a/b", true}, {"/a", "/../a", true}, {"/a", "/a/..", false}, {"/a", "/a/...", true},
		{"", "/a", false}, {"/a", "", false}, {"a", "a/b", false}, {"a", "/a/b", false}, {"/a", "a/b", false}, {".", "x", false}, {"~", "~/x", false},
		{"/a", "/a/\x00", false}, {"/a\x00", "/a\x00/b", false}, {"/é", "/e\u0301/x", true}, {"/a", "/A/b", false}, {"file:///a", "file:///a/b", false},
	} {
		if got := Covers(c.dir, c.path); got != c.want {
			t.Errorf("covers(%q, %q): got %v", c.dir, c.path, got)
		}
	}
}

// Covers agrees with comparing elements one by one.
func TestCoversElements(t *testing.T) {
	elements := func(p string) []string {
		var out []string
		for e := range strings.SplitSeq(p, "/") {
			switch e {
			case "", ".":
			case "..":
				out = out[:max(0, len(out)-1)]
			default:
				out = append(out, e)
			}
		}
		return out
	}
	part := rapid.SampledFrom([]string{"a", "ab", "b", ".", "..", "", "..."})
	rapid.Check(t, func(t *rapid.T) {
		d := "/" + strings.Join(rapid.SliceOfN(part, 0, 4).Draw(t, "dir"), "/")
		p := "/" + strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "path"), "/")
		x, y := elements(d), elements(p)
		want := len(y) >= len(x) && path.Join(x...) == path.Join(y[:min(len(x), len(y))]...)
		if Covers(d, p) != want {
			t.Fatalf("covers(%q, %q): want %v", d, p, want)
		}
	})
}
