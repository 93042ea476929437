// Package view gives commands a view of the work tree: they see everything in it, but what they
// write does not reach it.
//
// On Linux a view is an overlay (see overlayfs in the kernel's documentation) at the path of the
// work tree, which only the commands in the view see. On other systems, or where that is not
// permitted, it is a copy at another path. Its files share their blocks with the user's if the
// file system can do that.
package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"

	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

// A Kind is how views are made.
type Kind string

// The kinds of views. Auto is the first of Overlay, Clone and Copy that works.
const (
	Auto    Kind = "auto"
	Overlay Kind = "overlay"
	Clone   Kind = "clone" // a copy whose files share their blocks with the user's
	Copy    Kind = "copy"
	Tree    Kind = "tree" // no view: commands work in the user's work tree
)

// A Starter runs a command and leaves none of its processes running, as [proc.Runner] does.
type Starter interface {
	Run(context.Context, proc.Command) (proc.Result, error)
}

// A Place is a work tree to make views of. The paths are absolute and free of symbolic links.
type Place struct {
	Root      string // of the work tree
	GitDir    string
	CommonDir string // the git directory that linked work trees share, or GitDir
	Home      string // where views are kept: a private directory outside the others
	Starter   Starter
	// Ignored reports whether git ignores a file, given its slash-separated path from the root.
	// Changes to ignored files are not reported.
	Ignored func(path string) bool
	// Sight, if set, shows commands the work tree at the path of another one. The kind of views
	// must be Overlay or Tree then.
	Sight *Sight

	kind  Kind
	made  atomic.Int32
	hides atomic.Bool // see Marked
}

