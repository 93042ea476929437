package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/ignore"
	"codeloops/internal/wording"
)

// A walk is one scan.
type walk struct {
	*Scanner
	known  Known
	busy   atomic.Int32 // running goroutines
	failed atomic.Bool  // stops the others

	mu       sync.Mutex
	warnings []string
	unread   []string
	hidden   []string      // see State.SelfIgnored
	passed   []string      // see State.IgnoredDirs
	pending  []Unconverted // files whose ids git has to compute
}

func (w *walk) warn(path string, err error) {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unread = append(w.unread, w.Within+path)
	path = w.full(path)
	w.warnings = append(w.warnings, wording.NameIn(fmt.Sprintf("cannot read %s: %v; changes there are not seen", path, err), path))
}

// full returns the path from the root of the outermost work tree.
func (w *walk) full(path string) string { return w.Within + strings.TrimSuffix(path, "/") }

// A place is a directory to visit with what is known of it. Any known part may be nil.
type place struct {
	name, path              string // path from the root with a slash at the end; "" for the root
	base, index, also, last *Dir
}

// scoped reports whether it contains a file that is in scope whatever the rules say.
func (p *place) scoped() bool {
	return p.index != nil || p.base != nil && !p.base.empty || p.also != nil && !p.also.empty
}

// found is what a place turned out to be: a directory, a nested repository at a commit, or
// nothing.
type found struct {
	dir    *Dir
	commit plumbing.Hash
}

// A visit is the work on one directory.
type visit struct {
	*walk
	place
	handle *handle
	rules  *ignore.Dir

	files, dirs []string // names, in git's order
	hasGit      bool
	found       []File // the files in scope
	deciders    int    // how many of them are ignored, see Decides
	waits       bool   // for git to compute ids
}

// visitPlace visits a place, given the visit of the directory above, nil for the root.
func (w *walk) visitPlace(ctx context.Context, p place, above *visit) (found, error) {
	if err := ctx.Err(); err != nil || w.failed.Load() {
		return found{}, err
	}
	v := &visit{walk: w, place: p}
	if err := v.list(above); err != nil {
		if gone(err) {
			return found{}, nil
		}
		return v.unreadable(err)
	}
	defer v.handle.close()
	if v.hasGit && v.path != "" {
		if head, err := v.Inside.Embedded(v.full(v.path), v.scoped()); err != nil || head.Repository {
			return found{commit: v.commitOf(v.path, plumbing.ZeroHash, head, err)}, nil
		}
	}
	if err := v.findFiles(ctx); err != nil {
		return found{}, err
	}
	dirs, err := v.visitAll(ctx, v.places())
	return found{dir: v.state(dirs)}, err
}

// list finds the names in the directory.
func (v *visit) list(above *visit) (err error) {
	path := filepath.Join(v.Root, filepath.FromSlash(v.path))
	if above == nil {
		v.handle, err = open(path, nil, "")
		v.rules = v.Rules.Root()
	} else {
		v.handle, err = open(path, above.handle, v.name)
		v.rules = above.rules.Sub(v.name)
	}
	if err != nil {
		return err
	}
	entries, err := v.handle.list()
	if err != nil {
		v.handle.close()
		return err
	}
	v.files = make([]string, 0, len(entries))
	for _, e := range entries {
		switch name := e.Name(); {
		case name == ".git" || v.IgnoreCase && strings.EqualFold(name, ".git"):
			v.hasGit = true
		case e.IsDir():
			v.dirs = append(v.dirs, name)
		case e.Type().IsRegular(), e.Type()&fs.ModeSymlink != 0:
			v.files = append(v.files, name)
		}
	}
	slices.Sort(v.files)
	slices.SortFunc(v.dirs, func(a, b string) int { return order(a, true, b) })
	return nil
}

// unreadable returns what was last known of a directory.
func (v *visit) unreadable(err error) (found, error) {
	if v.path == "" {
		return found{}, err
	}
	v.warn(v.path, err)
	switch {
	case v.last != nil:
		return found{dir: v.last}, nil
	case v.index != nil && !v.known.Names:
		return found{dir: v.index}, nil
	}
	return found{}, nil
}

