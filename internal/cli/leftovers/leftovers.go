// Package leftovers finds what runs that were killed have left, and removes it. What may be of
// use to a run that goes on, or to a session that can be carried on, is none of it.
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
	// Kept are sentences about what is left alone.
	Kept []string `json:"kept,omitempty"`
}

// A Place is where leftovers are looked for.
type Place struct {
	Host *host.Host
	Logs string // the directory of sessions
	Temp string // the system's directory for temporary files
}

// Find looks for leftovers. Nothing is removed.
func (p Place) Find(ctx context.Context) (*Found, error) {
	store, err := session.NewStore(p.Logs)
	if err != nil {
		return nil, err
	}
	f := &Found{Things: []Thing{}}
	of, err := (session.Cleaner{Store: store}).Leftovers(p.Host.Now())
	if err != nil {
		return nil, err
	}
	for _, l := range of {
		f.add(l.What, l.Path, func(context.Context) error { return discard(store, l) })
	}
	if err := p.checkpoints(ctx, store, f); err != nil {
		return nil, err
	}
	for _, id := range (session.Cleaner{Store: store}).Waiting() {
		f.Kept = append(f.Kept, fmt.Sprintf("session %s has copies of the work tree, and can be carried on; codeloops sessions rm %s removes it with them", id, id))
	}
	for _, path := range session.StaleDoors(p.Host.Data("locks")) {
		f.add("the socket of a run that is over", path, func(context.Context) error {
			return session.AtDoor(path, func() error { return door.Clear(path) })
		})
	}
	locks, _ := session.StaleLocks(p.Host.Data("locks"))
	if p.busy(store) { // which views and files are its own cannot be told
		f.locks(locks...)
		f.Kept = append(f.Kept, "a run is at work: views and temporary files were not looked at")
		return f, nil
	}
	if r, err := repo.Open(p.Host.Dir, p.Host.LookupEnv); err == nil {
		locks = append(locks, session.StaleGitLock(r.GitDir))
	}
	f.locks(locks...)
	idle := func(path string) func(context.Context) error {
		return func(context.Context) error {
			if p.busy(store) { // it has begun since
				return errBusy
			}
			return view.Remove(path)
		}
	}
	p.views(f, idle)
	p.temporary(f, idle)
	return f, nil
}

// locks takes files of locks; "" is none.
func (f *Found) locks(paths ...string) {
	for _, path := range paths {
		if path != "" {
			f.add("the lock of a run that is over", path, func(context.Context) error { return session.RemoveLock(path) })
		}
	}
}

var errBusy = errors.New("a run is at work")

// busy reports whether any run of the user's is at work, as far as that can be told.
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

// discard removes what a session has left, while nobody carries that on.
func discard(store *session.Store, l session.Leftover) error {
	if l.Of == "" {
		return view.Remove(l.Path)
	}
	return (session.Cleaner{Store: store}).Alone(l.Of, func() error { return view.Remove(l.Path) })
}

// checkpoints finds those of sessions that are gone.
func (p Place) checkpoints(ctx context.Context, store *session.Store, f *Found) error {
	git := &worktree.Git{Environ: repo.WithoutRepository(p.Host.Environ)}
	all, err := checkpoints.OrphansOf(ctx, checkpoints.Repository{Git: git, Store: store})
	for _, of := range all {
		thing := Thing{What: wording.Count(len(of.Refs), "checkpoint") + " of sessions that are gone", Path: of.Dir, remove: of.Remove}
		if of.All {
			thing.Bytes = size(of.Dir)
		}
		f.Things = append(f.Things, thing)
	}
	return err
}

// views finds those that nobody works in.
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

// passing matches what we make in the system's directory for temporary files.
var passing = wording.Pattern(`^codeloops-((objects|index|probe|man|demo)-)?[0-9]+$`)

// temporary finds temporary files that are an hour old.
func (p Place) temporary(f *Found, idle func(path string) func(context.Context) error) {
	entries, _ := os.ReadDir(p.Temp) // what cannot be read cannot be removed
	for _, e := range entries {
		path := filepath.Join(p.Temp, e.Name())
		if passing().MatchString(e.Name()) && p.old(e) && !kept(path) {
			f.add("a temporary file", path, idle(path))
		}
	}
}

// old reports whether a file or directory is the user's, and has not changed for an hour.
func (p Place) old(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && (e.IsDir() || e.Type().IsRegular()) && owned(info) && p.Host.Now().Sub(info.ModTime()) > time.Hour
}

// kept reports whether a demonstration was to be kept.
func kept(path string) bool {
	if !strings.HasPrefix(filepath.Base(path), lookup.DemoDir) {
		return false
	}
	_, err := os.Lstat(filepath.Join(path, demo.ThrowAway))
	return err != nil
}

func (f *Found) add(what, path string, remove func(context.Context) error) {
	f.Things = append(f.Things, Thing{What: what, Path: path, Bytes: size(path), remove: remove})
}

// size adds up the files in a directory, or is that of a file.
func size(path string) (bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // the total is for information
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// Sum says how much was found.
func (f *Found) Sum() string {
	var bytes int64
	for _, t := range f.Things {
		bytes += t.Bytes
	}
	return fmt.Sprintf("%s, %s", wording.Count(len(f.Things), "thing"), wording.Bytes(bytes))
}

// List lists what was found, behind a word for what becomes of it. Of many of a kind it names the
// first ones.
func (f *Found) List(done string) string {
	const most = 10 // of a kind
	var b strings.Builder
	named, more := map[string]int{}, &Found{}
	for _, t := range f.Things {
		if named[t.What]++; named[t.What] > most {
			more.Things = append(more.Things, t)
			continue
		}
		fmt.Fprintf(&b, "%s %s  %s  (%s)\n", done, wording.Line(t.Path), wording.Bytes(t.Bytes), t.What)
	}
	if len(more.Things) > 0 {
		fmt.Fprintf(&b, "%s more of these: %s\n", done, more.Sum())
	}
	for _, sentence := range f.Kept {
		fmt.Fprintf(&b, "left alone: %s\n", wording.Line(sentence))
	}
	return b.String()
}

// Remove removes all of it. What cannot be removed keeps nothing else from being removed.
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