// Use chooses a kind of views and returns it: the one asked for, if it works, or for Auto the first
// one that works. It also removes what a killed process has left in the place's home.
func (p *Place) Use(ctx context.Context, asked Kind) (Kind, error) {
	if p.kind = Tree; asked == Tree {
		return Tree, nil
	}
	if err := p.settle(); err != nil {
		return "", err
	}
	kinds := []Kind{asked}
	if asked == Auto {
		kinds = []Kind{Overlay, Clone, Copy}
	}
	var err error
	for _, p.kind = range kinds {
		if err = p.try(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", hint.Errorf(`set critic_view = "auto": it takes the best kind there is`, "the critic's view cannot be of the kind %q here: %w", p.kind, err)
	}
	return p.kind, nil
}

// Kind returns the kind that Use has chosen.
func (p *Place) Kind() Kind { return p.kind }

// settle makes an empty home, after checking that it is not in a directory to view.
func (p *Place) settle() error {
	if err := p.outside(); err != nil {
		return err
	}
	err := os.MkdirAll(p.Home, 0o700)
	if err == nil { // it may have existed, with other permissions
		err = os.Chmod(p.Home, 0o700) //nolint:gosec // a directory
	}
	if err == nil {
		p.Home, err = filepath.EvalSymlinks(p.Home)
	}
	if err != nil {
		return fmt.Errorf("make views of %s: %w", p.Root, err)
	}
	if err := p.outside(); err != nil {
		return err
	}
	if err := remove(p.home()); err != nil {
		return fmt.Errorf("remove the views of an earlier run: %w", err)
	}
	return nil
}

// outside returns an error if the home is in a directory to view.
func (p *Place) outside() error {
	for _, of := range []string{p.Root, p.GitDir, p.CommonDir} {
		if below(of, p.Home) {
			return fmt.Errorf("make views of %s: %s, where they are kept, lies in %s", p.Root, p.Home, of)
		}
	}
	return nil
}

// try returns an error if views of the place's kind are not possible.
func (p *Place) try(ctx context.Context) error {
	switch p.kind {
	case Overlay:
		return p.tryOverlay(ctx)
	case Clone:
		return tryClone(p.Root, p.home())
	case Auto, Copy, Tree:
	}
	return nil
}

// home is the same for the same work tree, so that the next process finds what was left.
func (p *Place) home() string { return filepath.Join(p.Home, digest(p.Root)) }

// A View is one version of the work tree. It must be used by one goroutine.
type View struct {
	place  *Place
	home   string   // its own
	layers []*layer // of an overlay
	copied *copied  // of any other kind
}

// Open makes a view of the work tree. The caller closes it.
func (p *Place) Open(ctx context.Context) (*View, error) {
	v := &View{place: p, home: filepath.Join(p.home(), strconv.Itoa(int(p.made.Add(1))))}
	err := os.MkdirAll(v.home, 0o700)
	switch {
	case err != nil:
	case p.kind == Overlay && !p.hides.Load():
		err = v.addLayers()
	default:
		v.copied, err = p.copy(ctx, filepath.Join(v.home, "tree"), p.kind == Clone)
	}
	if err != nil {
		return nil, fmt.Errorf("make a view of %s: %w", p.Root, errors.Join(err, v.Close()))
	}
	return v, nil
}

// Dir returns the path in the view of a directory of the work tree or, if that is gone, of the nearest one
// above it.
func (v *View) Dir(dir string) string {
	p := v.place
	if v.copied == nil {
		return p.found(Standing(p.Root, p.own(dir)))
	}
	return v.copied.path(Standing(p.Root, dir))
}

// Standing returns a directory of the work tree at root or, if it is gone, the nearest one above it: an agent
// may rename the directory that it works in. Others are returned as they are.
func Standing(root, dir string) string {
	for below(root, dir) && dir != root {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// Run runs a command in the view. Its directory must be one that Dir has returned.
func (v *View) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	if v.copied != nil {
		c.Env = git.WithoutRepository(c.Env)
		return v.place.Starter.Run(ctx, c)
	}
	for i, l := range v.layers {
		work := filepath.Join(v.home, fmt.Sprintf("work%d", i)) // mount needs an empty one
		if err := errors.Join(remove(work), os.Mkdir(work, 0o700)); err != nil {
			return proc.Result{}, fmt.Errorf("make a view of %s: %w", v.place.Root, err)
		}
		lower, err := v.place.Sight.lower(l.dir)
		if err != nil {
			return proc.Result{}, fmt.Errorf("make a view of %s: %w", v.place.Root, err)
		}
		c.Overlays = append(c.Overlays, proc.Overlay{Dir: v.place.found(l.dir), Lower: lower, Upper: l.own, Work: work})
	}
	if v.place.Sight != nil {
		c.Binds = append(c.Binds, v.place.Sight.objects...)
	}
	c.Hidden = append(c.Hidden, v.place.Home) // it has what was written
	return v.place.Starter.Run(ctx, c)
}

// Written returns what was written in the view so far, compared with the current work tree.
func (v *View) Written(ctx context.Context) (loop.Written, error) {
	changes, err := v.changes()
	if err != nil {
		return loop.Written{}, fmt.Errorf("see what was written in a view of %s: %w", v.place.Root, err)
	}
	w := v.place.summary(changes) //nolint:contextcheck // git takes milliseconds to list an index
	if w.Patch, err = patchOf(ctx, v.home, changes, w.Changed); err != nil {
		return loop.Written{}, fmt.Errorf("see what was written in a view of %s: %w", v.place.Root, err)
	}
	return w, nil
}

// Prints returns for each of some files of the work tree what identifies it in the view: its mode and
// its content.
func (v *View) Prints(paths []string) ([]string, error) {
	prints := make([]string, len(paths))
	changes, err := v.changes()
	for _, c := range changes {
		if _, inside := c.inGit(); !inside && err == nil {
			if i := slices.Index(paths, c.path()); i >= 0 {
				prints[i], err = printOf(c.own())
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("see what was written in a view of %s: %w", v.place.Root, err)
	}
	return prints, nil
}

// Discard undoes what was written in the view, except for ignored files and directories.
func (v *View) Discard(ctx context.Context) error {
	changes, err := v.changes()
	if err == nil {
		changes = slices.DeleteFunc(changes, func(c change) bool {
			_, git := c.inGit()
			return !git && v.place.Ignored(c.path())
		})
		if err = v.undo(ctx, changes); errors.Is(err, fs.ErrPermission) { // in a directory that commands have made read-only
			err = cmp.Or(unlock(v.home), v.undo(ctx, changes))
		}
	}
	if err != nil {
		return fmt.Errorf("take back what was written in a view of %s: %w", v.place.Root, err)
	}
	return nil
}

func (v *View) undo(ctx context.Context, changes []change) error {
	if v.copied != nil {
		return v.copied.discard(ctx, changes, v.place.ignoredDir)
	}
	return v.discard(changes)
}

// Close removes the view.
func (v *View) Close() error {
	if err := Remove(v.home); err != nil {
		return fmt.Errorf("remove a view of %s: %w", v.place.Root, err)
	}
	_ = os.Remove(v.place.home()) // fails if there are others
	return nil
}

// changes returns the changes in all directories of the view, even those that commands have made
// unreadable.
func (v *View) changes() ([]change, error) {
	changes, err := v.look()
	if errors.Is(err, fs.ErrPermission) {
		if err := unlock(v.home); err != nil {
			return nil, err
		}
		return v.look()
	}
	return changes, err
}

func (v *View) look() ([]change, error) {
	if v.copied != nil {
		return v.copied.changes()
	}
	return v.written()
}

// ignoredDir reports whether git ignores a directory, whatever is in it.
func (p *Place) ignoredDir(s spot) bool {
	_, inside := s.inGit()
	return !inside && p.Ignored(s.path()+"/-")
}

// dirs returns the work tree and the git directories that are outside it.
func (p *Place) dirs() []string {
	all := []string{p.Root}
	for _, at := range []string{p.CommonDir, p.GitDir} {
		if !slices.ContainsFunc(all, func(dir string) bool { return below(dir, at) }) {
			all = append(all, at)
		}
	}
	return all
}

// below reports whether a path is a directory or in it.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
