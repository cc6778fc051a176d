package zones

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/policy/opinion"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// house is the policy of most tables: a workspace, a reference folder, a folder
// of its own below it, and protected names.
func house() Config {
	return Config{
		Home: "/home/dev",
		Zones: []Zone{
			{ID: "workspace", Path: ".", Files: Files{"*": "allow"}},
			{ID: "reference", Path: "~/workspace", Files: Files{"read": "allow", "list": "allow", "stat": "allow", "*": "block"}},
			{ID: "inner", Path: "~/workspace/mine", Files: Files{"*": "allow"}},
			{ID: "scratch", Path: "/tmp", Files: Files{"*": "allow"}},
			{ID: "srv", Path: "/srv", Files: Files{"*": "allow"}},
			{ID: "srv-logs", Path: "/srv", Files: Files{"write": "ask"}},
			{ID: "system", Match: []string{"/{etc,usr}/**"}, Files: Files{"read": "allow", "*": "block"}},
			{ID: "pictures", Match: []string{"**/*.png"}, Files: Files{"read": "allow"}},
			{ID: "mute", Path: "/mute", Commands: &Commands{Default: ModeAllow, HasDefault: true}},
			{ID: "secrets", Match: []string{"**/.env", "**/*.pem", "~/.ssh/**"}, Protect: true, Files: Files{"list": "allow", "*": "block"}, Reason: "Secrets stay here."},
			{ID: "accents", Match: []string{"**/cafe\u0301"}, Protect: true, Files: Files{"*": "ask"}},
		},
	}
}

