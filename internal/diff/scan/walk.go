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
	busy   atomic.Int32 // goroutines at work
	failed atomic.Bool  // nothing more is looked at then

	mu       sync.Mutex
	warnings []string
	hidden   []string      // see State.Hidden
	passed   []string      // see State.Passed
	pending  []Unconverted // files without an id yet: git is to give them
}

func (w *walk) warn(path string, err error) {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	path = w.Within + strings.TrimSuffix(path, "/")
	w.warnings = append(w.warnings, wording.NameIn(fmt.Sprintf("cannot read %s: %v; changes there are not seen", path, err), path))
}

// A place is a directory to visit with what is known of it, any of which may be nil.
type place struct {
	name, path              string // path from the root with a slash at its end; "" for the root
	base, index, also, last *Dir
}

// scoped reports whether a file below is in scope by itself.
func (p *place) scoped() bool {
	return p.index != nil || p.base != nil && !p.base.empty || p.also != nil && !p.also.empty
}

// found is what a place turned out to be: a directory, the commit of a repository of its
// own, or nothing.
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

	files, dirs []string // names of what is there, in git's order
	hasGit      bool
	found       []File // the files in scope
	deciders    int    // so many of them are ignored, see Decides
	waits       bool   // for git to identify files
}

// visitPlace finds what a place turned out to be, given the visit of the directory above,
// nil for the root.
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
		if head, err := v.Inside.Embedded(v.path, v.scoped()); err != nil || head.Repository {
			return found{commit: v.commitOf(v.path, plumbing.ZeroHash, head, err)}, nil // as git does once it has one
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

// unreadable keeps what was last known of a directory.
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

// places returns the subdirectories to visit. Those that are known to be
// repositories of their own become files at once.
func (v *visit) places() (places []place) {
	for _, name := range v.dirs {
		p := place{name: name, path: v.path + name + "/", base: v.base.subdir(name), index: v.index.subdir(name), also: v.also.subdir(name), last: v.last.subdir(name)}
		nest := v.Inside.Nest(p.path)
		if p.index != nil && !nest { // most often
			places = append(places, p)
			continue
		}
		base, index := v.base.file(name), v.index.file(name)
		known, linked := knownLink(base, index)
		switch {
		case nest, linked && (p.base == nil || p.base.empty):
			if p.index != nil { // files of it are tracked here: without a repository of its own it is a directory
				known = plumbing.ZeroHash
			}
			head, err := v.Inside.Head(p.path)
			v.link(name, v.commitOf(p.path, known, head, err))
		case p.scoped(), !v.rules.Ignored(name, true):
			places = append(places, p)
		case base != nil || index != nil: // git does not ask the rules
			head, err := v.Inside.Embedded(p.path, false)
			v.link(name, v.commitOf(p.path, plumbing.ZeroHash, head, err))
		default:
			v.mu.Lock()
			v.passed = append(v.passed, p.path)
			v.mu.Unlock()
		}
	}
	return places
}

// knownLink returns the commit that a link has been at, zero if it has been none.
func knownLink(base, index *File) (plumbing.Hash, bool) {
	for _, f := range []*File{base, index} {
		if f != nil && f.Mode == Gitlink {
			return f.ID, true
		}
	}
	return plumbing.ZeroHash, false
}

// commitOf returns the commit that a repository inside is at, or the known one when
// it has none, as one that is not checked out.
func (v *visit) commitOf(path string, known plumbing.Hash, head Head, err error) plumbing.Hash {
	if err != nil {
		v.warn(path, err)
	}
	if err != nil || head.Commit.IsZero() {
		return known
	}
	return head.Commit
}

// link makes a directory a link to a commit, if that is known.
func (v *visit) link(name string, commit plumbing.Hash) {
	if !commit.IsZero() {
		i, _ := slices.BinarySearchFunc(v.found, name, func(f File, name string) int { return strings.Compare(f.Name, name) })
		v.found = slices.Insert(v.found, i, File{Name: name, Mode: Gitlink, ID: commit})
	}
}

// visitAll visits places, with as many goroutines at work in the whole walk as there
// are processors, and returns those that turned out to be directories. The others
// become links or nothing.
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

// state puts together what the directory is: what it was at the last scan, if nothing
// differs, the files' stats included.
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

// gone reports an error that means that nothing of the kind is there: no
// entry, or one that is no directory, or a symlink.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ELOOP) || errors.Is(err, errNotRegular)
}
