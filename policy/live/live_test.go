package live_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/policy/live"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	one = "version: 1\ndefault: allow\n"
	two = "version: 1\ndefault: block\n"
	bad = "version: 1\ndefault: [\n"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// journal is a log that can be read while it is written.
type journal struct {
	mu sync.Mutex
	bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.Buffer.Write(p)
}

func (j *journal) has(text string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Contains(j.String(), text)
}

func (j *journal) count(text string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.String(), text)
}

// watch opens and watches a policy until the test ends.
func watch(t *testing.T, paths ...string) (*live.Policy, *journal) {
	t.Helper()
	log := new(journal)
	l, err := live.Open(zerolog.New(log), paths...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	if err := l.Watch(ctx); err != nil {
		t.Fatal(err)
	}
	return l, log
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("never: " + what)
		}
	}
}

func blocks(l *live.Policy) func() bool {
	return func() bool { return l.Current().Default() == "block" }
}

func TestReload(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string){
		"written in place": func(t *testing.T, dir string) { write(t, dir+"/p/policy.yaml", two) },
		"another in its place": func(t *testing.T, dir string) {
			write(t, dir+"/p/policy.tmp", two)
			if err := os.Rename(dir+"/p/policy.tmp", dir+"/p/policy.yaml"); err != nil {
				t.Fatal(err)
			}
		},
		"taken away and made anew": func(t *testing.T, dir string) {
			_ = os.Remove(dir + "/p/policy.yaml")
			time.Sleep(300 * time.Millisecond)
			write(t, dir+"/p/policy.yaml", two)
		},
		"broken in between": func(t *testing.T, dir string) {
			write(t, dir+"/p/policy.yaml", bad)
			time.Sleep(300 * time.Millisecond)
			write(t, dir+"/p/policy.yaml", two)
		},
		"in a folder that is never still": func(t *testing.T, dir string) {
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() {
				defer close(done)
				for i := 0; ctx.Err() == nil; i++ {
					_ = os.WriteFile(dir+"/p/noise.log", []byte(fmt.Sprint(i)), 0o644)
					time.Sleep(20 * time.Millisecond)
				}
			}()
			t.Cleanup(func() { cancel(); <-done })
			write(t, dir+"/p/policy.yaml", two)
		},
		"its folder made anew": func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir + "/p"); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(dir+"/p", 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, dir+"/p/policy.yaml", two)
		},
		"its folder made anew much later": func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir + "/p"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(1300 * time.Millisecond)
			if err := os.Mkdir(dir+"/p", 0o755); err != nil {
				t.Fatal(err)
			}
			time.Sleep(400 * time.Millisecond)
			write(t, dir+"/p/policy.yaml", two)
		},
		"another folder in its place": func(t *testing.T, dir string) {
			if err := os.Mkdir(dir+"/new", 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, dir+"/new/policy.yaml", one)
			for _, names := range [][2]string{{"/p", "/old"}, {"/new", "/p"}} {
				if err := os.Rename(dir+names[0], dir+names[1]); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(600 * time.Millisecond)
			write(t, dir+"/p/policy.yaml", two)
		},
	} {
		for _, kind := range []string{"file", "folder"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if err := os.Mkdir(dir+"/p", 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, dir+"/p/policy.yaml", one)
				path := dir + "/p"
				if kind == "file" {
					path += "/policy.yaml"
				}
				l, _ := watch(t, path)
				if blocks(l)() {
					t.Fatal("it blocks already")
				}
				change(t, dir)
				eventually(t, "the new policy", blocks(l))
				write(t, dir+"/p/policy.yaml", one) // and it is followed from then on
				eventually(t, "the next policy", func() bool { return !blocks(l)() })
			})
		}
	}
}

func TestFolderGainsAFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a.yaml", "version: 1\n")
	l, _ := watch(t, dir)
	hash := l.Current().Hash()
	write(t, dir+"/b.yaml", two)
	eventually(t, "the second file", blocks(l))
	if err := os.Remove(dir + "/b.yaml"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first policy again", func() bool { return l.Current().Hash() == hash })
}