func compiled(t testing.TB, cfg Config) *Set {
	t.Helper()
	set, err := Compile(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// judged is what a check came to: the strictest finding, or "default" where
// something was left ungranted and nothing is stricter than allow.
func judged(set *Set, c *protocol.Check) (verdict string, o opinion.Opinion) {
	set.Judge(c, &o)
	var strictest protocol.Verdict
	for _, f := range o.Findings {
		if strictest == "" || f.Decision.Stricter(strictest) {
			strictest = f.Decision
		}
	}
	if len(o.Ungranted) > 0 && (strictest == "" || strictest == protocol.VerdictAllow) {
		return "default", o
	}
	return string(strictest), o
}

func said(o opinion.Opinion) string {
	var b strings.Builder
	for _, f := range o.Findings {
		b.WriteString(string(f.Decision) + " " + f.Rule + " " + string(f.Code) + ": " + f.Reason + "\n")
	}
	for _, u := range o.Ungranted {
		b.WriteString("left: " + u.What + "\n")
	}
	return b.String()
}

func fileCheck(op string, targets ...protocol.Target) *protocol.Check {
	return &protocol.Check{
		Action:  protocol.Action{Resource: protocol.Resource{Kind: protocol.KindFile}, Operation: op, Targets: targets},
		Context: protocol.Context{Cwd: "/repo", Home: "/home/dev"},
	}
}

func TestFiles(t *testing.T) {
	long := "/repo/" + strings.Repeat("a/", MaxPath/2)
	for _, tc := range []struct {
		name   string
		op     string // read where empty
		target protocol.Target
		cwd    string // /repo where empty; "-" for none
		home   string // /home/dev where empty; "-" for none
		want   string
		says   string
	}{
		// Out of the workspace by text.
		{target: protocol.Target{Path: "../etc/passwd"}, op: "write", want: "block", says: "Writing /etc/passwd"},
		{target: protocol.Target{Path: "a/../b"}, op: "write", want: "allow", says: "/repo/b"},
		{target: protocol.Target{Path: "a/../../repo/b"}, op: "write", want: "allow", says: "/repo/b is"},
		{target: protocol.Target{Path: "a/../../etc/x"}, op: "write", want: "block", says: "/etc/x"},
		{target: protocol.Target{Path: "/repo/../etc/x"}, op: "write", want: "block", says: "/etc/x"},
		{target: protocol.Target{Path: "/../../etc/x"}, op: "write", want: "block", says: "/etc/x"},
		{target: protocol.Target{Path: "../repo2/x"}, op: "write", want: "default", says: "/repo2/x"},
		{target: protocol.Target{Path: "../repo/x"}, op: "write", want: "allow", says: "/repo/x"},
		{target: protocol.Target{Path: "."}, want: "allow", says: "Reading /repo is"},
		{target: protocol.Target{Path: ".."}, want: "default", says: "Reading /"},
		{target: protocol.Target{Path: "./."}, want: "allow", says: "Reading /repo is"},
		{target: protocol.Target{Path: "a/.."}, want: "allow", says: "Reading /repo is"},
		{target: protocol.Target{Path: "..."}, want: "allow", says: "/repo/... is"},
		{target: protocol.Target{Path: "..a"}, want: "allow", says: "/repo/..a is"},
		{target: protocol.Target{Path: "a.."}, want: "allow", says: "/repo/a.. is"},
		// Slashes and dots.
		{target: protocol.Target{Path: "/repo//x"}, op: "write", want: "allow", says: "/repo/x"},
		{target: protocol.Target{Path: "//etc//x"}, op: "write", want: "block", says: "/etc/x"},
		{target: protocol.Target{Path: "/repo/x/"}, op: "write", want: "allow", says: "/repo/x is"},
		{target: protocol.Target{Path: "/repo/./x"}, op: "write", want: "allow", says: "/repo/x"},
		{target: protocol.Target{Path: "/repo/.env/"}, want: "block", says: "/repo/.env is not"},
		{target: protocol.Target{Path: "/repo/.env/."}, want: "block", says: "/repo/.env is not"},
		{target: protocol.Target{Path: "/repo/.env/../.env"}, want: "block"},
		{target: protocol.Target{Path: "/repo/.env."}, want: "allow", says: "/repo/.env."},
		{target: protocol.Target{Path: "/repo/.environment"}, want: "allow"},
		{target: protocol.Target{Path: "/repo/x.env"}, want: "allow"},
		{target: protocol.Target{Path: "/repo/.env /x"}, want: "allow"},
		// Elements and not strings.
		{target: protocol.Target{Path: "/repo2"}, want: "default"},
		{target: protocol.Target{Path: "/repo"}, want: "allow"},
		{target: protocol.Target{Path: "/tmpfile"}, op: "write", want: "default"},
		{target: protocol.Target{Path: "/tmp"}, op: "write", want: "allow"},
		{target: protocol.Target{Path: "/etcetera"}, op: "write", want: "default"},
		{target: protocol.Target{Path: "/etc"}, op: "write", want: "block"},
		{name: "the root owns everything", target: protocol.Target{Path: "/var/x"}, cwd: "/", op: "write", want: "allow", says: "zone workspace"},
		{name: "a cwd over a folder of another zone", target: protocol.Target{Path: "/etc/x"}, cwd: "/", op: "write", want: "allow", says: "zone workspace"},
		// URIs.
		{target: protocol.Target{URI: "file:///repo/x"}, op: "write", want: "allow", says: "/repo/x"},
		{target: protocol.Target{URI: "FILE:///repo/x"}, op: "write", want: "allow", says: "/repo/x"},
		{target: protocol.Target{URI: "file:/repo/x"}, op: "write", want: "allow", says: "/repo/x"},
		{target: protocol.Target{URI: "file://localhost/repo/x"}, op: "write", want: "allow", says: "/repo/x"},
		{target: protocol.Target{URI: "file://LOCALHOST/repo/x"}, op: "write", want: "allow", says: "/repo/x"},
		{target: protocol.Target{URI: "file:////etc/x"}, op: "write", want: "block", says: "/etc/x"},
		{target: protocol.Target{URI: "file:///repo/%2e%2e/etc/x"}, op: "write", want: "block", says: "/etc/x"},
		{target: protocol.Target{URI: "file:///repo/%2E%2E/etc/x"}, op: "write", want: "block", says: "/etc/x"},
		{target: protocol.Target{URI: "file:///repo/.%65nv"}, want: "block", says: "/repo/.env"},
		{target: protocol.Target{URI: "file:///repo/caf%C3%A9"}, want: "ask", says: "caf\u00e9"},
		{target: protocol.Target{URI: "file:///repo/a%20b"}, want: "allow", says: "/repo/a b"},
		{target: protocol.Target{URI: "file:///repo/a+b"}, want: "allow", says: "/repo/a+b"},
		{target: protocol.Target{URI: "file:///repo/%252e%252e/x"}, want: "allow", says: "/repo/%2e%2e/x"},
		{target: protocol.Target{URI: "file:///repo/..%2Fetc/x"}, want: "error", says: "escaped slash"},
		{target: protocol.Target{URI: "file:///repo/..%2fetc/x"}, want: "error", says: "escaped slash"},
		{target: protocol.Target{URI: "file:///repo/%00"}, want: "error", says: "NUL byte"},
		{target: protocol.Target{URI: "file:///repo/%c0%ae%c0%ae/x"}, want: "error", says: "not valid UTF-8"},
		{target: protocol.Target{URI: "file:///repo/%e0%80%ae/x"}, want: "error", says: "not valid UTF-8"},
		{target: protocol.Target{URI: "file:///repo/%zz"}, want: "error", says: "malformed percent escape"},
		{target: protocol.Target{URI: "file:///repo/%"}, want: "error", says: "malformed percent escape"},
		{target: protocol.Target{URI: "file://host/repo/x"}, want: "error", says: "names the host host"},
		{target: protocol.Target{URI: "file://127.0.0.1/repo/x"}, want: "error", says: "names the host"},
		{target: protocol.Target{URI: "file://localhost:80/repo/x"}, want: "error", says: "names the host"},
		{target: protocol.Target{URI: "file://u@localhost/repo/x"}, want: "error", says: "names the host"},
		{target: protocol.Target{URI: "file:x"}, want: "error", says: "absolute path"},
		{target: protocol.Target{URI: "file:"}, want: "error", says: "absolute path"},
		{target: protocol.Target{URI: "file://"}, want: "default"},
		{target: protocol.Target{URI: "http://repo/x"}, want: "error", says: "must be a file: URI"},
		{target: protocol.Target{URI: "/repo/x"}, want: "error", says: "must be a file: URI"},
		{target: protocol.Target{URI: " file:///repo/x"}, want: "error", says: "must be a file: URI"},
		{target: protocol.Target{URI: "file:///repo/x?y"}, want: "error", says: "query or a fragment"},
		{target: protocol.Target{URI: "file:///repo/x#y"}, want: "error", says: "query or a fragment"},
		{target: protocol.Target{URI: "file:///repo/x%3Fy%23z"}, want: "allow", says: "/repo/x?y#z"},
		{target: protocol.Target{URI: "file:///C:/x"}, want: "error", says: "Windows"},
		{target: protocol.Target{URI: "file:///~/x"}, want: "default", says: "/~/x"},
		{target: protocol.Target{Path: "file:///etc/x"}, op: "write", want: "block", says: "/etc/x"},
		{target: protocol.Target{Path: "FILE:/etc/x"}, op: "write", want: "block", says: "/etc/x"},
		{target: protocol.Target{Path: "file:x"}, want: "error", says: "absolute path"},
		{target: protocol.Target{Path: "./file:x"}, want: "allow", says: "/repo/file:x"},
		{target: protocol.Target{Path: "/repo/%2e%2e/x"}, want: "allow", says: "/repo/%2e%2e/x"}, // a path is not decoded
		// What is no path here.
		{target: protocol.Target{Path: "/repo/x\x00.png"}, want: "error", says: "NUL byte"},
		{target: protocol.Target{Path: "/repo/\xff"}, want: "error", says: "not valid UTF-8"},
		{target: protocol.Target{Path: long}, want: "error", says: "too long"},
		{target: protocol.Target{URI: "file://" + strings.Repeat("/%61", MaxPath)}, want: "error", says: "too long"},
		{target: protocol.Target{Path: long[:MaxPath-1]}, want: "allow"},
		{target: protocol.Target{Path: `C:\Windows`}, want: "error", says: "Windows"},
		{target: protocol.Target{Path: `c:/Windows`}, want: "error", says: "Windows"},
		{target: protocol.Target{Path: `D:`}, want: "error", says: "Windows"},
		{target: protocol.Target{Path: `\\server\share`}, want: "error", says: "Windows"},
		{target: protocol.Target{Path: `c:x`}, want: "allow", says: "/repo/c:x"},
		{target: protocol.Target{Path: `a\..\b`}, want: "allow", says: `/repo/a\..\b`},
		{target: protocol.Target{Path: "~root/x"}, want: "error", says: "another user's home"},
		{target: protocol.Target{Path: "~+/x"}, want: "error", says: "another user's home"},
		{target: protocol.Target{Path: "./~root/x"}, want: "allow", says: "/repo/~root/x"},
		// Homes.
		{target: protocol.Target{Path: "~/workspace/x"}, want: "allow", says: "zone reference"},
		{target: protocol.Target{Path: "~/workspace/x"}, op: "write", want: "block", says: "zone reference"},
		{target: protocol.Target{Path: "~"}, want: "default", says: "/home/dev"},
		{target: protocol.Target{Path: "~/../../etc/x"}, op: "write", want: "block", says: "/etc/x"},
		{target: protocol.Target{Path: "~/x"}, home: "-", want: "default", says: "/home/dev/x"},
		{target: protocol.Target{Path: "/home/dev/.ssh/id"}, want: "block", says: "Secrets stay here."},
		{target: protocol.Target{Path: "/home/dev/.ssh"}, want: "block"},
		{target: protocol.Target{Path: "/home/dev/.ssh2"}, want: "default"},
		{name: "a home moved by the caller frees nothing", target: protocol.Target{Path: "/home/dev/.ssh/id"}, home: "/elsewhere", want: "block"},
		{name: "and is protected itself", target: protocol.Target{Path: "~/.ssh/id"}, home: "/elsewhere", want: "block", says: "/elsewhere/.ssh/id"},
		{name: "a home that is relative", target: protocol.Target{Path: "~/x"}, home: "home", want: "error", says: "context.home is not an absolute path"},
		{name: "a home that is not needed", target: protocol.Target{Path: "x"}, home: "home", want: "allow"},
		{name: "the policy's home though the check's is bad", target: protocol.Target{Path: "/home/dev/.ssh/id"}, home: "home", want: "block"},
		// The cwd.
		{target: protocol.Target{Path: "x"}, cwd: "-", want: "error", says: "context.cwd is missing"},
		{target: protocol.Target{Path: "x"}, cwd: "repo", want: "error", says: "context.cwd is relative"},
		{target: protocol.Target{Path: "x"}, cwd: "/repo\x00", want: "error", says: "NUL byte"},
		{target: protocol.Target{Path: "/srv/x"}, cwd: "repo", want: "allow"},
		{target: protocol.Target{Path: "/srv/x"}, cwd: "-", want: "allow"},
		{target: protocol.Target{Path: "x"}, cwd: "/repo/../etc", op: "write", want: "allow", says: "zone workspace"},
		{target: protocol.Target{Path: "/repo/x"}, cwd: "/repo/../etc", op: "write", want: "default"},
		{target: protocol.Target{Path: "x"}, cwd: "/repo/", op: "write", want: "allow"},
		{target: protocol.Target{Path: "x"}, cwd: "~/p", op: "write", want: "allow", says: "/home/dev/p/x"},
		{name: "the cwd outranks what is longer", target: protocol.Target{Path: "x"}, cwd: "/home/dev/workspace", op: "write", want: "allow", says: "zone workspace"},
		{name: "but nothing protected", target: protocol.Target{Path: ".env"}, cwd: "/home/dev/workspace", want: "block", says: "zone secrets"},
		{name: "nor a protected cwd", target: protocol.Target{Path: "id"}, cwd: "/home/dev/.ssh", want: "block", says: "zone secrets"},
		// Which zone, and what it says.
		{target: protocol.Target{Path: "~/workspace/mine/x"}, op: "write", want: "allow", says: "zone inner"},
		{target: protocol.Target{Path: "~/workspace/mine2/x"}, op: "write", want: "block", says: "zone reference"},
		{name: "a tie: the stricter", target: protocol.Target{Path: "/srv/x"}, op: "write", want: "ask", says: "zone srv-logs"},
		{name: "a tie: no opinion is none", target: protocol.Target{Path: "/srv/x"}, want: "allow", says: "zone srv"},
		{target: protocol.Target{Path: "/var/x.png"}, want: "allow", says: "zone pictures"},
		{name: "an operation without an opinion", target: protocol.Target{Path: "/var/x.png"}, op: "write", want: "default"},
		{name: "the prefix is longer", target: protocol.Target{Path: "/home/dev/workspace/x.png"}, op: "write", want: "block", says: "zone reference"},
		{name: "a zone without files", target: protocol.Target{Path: "/mute/x"}, op: "write", want: "default"},
		{name: "which speaks all the same", target: protocol.Target{Path: "/mute/x.png"}, want: "default"},
		{target: protocol.Target{Path: "/repo/.env"}, op: "list", want: "allow", says: "zone secrets"},
		{target: protocol.Target{Path: "/repo/.env"}, op: "stat", want: "block"},
		{target: protocol.Target{Path: "/repo/sub/deep/k.pem"}, want: "block"},
		{target: protocol.Target{Path: "/k.pem"}, want: "block"},
		{target: protocol.Target{Path: "/repo/.pem"}, want: "block"},
		{target: protocol.Target{Path: "/repo/a.pem.txt"}, want: "allow"},
		// Unicode.
		{target: protocol.Target{Path: "cafe\u0301"}, want: "ask", says: "zone accents"},
		{target: protocol.Target{Path: "caf\u00e9"}, want: "ask", says: "zone accents"},
		{target: protocol.Target{Path: "cafe"}, want: "allow"},
		// Folders that hold what is protected.
		{target: protocol.Target{Path: "/home/dev"}, op: "delete", want: "block", says: "would reach what zone secrets protects"},
		{target: protocol.Target{Path: "/home"}, op: "delete", want: "block", says: "would reach"},
		{target: protocol.Target{Path: "/"}, op: "delete", want: "block", says: "would reach"},
		{target: protocol.Target{Path: "/home/dev"}, op: "write", want: "default"},
		{target: protocol.Target{Path: "/home/dev2"}, op: "delete", want: "default"},
		{target: protocol.Target{Path: "/repo/build"}, op: "delete", want: "allow"},
		// Links that are there on every Linux machine.
		{target: protocol.Target{Path: "/proc/self/root/home/dev/.ssh/id"}, want: "block", says: "zone secrets"},
		{target: protocol.Target{Path: "/proc/1/task/1/root/home/dev/.ssh/id"}, want: "block", says: "zone secrets"},
		{target: protocol.Target{Path: "/proc/self/root/proc/self/root/home/dev/.ssh/id"}, want: "block", says: "zone secrets"},
		{target: protocol.Target{Path: "/proc/self/cwd/sub"}, want: "default"},
		{target: protocol.Target{Path: "/proc/self/root/home/dev"}, op: "delete", want: "block", says: "would reach"},
		{target: protocol.Target{Path: "/proc/rooted/x"}, want: "default"},
		{target: protocol.Target{Path: strings.Repeat("/proc/self/root", 3) + "/home/dev/.ssh/id"}, want: "block", says: "Reading /home/dev/.ssh/id "},
		{target: protocol.Target{Path: strings.Repeat("/proc/self/root", 4) + "/home/dev/.ssh/id"}, want: "block", says: "Reading /home/dev/.ssh/id "},
		{target: protocol.Target{Path: strings.Repeat("/proc/1/task/2/root", maxLinks) + "/home/dev/.ssh/id"}, want: "block", says: "Reading /home/dev/.ssh/id "},
		{target: protocol.Target{Path: strings.Repeat("/proc/self/root", maxLinks+1) + "/repo/x"}, cwd: "/", want: "error", says: "more than 40 links of /proc"},
		{target: protocol.Target{Path: strings.Repeat("/proc/self/root", maxLinks) + "/repo/x"}, cwd: "/", want: "allow"},
		{target: protocol.Target{Path: strings.Repeat("/proc/self/cwd", 7) + "/.env"}, cwd: "/", want: "block", says: "Reading /.env "},
		{name: "a cwd that is itself", target: protocol.Target{Path: "x"}, cwd: "/proc/self/cwd", want: "error", says: "links of /proc"},
		{name: "no cwd", target: protocol.Target{Path: "/proc/self/cwd/.ssh/id"}, cwd: "-", want: "error", says: "the cwd of a process"},
		{name: "another's cwd", target: protocol.Target{Path: "/proc/17/cwd/id"}, cwd: "/", want: "error", says: "the cwd of a process"},
		{target: protocol.Target{Path: "/proc/self/cwd"}, cwd: "/", op: "list", want: "allow"},
		{target: protocol.Target{Path: "/proc/self/fd/3"}, cwd: "/", want: "allow"},
		{target: protocol.Target{Path: "/proc/self/fd/3/id"}, cwd: "/", want: "error", says: "an open folder"},
		{target: protocol.Target{Path: "/proc/17/task/17/fd/3/id"}, cwd: "/", want: "error", says: "an open folder"},
		{target: protocol.Target{Path: "/dev/fd/3/id"}, cwd: "/", want: "error", says: "an open folder"},
		{target: protocol.Target{Path: "/dev/fd/3"}, cwd: "/", want: "allow"},
		{target: protocol.Target{Path: "/proc/self/root/../home/dev/x"}, cwd: "/", want: "error", says: `goes up with ".."`},
		{target: protocol.Target{Path: "/proc/self/root/x/../../home/dev/x"}, cwd: "/", want: "error", says: `goes up with ".."`},
		{target: protocol.Target{Path: "/proc/thread-self/../../root/home/dev/x"}, cwd: "/", want: "error", says: `goes up with ".."`},
		{target: protocol.Target{Path: "/dev/fd/3/../x"}, cwd: "/", want: "error", says: `goes up with ".."`},
		{target: protocol.Target{URI: "file:///proc/self/root/%2e%2e/home/dev/x"}, cwd: "/", want: "error", says: `goes up with ".."`},
		{target: protocol.Target{Path: "x", RealPath: "/proc/self/root/../home/dev/x"}, cwd: "/", want: "error", says: `goes up with ".."`},
		{target: protocol.Target{Path: "../home/dev/x"}, cwd: "/proc/self/root", want: "error", says: `goes up with ".."`},
		{target: protocol.Target{Path: "../home/dev/x"}, cwd: "/proc/self/root/..", want: "error", says: `goes up with ".."`},
		{target: protocol.Target{Path: "~/../x"}, cwd: "/", home: "/proc/self/root", want: "error", says: `goes up with ".."`},
		{target: protocol.Target{Path: "/repo/../proc/self/root/.."}, cwd: "/", want: "error", says: `goes up with ".."`},
		{target: protocol.Target{Path: "/proc/../repo/x"}, want: "allow", says: "/repo/x"},
		{target: protocol.Target{Path: "/repo/proc/self/root/../x"}, want: "allow", says: "/repo/proc/self/x"},
		{target: protocol.Target{Path: "/proc/self/..."}, cwd: "/", want: "allow"},
		// Several names of one target.
		{name: "uri and path", target: protocol.Target{URI: "file:///repo/x", Path: "/etc/x"}, op: "write", want: "block", says: "/etc/x"},
		{name: "path and uri", target: protocol.Target{URI: "file:///etc/x", Path: "/repo/x"}, op: "write", want: "block", says: "/etc/x"},
		{name: "a realPath that is stricter", target: protocol.Target{Path: "x", RealPath: "/etc/x"}, op: "write", want: "block", says: "/etc/x"},
		{name: "a realPath that is not", target: protocol.Target{Path: "/etc/x", RealPath: "/repo/x"}, op: "write", want: "block", says: "/etc/x"},
		{name: "a realPath nobody speaks for", target: protocol.Target{Path: "x", RealPath: "/var/x"}, want: "default", says: "/var/x"},
		{name: "the same realPath", target: protocol.Target{Path: "x", RealPath: "/repo/x"}, want: "allow"},
		{name: "a relative realPath", target: protocol.Target{Path: "x", RealPath: "x"}, want: "error", says: "realPath"},
		{name: "a realPath with ~", target: protocol.Target{Path: "x", RealPath: "~/x"}, want: "error", says: "realPath"},
		{name: "a bad path beside a good one", target: protocol.Target{URI: "file://host/x", Path: "/repo/x"}, want: "error", says: ".uri"},
	} {
		name := tc.name
		if name == "" {
			name = tc.op + " " + tc.target.Path + tc.target.URI
		}
		if len(name) > 80 {
			name = name[:80]
		}
		t.Run(name, func(t *testing.T) {
			set := compiled(t, house())
			op := tc.op
			if op == "" {
				op = "read"
			}
			c := fileCheck(op, tc.target)
			set1 := func(to *string, v string) {
				switch v {
				case "":
				case "-":
					*to = ""
				default:
					*to = v
				}
			}
			set1(&c.Context.Cwd, tc.cwd)
			set1(&c.Context.Home, tc.home)
			got, o := judged(set, c)
			if got != tc.want || !strings.Contains(said(o), tc.says) {
				t.Errorf("got %s, want %s and %q:\n%s", got, tc.want, tc.says, said(o))
			}
			for _, f := range o.Findings {
				if f.Decision == protocol.VerdictError && f.Code != protocol.CodeInvalidRequest {
					t.Errorf("an error finding has the code %q", f.Code)
				}
			}
		})
	}
}

// A patterns's own literal path is its prefix: the more exact one speaks.
func TestLiteralPatternsOutrankTheirFolder(t *testing.T) {
	set := compiled(t, Config{Zones: []Zone{
		{ID: "etc", Path: "/etc", Files: Files{"*": "block"}},
		{ID: "hosts", Match: []string{"/etc/hosts", `/etc/\*`}, Files: Files{"read": "allow"}},
	}})
	for path, want := range map[string]string{"/etc/hosts": "allow", "/etc/*": "allow", "/etc/passwd": "block", "/etc/hosts/x": "block", "/etc": "block"} {
		if got, o := judged(set, fileCheck("read", protocol.Target{Path: path})); got != want {
			t.Errorf("%s: got %s, want %s\n%s", path, got, want, said(o))
		}
	}
}

// At the root a path and a pattern that fits anywhere are a tie.
func TestTieAtTheRoot(t *testing.T) {
	for _, home := range []bool{false, true} {
		cfg := Config{Home: "/home/dev", Zones: []Zone{
			{ID: "all", Path: "/", Files: Files{"*": "allow"}},
			{ID: "env", Match: []string{"**/.env"}, Files: Files{"*": "block"}},
		}}
		if home {
			cfg.Zones[0].Path, cfg.Zones[1].Match = "~", []string{"~/**/.env"}
		}
		set := compiled(t, cfg)
		for path, want := range map[string]string{"/home/dev/x/.env": "block", "/home/dev/x": "allow"} {
			if got, o := judged(set, fileCheck("read", protocol.Target{Path: path})); got != want {
				t.Errorf("home %v, %s: got %s, want %s\n%s", home, path, got, want, said(o))
			}
		}
	}
}

func TestProtectedCwd(t *testing.T) {
	set := compiled(t, Config{Zones: []Zone{
		{ID: "here", Path: ".", Protect: true, Files: Files{"delete": "block", "*": "allow"}},
		{ID: "all", Path: "/", Files: Files{"*": "allow"}},
	}})
	for path, want := range map[string]string{"x": "block", "..": "block", "/": "block", "/other": "allow"} {
		if got, o := judged(set, fileCheck("delete", protocol.Target{Path: path})); got != want {
			t.Errorf("%s: got %s, want %s\n%s", path, got, want, said(o))
		}
	}
}

// Every target has its own finding, and one that nobody grants is left.
func TestSeveralTargets(t *testing.T) {
	set := compiled(t, house())
	verdict, o := judged(set, fileCheck("write",
		protocol.Target{Path: "/etc/x"}, protocol.Target{Path: "x"}, protocol.Target{Path: "/nowhere"}, protocol.Target{Path: "y"}, protocol.Target{Path: ".env"}))
	want := []string{"workspace 1", "workspace 3", "system 0", "secrets 4"}
	var got []string
	for _, f := range o.Findings {
		got = append(got, f.Rule+" "+string(rune('0'+*f.Target)))
	}
	if verdict != "block" || strings.Join(got, ", ") != strings.Join(want, ", ") || len(o.Ungranted) != 1 || o.Ungranted[0].Target != 2 {
		t.Errorf("got %s %q, want %q\n%s", verdict, got, want, said(o))
	}
}

func TestNoZones(t *testing.T) {
	set := compiled(t, Config{})
	if got, o := judged(set, fileCheck("read", protocol.Target{Path: "x"})); got != "default" || len(o.Findings) > 0 {
		t.Errorf("got %s\n%s", got, said(o))
	}
	if got, o := judged(set, fileCheck("read", protocol.Target{Path: "\x00"})); got != "error" {
		t.Errorf("got %s\n%s", got, said(o))
	}
}

// machine makes a tree with links, and the zones of a provider that resolves them.
func machine(t *testing.T) (root string, set *Set) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"real/repo/sub", "real/secret/below", "home", "other"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"space":                 "real", // the cwd is root/space/repo, through a link
		"real/repo/out":         "../secret",
		"real/repo/dangling":    "../secret/not-yet",
		"real/repo/chain":       "dangling",
		"real/repo/loop":        "loop",
		"real/repo/ping":        "pong",
		"real/repo/pong":        "ping",
		"real/repo/inside":      "sub",
		"real/repo/up":          "../secret/below",
		"real/repo/nfd-e\u0301": "../secret",
		"linkhome":              "home",
	} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "real/repo/file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return root, compiled(t, Config{ResolveSymlinks: true, Zones: []Zone{
		{ID: "workspace", Path: ".", Files: Files{"*": "allow"}},
		{ID: "linked", Path: root + "/space/other", Files: Files{"*": "allow"}},
		{ID: "secret", Match: []string{root + "/space/secret/**"}, Protect: true, Files: Files{"*": "block"}},
		{ID: "keys", Match: []string{"~/.ssh/**"}, Protect: true, Files: Files{"*": "block"}},
	}})
}

