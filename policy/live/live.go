// Package live keeps a policy in force and follows its files. A policy that does
// not load never takes the place of one that did.
package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rs/zerolog"

	"github.com/guardrails-provider/guardrails-provider/policy"
)

// settle is how long files must be still before they are read: editors and
// deployments write several of them, or one in several steps.
const settle = 150 * time.Millisecond

// patience is how long they are waited for at most: a folder may never be still.
const patience = 2 * time.Second

// absence is how often it is looked whether a folder that is missing is there
// again, and what the files hold meanwhile.
const absence = time.Second

// Policy is the policy in force. It is safe for concurrent use.
type Policy struct {
	paths   []string
	log     zerolog.Logger
	current atomic.Pointer[policy.Policy]
	again   chan struct{} // asks for the files to be watched anew

	reload  sync.Mutex
	failure string // of the last reload; empty: none
}

// Open loads the policy of files and folders, as [policy.Load] does. Without
// paths it is the starter policy, with the home of whoever runs this; it never
// changes.
func Open(log zerolog.Logger, paths ...string) (*Policy, error) {
	l := &Policy{paths: paths, log: log, again: make(chan struct{}, 1)}
	if len(paths) == 0 {
		home, _ := os.UserHomeDir() // without one, the starter has none
		l.current.Store(policy.Starter(home))
		return l, nil
	}
	p, err := policy.Load(paths...)
	if err != nil {
		return nil, err
	}
	l.current.Store(p)
	return l, nil
}

// Current returns the policy in force, never nil.
func (l *Policy) Current() *policy.Policy { return l.current.Load() }

// Reload reads the files again, and has [Policy.Watch] watch them anew. Where they
// do not load, the policy in force stays, the error says why, and it is logged.
func (l *Policy) Reload() error {
	if len(l.paths) == 0 {
		return nil
	}
	select {
	case l.again <- struct{}{}:
	default: // asked for already
	}
	return l.load(false)
}

// load reads the files again. Where news is set, a failure is logged only if the
// last one was another.
func (l *Policy) load(news bool) error {
	l.reload.Lock()
	defer l.reload.Unlock()
	old := l.Current()
	files, err := policy.Read(l.paths...)
	if err == nil && policy.Hash(files...) == old.Hash() {
		l.failure = ""
		return nil
	}
	var p *policy.Policy
	if err == nil {
		p, err = policy.Parse(files...)
	}
	if err != nil {
		if !news || l.failure != err.Error() {
			l.log.Error().Err(err).Str("policyHash", old.Hash()).Msg("the policy does not load; the old one stays in force")
		}
		l.failure = err.Error()
		return fmt.Errorf("the policy does not load; the old one stays in force: %w", err)
	}
	l.failure = ""
	l.current.Store(p)
	l.log.Info().Str("policyHash", p.Hash()).Str("was", old.Hash()).Int("zones", p.Zones()).Msg("policy reloaded")
	if p.Zones() < old.Zones() || p.ProtectedZones() < old.ProtectedZones() {
		l.log.Warn().Str("policyHash", p.Hash()).Str("was", old.Hash()).
			Int("zones", p.Zones()).Int("zonesBefore", old.Zones()).
			Int("protected", p.ProtectedZones()).Int("protectedBefore", old.ProtectedZones()).
			Msg("the policy has fewer zones than before; if its file is still being written, replace it in one step: write beside it, rename")
	}
	return nil
}

// Watch reloads the policy when its files change, until the context ends. It
// returns when it watches; what it can't watch is an error.
func (l *Policy) Watch(ctx context.Context) error {
	if len(l.paths) == 0 {
		return nil
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the policy: %w", err)
	}
	complete, err := l.watchAll(w)
	if err != nil {
		_ = w.Close()
		return fmt.Errorf("watch the policy: %w", err)
	}
	_ = l.load(false) // what changed before it was watched; logged there
	go l.follow(ctx, w, complete)
	return nil
}

// watchAll watches the folder of every file and of every link on the way to it.
// Folders are watched, not files: to save a file, most editors put another one
// in its place, and a mounted configuration changes a link beside it. All is
// watched anew, since by now another folder may have the name; the files have to
// be read after it. Where it is not complete, something is missing, which is no
// error, or can't be watched: it has to be tried again.
func (l *Policy) watchAll(w *fsnotify.Watcher) (complete bool, err error) {
	complete = true
	wanted := make(map[string]bool)
	for _, p := range l.paths {
		wanted[filepath.Dir(p)] = true
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			wanted[p] = true
		}
		if real, err := filepath.EvalSymlinks(p); err == nil {
			wanted[filepath.Dir(real)] = true
		} else {
			complete = false
		}
	}
	for _, dir := range w.WatchList() {
		_ = w.Remove(dir)
	}
	var failed []error
	for dir := range wanted {
		err := w.Add(dir)
		if err == nil {
			continue
		}
		complete = false
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			failed = append(failed, fmt.Errorf("%s: %w", dir, err))
		}
	}
	return complete, errors.Join(failed...)
}

func (l *Policy) follow(ctx context.Context, w *fsnotify.Watcher, complete bool) {
	defer w.Close()
	still := time.NewTimer(time.Hour)
	still.Stop()
	defer still.Stop()
	missing := time.NewTimer(absence)
	defer missing.Stop()
	if complete {
		missing.Stop()
	}
	var since time.Time // the first event that was not looked at
	event := func() {
		now := time.Now()
		if since.IsZero() {
			since = now
		}
		still.Reset(min(settle, max(0, patience-now.Sub(since))))
	}
	said := "" // what went wrong with watching
	look := func(news bool) {
		complete, err := l.watchAll(w)
		if err == nil {
			said = ""
		} else if !news || said != err.Error() {
			said = err.Error()
			l.log.Error().Err(err).Msg("watching the policy")
		}
		if missing.Stop(); !complete {
			missing.Reset(absence)
		}
		_ = l.load(news) // logged there
	}
	for {
		select {
		case <-ctx.Done():
			return
		case _, ok := <-w.Events:
			if !ok {
				return
			}
			event()
		case err, ok := <-w.Errors:
			if !ok {
				return
			}
			l.log.Error().Err(err).Msg("watching the policy")
			event() // some may be lost: look
		case <-still.C:
			since = time.Time{}
			look(false)
		case <-l.again:
			look(true) // Reload said what is wrong
		case <-missing.C:
			look(true)
		}
	}
}
