package zones

import (
	"strings"
	"testing"
)

// A command has no way through the links of /proc either: what can't be known is
// asked about at least.
func TestLinksOfProcInCommands(t *testing.T) {
	set := compiled(t, Config{Zones: []Zone{
		{ID: "workspace", Path: ".", Files: Files{"*": "allow"}, Commands: &Commands{Default: ModeAllow, HasDefault: true}},
		{ID: "keys", Match: []string{"~/.ssh/**"}, Protect: true, Files: Files{"*": "block"}, Commands: &Commands{Default: ModeBlock, HasDefault: true}},
	}})
	for command, want := range map[string]string{
		"cat " + strings.Repeat("/proc/self/root", 5) + "/home/dev/.ssh/id":    "block",
		"cd " + strings.Repeat("/proc/self/root", 5) + "/home/dev/.ssh && ./x": "block",
		"cat " + strings.Repeat("/proc/self/root", maxLinks+1) + "/repo/x":     "error",
		"cat /proc/self/root/../home/dev/.ssh/id":                              "ask",
		"cd /proc/self/root/../home/dev/.ssh && cat id":                        "ask",
		"cd /proc/self/root && cat ../home/dev/.ssh/id":                        "ask",
		"cd /proc/self/root && cd .. && cat home/dev/.ssh/id":                  "block",
		"cat < /proc/self/root/../home/dev/.ssh/id":                            "ask",
		"cat /proc/self/fd/3/id":                                               "error",
		"cat /proc/self/root/repo/x":                                           "allow",
		"cat /proc/self/fd/3":                                                  "allow",
		"cat a/../x":                                                           "allow",
	} {
		c := processCheck(command)
		c.Context.Cwd = "/"
		if got, o := judged(set, c); got != want {
			t.Errorf("%s: got %s, want %s\n%s", command, got, want, said(o))
		}
	}
}

func TestProtected(t *testing.T) {
	if n := compiled(t, house()).Protected(); n != 2 {
		t.Errorf("%d protected zones in the house", n)
	}
	set := compiled(t, Config{Zones: []Zone{
		{ID: "a", Path: ".", Protect: true}, {ID: "b", Path: "/b", Protect: true}, {ID: "c", Path: "~/c", Protect: true},
		{ID: "d", Match: []string{"**/.env", "**/*.pem", "~/x/**", "/y", "**/a/b"}, Protect: true}, {ID: "e", Match: []string{"~/x/**"}, Protect: true},
		{ID: "open", Path: "/b"},
	}})
	if n := set.Protected(); n != 5 {
		t.Errorf("got %d, want 5", n)
	}
	if n := new(Set).Protected(); n != 0 {
		t.Errorf("%d without zones", n)
	}
}