// What deployments do: a link is made to lead elsewhere, somewhere on the way.
func TestLinksThatChange(t *testing.T) {
	swap := func(t *testing.T, link, to string) {
		t.Helper()
		if err := os.Symlink(to, link+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link+".new", link); err != nil {
			t.Fatal(err)
		}
	}
	setup := func(t *testing.T) string {
		dir := t.TempDir()
		for name, text := range map[string]string{"v1": one, "v2": two} {
			if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, name, "policy.yaml"), text)
		}
		if err := os.Mkdir(dir+"/links", 0o755); err != nil {
			t.Fatal(err)
		}
		swap(t, dir+"/links/current", "../v1")
		swap(t, dir+"/links/policy.yaml", "../v1/policy.yaml")
		return dir
	}
	t.Run("a file that is a link", func(t *testing.T) {
		dir := setup(t)
		l, _ := watch(t, dir+"/links/policy.yaml")
		swap(t, dir+"/links/policy.yaml", "../v2/policy.yaml")
		eventually(t, "the other file", blocks(l))
	})
	t.Run("what it leads to is written", func(t *testing.T) {
		dir := setup(t)
		l, _ := watch(t, dir+"/links/policy.yaml")
		write(t, dir+"/v1/policy.yaml", two)
		eventually(t, "the new text", blocks(l))
	})
	t.Run("a folder that is a link", func(t *testing.T) {
		dir := setup(t)
		l, _ := watch(t, dir+"/links/current")
		swap(t, dir+"/links/current", "../v2")
		eventually(t, "the other folder", blocks(l))
		write(t, dir+"/v2/policy.yaml", one) // and that one is followed from now on
		eventually(t, "the new text", func() bool { return !blocks(l)() })
	})
}

// A policy that does not load leaves the old one in force, and says so.
func TestBadPolicyChangesNothing(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/policy.yaml"
	write(t, path, two)
	l, log := watch(t, path)
	hash := l.Current().Hash()
	for _, text := range []string{bad, "", "version: 1\nbudgets: {}\n"} {
		write(t, path, text)
		if err := l.Reload(); err == nil {
			t.Errorf("%q loads", text)
		}
		if l.Current().Hash() != hash {
			t.Fatalf("%q is in force", text)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Reload(); err == nil || l.Current().Hash() != hash {
		t.Error("a file that is gone is taken as a policy")
	}
	eventually(t, "a line in the log", func() bool { return log.has("the old one stays in force") && log.has("policy.yaml") })
	write(t, path, one)
	eventually(t, "the good one", func() bool { return !blocks(l)() })
}

// What changed after the policy was opened and before it was watched is seen.
func TestChangeBeforeWatch(t *testing.T) {
	path := t.TempDir() + "/policy.yaml"
	write(t, path, one)
	l, err := live.Open(zerolog.Nop(), path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, two)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if err := l.Watch(ctx); err != nil {
		t.Fatal(err)
	}
	if !blocks(l)() {
		t.Error("it was not seen")
	}
}

func TestOpen(t *testing.T) {
	t.Setenv("HOME", "/home/somebody")
	l, err := live.Open(zerolog.Nop())
	if err != nil || l.Current().Hash() != policy.Starter("/home/somebody").Hash() {
		t.Errorf("without paths it is not the starter policy: %v", err)
	}
	if err := l.Reload(); err != nil {
		t.Error(err)
	}
	if err := l.Watch(context.Background()); err != nil {
		t.Error(err)
	}
	path := t.TempDir() + "/policy.yaml"
	if _, err := live.Open(zerolog.Nop(), path); err == nil {
		t.Error("a file that is not there is a policy")
	}
	write(t, path, bad)
	if _, err := live.Open(zerolog.Nop(), path); err == nil {
		t.Error("a bad file is a policy")
	}
}

// Checks go on while the policy changes.
func TestConcurrentUse(t *testing.T) {
	path := t.TempDir() + "/policy.yaml"
	write(t, path, one)
	l, err := live.Open(zerolog.Nop(), path)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				if l.Current() == nil {
					t.Error("no policy is in force")
				}
				_ = l.Reload()
			}
		}()
	}
	for i := range 50 {
		write(t, path, []string{one, two}[i%2])
	}
	wg.Wait()
}