// places returns the subdirectories to visit. Known nested repositories become gitlinks right
// away.
func (v *visit) places() (places []place) {
	for _, name := range v.dirs {
		p := place{name: name, path: v.path + name + "/", base: v.base.subdir(name), index: v.index.subdir(name), also: v.also.subdir(name), last: v.last.subdir(name)}
		nest := v.Inside.Nest(v.full(p.path))
		if p.index != nil && !nest {
			places = append(places, p)
			continue
		}
		base, index := v.base.file(name), v.index.file(name)
		known, linked := knownLink(base, index)
		switch {
		case nest, linked && (p.base == nil || p.base.empty):
			if p.index != nil { // its files are tracked here: it is a directory if it has no repository
				known = plumbing.ZeroHash
			}
			head, err := v.Inside.Head(v.full(p.path))
			v.link(name, v.commitOf(p.path, known, head, err))
		case p.scoped(), !v.rules.Ignored(name, true):
			places = append(places, p)
		case base != nil || index != nil: // git does not ask the rules
			head, err := v.Inside.Embedded(v.full(p.path), false)
			v.link(name, v.commitOf(p.path, plumbing.ZeroHash, head, err))
		default:
			v.mu.Lock()
			v.passed = append(v.passed, v.Within+p.path)
			v.mu.Unlock()
		}
	}
	return places
}

// knownLink returns the known commit of a gitlink, and whether there was one.
func knownLink(base, index *File) (plumbing.Hash, bool) {
	for _, f := range []*File{base, index} {
		if f != nil && f.Mode == Gitlink {
			return f.ID, true
		}
	}
	return plumbing.ZeroHash, false
}

// commitOf returns the commit that a nested repository is at, or else the known one, as for a
// submodule that is not checked out.
func (v *visit) commitOf(path string, known plumbing.Hash, head Head, err error) plumbing.Hash {
	if err != nil {
		v.warn(path, err)
	}
	if err != nil || head.Commit.IsZero() {
		return known
	}
	return head.Commit
}

// link records a directory as a gitlink, if the commit is known.
func (v *visit) link(name string, commit plumbing.Hash) {
	if !commit.IsZero() {
		i, _ := slices.BinarySearchFunc(v.found, name, func(f File, name string) int { return strings.Compare(f.Name, name) })
		v.found = slices.Insert(v.found, i, File{Name: name, Mode: Gitlink, ID: commit})
	}
}

// visitAll visits places, in as many goroutines for the whole walk as there are processors. It
// returns those that turned out to be directories; the others become gitlinks or nothing.
func (v *visit) visitAll(ctx context.Context, places []place) ([]*Dir, error) {
	v.handle.leave()
	all, errs := make([]found, len(places)), make([]error, len(places))
	one := func(i int) {
		if all[i], errs[i] = v.visitPlace(ctx, places[i], v); errs[i] != nil {
			v.failed.Store(true)
		}
	}
	var others sync.WaitGroup
	for i := range places {
		if v.busy.Load() >= int32(runtime.GOMAXPROCS(0)) {
			one(i)
			continue
		}
		v.busy.Add(1)
		others.Go(func() {
			defer v.busy.Add(-1)
			one(i)
		})
	}
	v.busy.Add(-1)
	others.Wait()
	v.busy.Add(1)
	dirs := make([]*Dir, 0, len(places))
	for i, f := range all {
		if f.dir != nil {
			dirs = append(dirs, f.dir)
		}
		v.link(places[i].name, f.commit)
	}
	return dirs, cmp.Or(errs...)
}

// state returns the state of the directory. It is the same value as at the last scan if nothing
// has changed, including the stats.
func (v *visit) state(dirs []*Dir) *Dir {
	v.hide(dirs)
	if v.last != nil && slices.Equal(v.found, v.last.files) && slices.Equal(dirs, v.last.Dirs) {
		return v.last
	}
	d := &Dir{Name: v.name, Dirs: dirs, files: v.found}
	if !v.waits && !slices.ContainsFunc(d.Dirs, func(d *Dir) bool { return !d.sealed }) {
		d.Seal()
	}
	return d
}

// gone reports whether an error means that the file or directory is no longer there, or was
// replaced by something else.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ELOOP) || errors.Is(err, errNotRegular)
}
