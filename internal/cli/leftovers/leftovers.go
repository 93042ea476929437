// Package leftovers finds and removes what killed runs have left in directories for what passes. What stands beside the
// log of a session belongs to the session, and goes with it.
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
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
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
func (p Place) Find() (*Found, error) {
	store, err := session.NewStore(p.Logs)
	if err != nil {
		return nil, err
	}
	f := &Found{Things: []Thing{}}
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

var errBusy = errors.New("a run is active")

// busy reports whether any run of the user is active, as far as that is known.
func (p Place) busy(store *session.Store) bool {
	if len(session.Holders(p.Host.Data("locks"))) > 0 || worktree.Held(p.Host, p.Host.Dir) != nil {
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
