package policy_test

import (
	"testing"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// starterDecides asks the starter policy of a provider that knows no home, for a
// check that names none: protection does not depend on one.
func starterDecides(p *policy.Policy, kind, operation, cwd string, target protocol.Target) policy.Judgement {
	return p.Decide(&protocol.Check{
		Action: protocol.Action{
			Resource: protocol.Resource{Kind: kind}, Operation: operation, Targets: []protocol.Target{target},
		},
		Context: protocol.Context{Cwd: cwd},
		Options: protocol.Options{Interactive: true},
	})
}

// workFolders are where people and containers keep projects, and where daemons
// and shells begin.
var workFolders = []string{
	"/repo", "/", "/workspace", "/opt/app", "/usr/src/app", "/usr/local/src/app", "/var/www/html",
	"/var/lib/jenkins/workspace/app", "/srv/app", "/root", "/root/app", "/home/dev", "/home/dev/app", "/Users/dev/app", "/dev/shm/app",
}

func TestStarterLetsWork(t *testing.T) {
	p := policy.Starter("")
	for _, cwd := range workFolders {
		for _, command := range []string{
			"ls", "ls /etc", "cat /etc/hosts", "cat /etc/*release", "head -3 /etc/passwd", "cat /usr/include/stdio.h", "cat /usr/share/doc/x/copyright",
			"cat /proc/cpuinfo /proc/self/status", "cat /sys/class/net/eth0/mtu", "ls -l /dev", "ls -l /etc/shadow /dev/sda", "cat /etc/ssh/sshd_config",
			"make", "npm install", "go test ./...", "touch x", "mkdir -p a/b", "rm -rf node_modules", "mv a b", "sed -i s/a/b/ x", "echo x >> log 2>/dev/null",
			"cp /etc/ssl/openssl.cnf .", "gcc -c x.c", "dd if=/dev/zero of=x count=1", "ln -s /usr/lib/x y", "git status",
			"cat docs/.aws/config.template",
		} {
			if v := starterDecides(p, protocol.KindProcess, protocol.OpExec, cwd, protocol.Target{Command: command}); v.Decision != protocol.VerdictAllow {
				t.Errorf("in %s: %s: %s: %s", cwd, command, v.Decision, v.Reason)
			}
		}
		for _, path := range []string{"x", "a/b.go", "lib/x", "src/bin/x", "Dockerfile", ".github/workflows/x.yaml", "fixtures/.ssh/config"} {
			for _, op := range []string{protocol.OpRead, protocol.OpWrite, protocol.OpDelete} {
				if cwd == "/" && path == "lib/x" {
					continue // there it is the system's
				}
				if v := starterDecides(p, protocol.KindFile, op, cwd, protocol.Target{Path: path}); v.Decision != protocol.VerdictAllow {
					t.Errorf("in %s: %s %s: %s: %s", cwd, op, path, v.Decision, v.Reason)
				}
			}
		}
		for _, path := range []string{"/etc/passwd", "/etc", "/usr/lib/x.py", "/bin/sh", "/opt/x", "/usr/local/bin/x", "/var/log/x", "/proc/1/status", "/dev/tty"} {
			for _, op := range []string{protocol.OpRead, protocol.OpList, protocol.OpStat} {
				if v := starterDecides(p, protocol.KindFile, op, cwd, protocol.Target{Path: path}); v.Decision != protocol.VerdictAllow {
					t.Errorf("in %s: %s %s: %s: %s", cwd, op, path, v.Decision, v.Reason)
				}
			}
		}
	}
	// Where the agent works in the system itself, it may look.
	for _, command := range []string{"ls", "cat hosts", "cat /etc/os-release | sort"} {
		if v := starterDecides(p, protocol.KindProcess, protocol.OpExec, "/etc", protocol.Target{Command: command}); v.Decision != protocol.VerdictAllow {
			t.Errorf("in /etc: %s: %s: %s", command, v.Decision, v.Reason)
		}
	}
	if v := starterDecides(p, protocol.KindProcess, protocol.OpExec, "/etc", protocol.Target{Command: "make"}); v.Decision != protocol.VerdictAsk {
		t.Errorf("in /etc: make: %s: %s", v.Decision, v.Reason)
	}
}

func TestStarterProtectsTheSystem(t *testing.T) {
	p := policy.Starter("")
	for _, cwd := range append([]string{"/etc", "/usr", "/usr/bin", "/dev", "/proc"}, workFolders...) {
		for _, path := range []string{
			"/etc/passwd", "/etc", "/etc/cron.d/x", "/bin/sh", "/sbin/init", "/boot/grub/grub.cfg", "/lib/x.so", "/lib64/x.so", "/usr/bin/git",
			"/usr/sbin/x", "/usr/lib/x.so", "/usr/lib64/x.so", "/usr/libexec/x", "/usr/share/x", "/usr/include/x.h", "/var/spool/cron/root", "/dev/sda",
			"/dev/mapper/root", "/proc/sysrq-trigger", "/sys/power/state", "/run/systemd/system/x.service", "/System/x", "/Library/LaunchDaemons/x.plist",
		} {
			for _, op := range []string{protocol.OpWrite, protocol.OpDelete} {
				if v := starterDecides(p, protocol.KindFile, op, cwd, protocol.Target{Path: path}); v.Decision != protocol.VerdictBlock {
					t.Errorf("in %s: %s %s: %s: %s", cwd, op, path, v.Decision, v.Reason)
				}
			}
		}
		for _, path := range []string{
			"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssh/ssh_host_ed25519_key", "/proc/1/environ", "/proc/self/environ",
			"/proc/1/task/2/environ", "/proc/1/mem", "/proc/1/fd/3", "/proc/kcore", "/dev/sda", "/dev/sdb1", "/dev/nvme0n1p1", "/dev/mem", "/dev/mapper/root", "/dev/disk/by-id/x",
			"/home/dev/.ssh/id_rsa", "/home/dev/.ssh/work", "/root/.ssh/id_rsa", "/Users/dev/.gnupg/x", "/home/dev/.aws/credentials", "/home/dev/.kube/config",
			"/root/.config/gcloud/credentials.db", "/home/dev/.netrc", "/root/.npmrc",
		} {
			if v := starterDecides(p, protocol.KindFile, protocol.OpRead, cwd, protocol.Target{Path: path}); v.Decision != protocol.VerdictBlock {
				t.Errorf("in %s: read %s: %s: %s", cwd, path, v.Decision, v.Reason)
			}
		}
		for _, path := range []string{
			"/data/dev/.ssh/id_rsa", "/data/dev/.ssh/id_ed25519", "/data/dev/.ssh/authorized_keys", "/data/dev/.gnupg/private-keys-v1.d/x.key",
			"/data/dev/.aws/credentials", "/data/dev/.kube/config", "/data/dev/.config/gcloud/application_default_credentials.json", "/data/dev/.netrc",
		} {
			for _, at := range []string{cwd, "/data/dev"} {
				if v := starterDecides(p, protocol.KindFile, protocol.OpRead, at, protocol.Target{Path: path}); v.Decision != protocol.VerdictAsk {
					t.Errorf("in %s: read %s: %s: %s", at, path, v.Decision, v.Reason)
				}
			}
		}
	}
	for command, want := range map[string]protocol.Verdict{
		"echo x > /etc/passwd": "block", "cp x /usr/bin/git": "block", "rm -rf /": "block", "rm -rf /usr": "block", "cat /etc/shadow": "block",
		"dd if=/dev/sda of=x": "block", "chown -R dev /": "block", "cat /home/dev/.ssh/id_rsa": "block",
		"unheard-of /usr/share/x": "ask",
	} {
		if v := starterDecides(p, protocol.KindProcess, protocol.OpExec, "/", protocol.Target{Command: command}); v.Decision != want {
			t.Errorf("in /: %s: %s: %s", command, v.Decision, v.Reason)
		}
	}
}

func TestProtectedZones(t *testing.T) {
	if n := policy.Starter("").ProtectedZones(); n != 7 {
		t.Errorf("the starter has %d", n)
	}
	if n := new(policy.Policy).ProtectedZones(); n != 0 {
		t.Errorf("the zero policy has %d", n)
	}
}