// Several folders are gone at once, and come again one by one, with the log
// saying once that the policy is gone.
func TestFoldersAboveAreGone(t *testing.T) {
	for name, path := range map[string]string{"file": "/a/b/c/policy.yaml", "folder": "/a/b/c", "link": "/link.yaml"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fill := func(text string) {
				if err := os.MkdirAll(dir+"/a/b/c", 0o755); err != nil {
					t.Fatal(err)
				}
				write(t, dir+"/a/b/c/policy.yaml", text)
			}
			fill(one)
			if err := os.Symlink("a/b/c/policy.yaml", dir+"/link.yaml"); err != nil {
				t.Fatal(err)
			}
			l, log := watch(t, dir+path)
			if err := os.RemoveAll(dir + "/a"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "a line in the log", func() bool { return log.has("the old one stays in force") })
			time.Sleep(2500 * time.Millisecond)
			if n := log.count("the old one stays in force"); n > 2 {
				t.Errorf("the log says it %d times", n)
			}
			if err := os.Mkdir(dir+"/a", 0o755); err != nil {
				t.Fatal(err)
			}
			time.Sleep(400 * time.Millisecond)
			fill(two)
			eventually(t, "the policy that came again", blocks(l))
			write(t, dir+"/a/b/c/policy.yaml", one)
			eventually(t, "the next policy", func() bool { return !blocks(l)() })
		})
	}
}

// Reload has the files watched anew, where nothing else said that they should be.
func TestReloadWatchesAnew(t *testing.T) {
	dir := t.TempDir()
	for _, v := range []string{"/v1", "/v2"} {
		if err := os.MkdirAll(dir+v+"/p", 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, dir+v+"/p/policy.yaml", one)
	}
	if err := os.Symlink("v1", dir+"/current"); err != nil {
		t.Fatal(err)
	}
	// The link stands above the folders that are watched: its change is not seen.
	l, _ := watch(t, dir+"/current/p/policy.yaml")
	if err := os.Remove(dir + "/current"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("v2", dir+"/current"); err != nil {
		t.Fatal(err)
	}
	if err := l.Reload(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	write(t, dir+"/v2/p/policy.yaml", two)
	eventually(t, "the new text", blocks(l))
}

// A file that is written in two steps may be a policy after the first.
func TestFewerZonesAreWarnedOf(t *testing.T) {
	const (
		open  = "  - { id: workspace, path: \".\", files: allow }\n"
		other = "  - { id: scratch, path: /tmp, files: allow }\n"
		keys  = "  - { id: keys, match: [\"~/.ssh/**\"], protect: true, files: block }\n"
		head  = "version: 1\nzones:\n"
	)
	for _, tc := range []struct {
		name, before, after string
		warns               bool
	}{
		{"the first half", head + open + keys, head + open, true},
		{"none are left", head + keys, "version: 1\n", true},
		{"another unprotected one", head + open + keys, head + open + other, true},
		{"fewer that are not protected", head + open + keys, head + keys, true},
		{"one more", head + open, head + open + keys, false},
		{"as many", head + open + keys, head + keys + open, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := t.TempDir() + "/policy.yaml"
			write(t, path, tc.before)
			log := new(journal)
			l, err := live.Open(zerolog.New(log), path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, tc.after)
			if err := l.Reload(); err != nil {
				t.Fatal(err)
			}
			if !log.has("policy reloaded") || log.has(`"level":"warn"`) != tc.warns || log.has("fewer zones than before") != tc.warns {
				t.Errorf("the log: %s", log.String())
			}
		})
	}
}