func TestResolveSymlinks(t *testing.T) {
	root, set := machine(t)
	for _, tc := range []struct{ path, want string }{
		{"x", "allow"},       // the cwd is linked: no false stop
		{"sub/x", "allow"},   //
		{"new/a/b", "allow"}, // nothing there yet
		{"file/x", "allow"},  // nor below a file
		{"inside/x", "allow"},
		{"out", "block"},
		{"out/x", "block"},
		{"dangling", "block"},
		{"chain", "block"},
		{"nfd-e\u0301/x", "block"},
		{"up/../x", "block"}, // .. goes up from where the link leads
		{"inside/../x", "allow"},
		{"loop", "error"},
		{"ping/x", "error"},
		{root + "/real/repo/x", "allow"}, // the cwd under its real name
		{root + "/real/secret/x", "block"},
		{root + "/real/other/x", "allow"},
		{root + "/home/.ssh/id", "block"}, // the home under its real name
		{"~/.ssh/id", "block"},
	} {
		c := fileCheck("read", protocol.Target{Path: tc.path})
		c.Context = protocol.Context{Cwd: root + "/space/repo", Home: root + "/linkhome"}
		if got, o := judged(set, c); got != tc.want {
			t.Errorf("%s: got %s, want %s\n%s", tc.path, got, tc.want, said(o))
		}
		if strings.HasPrefix(tc.path, "/") || strings.HasPrefix(tc.path, "~") {
			continue
		}
		c.Action.Targets[0] = protocol.Target{URI: "file://" + root + "/space/repo/" + tc.path}
		if got, o := judged(set, c); got != tc.want {
			t.Errorf("%s as a URI: got %s, want %s\n%s", tc.path, got, tc.want, said(o))
		}
	}
	for command, want := range map[string]string{
		"cat out/x": "block", "cat sub/x": "default", "cd up && cat ../x": "block", "unheard-of ./out/x": "block",
	} {
		c := processCheck(command)
		c.Context = protocol.Context{Cwd: root + "/space/repo", Home: root + "/linkhome"}
		if got, o := judged(set, c); got != want {
			t.Errorf("%s: got %s, want %s\n%s", command, got, want, said(o))
		}
	}
}

// TestLinksAmongWhatAPatternFits: a link is not hidden by a wildcard.
func TestLinksAmongWhatAPatternFits(t *testing.T) {
	root, _ := machine(t)
	set := compiled(t, Config{ResolveSymlinks: true, Zones: []Zone{
		{ID: "workspace", Path: ".", Files: Files{"*": "allow"}, Commands: &Commands{Default: ModeAllow, HasDefault: true}},
		{ID: "secret", Match: []string{root + "/space/secret/**"}, Protect: true, Files: Files{"*": "block"}},
	}})
	for command, want := range map[string]string{
		"cat o*":       "block", // out leads to the secret folder
		"cat d?ngling": "block",
		"cat sub/*":    "allow", // nothing fits
		"cat i*":       "allow", // inside leads into the workspace
		"cat fi*":      "allow",
		"cat loo*":     "ask", // leads nowhere
	} {
		c := processCheck(command)
		c.Context = protocol.Context{Cwd: root + "/space/repo", Home: root + "/linkhome"}
		if got, o := judged(set, c); got != want {
			t.Errorf("%s: got %s, want %s\n%s", command, got, want, said(o))
		}
	}
}
