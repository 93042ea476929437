// Package leftovers finds and removes what killed runs have left behind. It spares everything
// that an active run or a resumable session may need.
package leftovers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/cli/demo"
	"codeloops/internal/config/host"
	"codeloops/internal/repo"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/session/checkpoints"
	"codeloops/internal/session/door"
	"codeloops/internal/session/lookup"
	"codeloops/internal/view"
	"codeloops/internal/wording"
)

// A Thing is one leftover.
type Thing struct {
	What  string `json:"what"`
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`

	remove func(context.Context) error
}

// Found is all that was found.
type Found struct {
	Things []Thing `json:"leftovers"`
	// Kept are sentences about what is not removed.
	Kept []string `json:"kept,omitempty"`
}

// A Place is where to look for leftovers.
type Place struct {
	Host *host.Host
	Logs string // the directory of sessions
	Temp string // the system's directory for temporary files
}

// Find looks for leftovers. It removes nothing.
func (p Place) Find(ctx context.Context) (*Found, error) {
	store, err := session.NewStore(p.Logs)
	if err != nil {
		return nil, err
	}
	f := &Found{Things: []Thing{}}
	of, waiting, err := store.Leftovers(p.Host.Now())
	if err != nil {
		return nil, err
	}
	for _, l := range of {
		f.add(l.What, l.Path, func(context.Context) error { return discard(store, l) })
	}
	if err := p.checkpoints(ctx, store, f); err != nil {
		return nil, err
	}
	for _, id := range waiting {
		f.Kept = append(f.Kept, fmt.Sprintf("session %s has copies of the work tree and can be resumed; codeloops sessions rm %s removes both", id, id))
	}
	locks, held := session.StaleLocks(p.Host.Data("locks"))
	if !held {
		if r, err := repo.Open(p.Host.Dir, p.Host.Environ); err == nil {
			locks = append(locks, session.StaleGitLock(r.GitDir))
		}
	}
	f.locks(locks)
	if p.busy(store) { // its views and files cannot be told from leftovers
		f.Kept = append(f.Kept, "a run is active: views and temporary files were not checked")
		return f, nil
	}
	idle := func(path string) func(context.Context) error {
		return func(context.Context) error {
			if p.busy(store) { // a run has started since
				return errBusy
			}
			return view.Remove(path)
		}
	}
	p.views(f, idle)
	p.temporary(f, idle)
	return f, nil
}

// locks adds lock files and sockets; "" is ignored.
func (f *Found) locks(paths []string) {
	for _, path := range paths {
		what, remove := "the lock of a finished run", os.Remove
		if filepath.Ext(path) == ".sock" {
			what, remove = "the socket of a finished run", door.Clear
		}
		if path != "" {
			f.add(what, path, func(context.Context) error { return session.RemoveStale(path, remove) })
		}
	}
}

var errBusy = errors.New("a run is active")

// busy reports whether any run of the user is active, as far as that is known.
func (p Place) busy(store *session.Store) bool {
	_, held := session.StaleLocks(p.Host.Data("locks"))
	if held || worktree.Held(p.Host, p.Host.Dir) != nil {
		return true
	}
	all, err := store.Survey()
	for _, one := range all {
		if one.Status == session.Running {
			return true
		}
	}
	return err != nil
}

// discard removes what a session has left, under the session's lock.
func discard(store *session.Store, l session.Leftover) error {
	if l.Of == "" {
		return view.Remove(l.Path)
	}
	return store.Alone(l.Of, func() error { return view.Remove(l.Path) })
}

// checkpoints finds checkpoints of deleted sessions.
func (p Place) checkpoints(ctx context.Context, store *session.Store, f *Found) error {
	git := &worktree.Git{Environ: repo.WithoutRepository(p.Host.Environ)}
	all, err := checkpoints.OrphansOf(ctx, checkpoints.Repository{Git: git, Store: store})
	for _, of := range all {
		thing := Thing{What: wording.Count(len(of.Refs), "checkpoint") + " of deleted sessions", Path: of.Dir, remove: of.Remove}
		if of.All {
			thing.Bytes = session.Size(of.Dir)
		}
		f.Things = append(f.Things, thing)
	}
	return err
}

// views finds unused views.
func (p Place) views(f *Found, idle func(path string) func(context.Context) error) {
	for _, home := range []string{p.Host.Cache("views"), filepath.Join(p.Temp, fmt.Sprintf("codeloops-views-%d", os.Getuid()))} {
		if info, err := os.Lstat(home); err != nil || !owned(info) {
			continue
		}
		for _, dir := range view.Left(home) {
			f.add("views of a work tree", dir, idle(dir))
		}
	}
}

// passing matches the names of codeloops' temporary files.
var passing = wording.Pattern(`^codeloops-((checks|demo|diff|index|man|message|objects|patch|probe)-)?[0-9]+$`)

// temporary finds temporary files that are at least an hour old.
func (p Place) temporary(f *Found, idle func(path string) func(context.Context) error) {
	entries, _ := os.ReadDir(p.Temp) // unreadable files cannot be removed either
	for _, e := range entries {
		path := filepath.Join(p.Temp, e.Name())
		if passing().MatchString(e.Name()) && p.old(e) && !kept(path) {
			f.add("a temporary file", path, idle(path))
		}
	}
}

// old reports whether a file or directory is the user's and has not changed for an hour.
func (p Place) old(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && (e.IsDir() || e.Type().IsRegular()) && owned(info) && p.Host.Now().Sub(info.ModTime()) > time.Hour
}

// kept reports whether a path is a demonstration that the user wanted to keep.
func kept(path string) bool {
	if !strings.HasPrefix(filepath.Base(path), lookup.DemoDir) {
		return false
	}
	_, err := os.Lstat(filepath.Join(path, demo.ThrowAway))
	return err != nil
}

func (f *Found) add(what, path string, remove func(context.Context) error) {
	f.Things = append(f.Things, Thing{What: what, Path: path, Bytes: session.Size(path), remove: remove})
}

// Sum says how much was found.
func (f *Found) Sum() string {
	var bytes int64
	for _, t := range f.Things {
		bytes += t.Bytes
	}
	return fmt.Sprintf("%s, %s", wording.Count(len(f.Things), "thing"), wording.Bytes(bytes))
}

// List lists what was found, but only the first few of each kind.
func (f *Found) List() string {
	const most = 10 // of a kind
	var b strings.Builder
	named, more := map[string]int{}, &Found{}
	for _, t := range f.Things {
		if named[t.What]++; named[t.What] > most {
			more.Things = append(more.Things, t)
			continue
		}
		fmt.Fprintf(&b, "found %s  %s  (%s)\n", wording.Line(t.Path), wording.Bytes(t.Bytes), t.What)
	}
	if len(more.Things) > 0 {
		fmt.Fprintf(&b, "found more of these: %s\n", more.Sum())
	}
	for _, sentence := range f.Kept {
		fmt.Fprintf(&b, "not removed: %s\n", wording.Line(sentence))
	}
	return b.String()
}

// Remove removes everything that was found. It continues after errors.
func (f *Found) Remove(ctx context.Context) (err error) {
	for _, t := range f.Things {
		if ctx.Err() != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		if e := t.remove(ctx); e != nil {
			err = errors.Join(err, fmt.Errorf("remove %s: %w", t.Path, e))
		}
	}
	return err
}
