package scan

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/ignore"
)

// A place is a directory to visit with what is known of it.
type place struct {
	name, path              string // path from the root with a slash at its end; "" for the root
	base, index, last, also *Dir
	listed                  bool        // see Known.Listed
	parent                  *ignore.Dir // nil for the root
}

// known reports whether a file below is in scope by itself.
func (p place) known() bool {
	return p.index != nil || p.base != nil && !p.base.empty || p.also != nil && !p.also.empty
}

// found is what a place turned out to be: a directory, a repository of its
// own, or nothing (both nil).
type found struct {
	dir  *Dir
	link *File
	// repository: it is one that has no commit yet.
	repository bool
}

// visit finds the state of a directory with all that is below.
func (w *walk) visit(ctx context.Context, p place) (found, error) {
	if err := ctx.Err(); err != nil {
		return found{}, err
	}
	v := visit{walk: w, place: p, handle: newHandle(w.absolute(p.path))}
	defer v.handle.close()
	err := v.list()
	if gone(err) {
		return found{}, nil
	}
	if err != nil {
		return w.unreadable(p, err)
	}
	if v.listing.hasGit && p.path != "" && !p.known() {
		if head, err := w.Head(p.path); err != nil || head.Repository {
			return v.repository(head, err)
		}
	}
	dir, err := v.directory(ctx)
	if err == nil && dir.equal(p.last) {
		dir = p.last
	}
	return found{dir: dir}, err
}

// unreadable keeps what was last known of a directory.
func (w *walk) unreadable(p place, err error) (found, error) {
	if p.path == "" {
		return found{}, err
	}
	w.warn(p.path, err)
	switch {
	case p.last != nil:
		return found{dir: p.last}, nil
	case p.index != nil:
		return found{dir: p.index}, nil
	}
	return found{}, nil
}

// A visit is the work on one directory.
type visit struct {
	*walk
	place
	handle *handle
	rules  *ignore.Dir

	files, dirs []string // names, in git's order
	listing     listing
	dir         *Dir
}

// list finds the names in the directory: those of the last time, if nothing has
// come or gone since.
func (v *visit) list() error {
	if v.unchanged() {
		v.recall()
		return nil
	}
	if err := v.handle.ensure(); err != nil {
		return err
	}
	at := v.Now()
	entries, st, err := v.handle.list()
	if err != nil {
		return err
	}
	v.sort(entries)
	if v.clock.dirs && v.clock.settled(st, at) {
		v.listing.stat = st
	}
	// Rules that appear bear on all that is below; those that go or change
	// are noticed beforehand.
	v.listed = v.listed && v.last != nil && v.last.listing.hasIgnore == v.listing.hasIgnore
	return nil
}

// unchanged reports whether the names in scope are those of the last time.
func (v *visit) unchanged() bool {
	if !v.listed || v.last == nil || v.last.listing.stat == (Stat{}) {
		return false
	}
	for _, d := range []*Dir{v.base, v.index, v.also} {
		if !v.last.covers(d) {
			return false
		}
	}
	st, k, err := v.handle.stat("")
	return err == nil && k == directory && st == v.last.listing.stat
}

// recall takes the names of the last time.
func (v *visit) recall() {
	v.listing = v.last.listing
	v.files = make([]string, 0, len(v.last.Files))
	v.dirs = make([]string, 0, len(v.last.Dirs))
	for name := range strings.SplitAfterSeq(v.listing.others, "/") {
		if name != "" {
			v.dirs = append(v.dirs, strings.TrimSuffix(name, "/"))
		}
	}
	v.listing.others = ""
	for i := range v.last.Files {
		if f := &v.last.Files[i]; f.Mode == Gitlink {
			v.dirs = append(v.dirs, f.Name)
		} else {
			v.files = append(v.files, f.Name)
		}
	}
	recalled := len(v.dirs)
	for _, d := range v.last.Dirs {
		v.dirs = append(v.dirs, d.Name)
	}
	if recalled > 0 {
		sortDirs(v.dirs)
	}
	v.enter()
}

// sort tells files from directories and drops what git never looks at.
func (v *visit) sort(entries []fs.DirEntry) {
	for _, e := range entries {
		name := e.Name()
		switch t := e.Type(); {
		case v.isDotGit(name):
			v.listing.hasGit = true
		case t.IsDir():
			v.dirs = append(v.dirs, name)
		case t.IsRegular(), t&fs.ModeSymlink != 0:
			v.files = append(v.files, name)
			v.listing.hasIgnore = v.listing.hasIgnore || v.isIgnore(name)
		}
	}
	slices.Sort(v.files)
	sortDirs(v.dirs)
	v.enter()
}

func sortDirs(names []string) {
	slices.SortFunc(names, func(a, b string) int { return order(a, true, b, true) })
}

// enter finds the ignore rules.
func (v *visit) enter() {
	if v.parent == nil {
		v.rules = v.Rules.Root(v.listing.hasIgnore)
	} else {
		v.rules = v.parent.Sub(v.name, v.listing.hasIgnore)
	}
}

func (v *visit) isDotGit(name string) bool {
	return name == ".git" || v.IgnoreCase && strings.EqualFold(name, ".git")
}

func (v *visit) isIgnore(name string) bool {
	return name == ".gitignore" || v.IgnoreCase && strings.EqualFold(name, ".gitignore")
}

// repository makes a repository inside this one a single entry, as git does
// once it has a commit.
func (v *visit) repository(head Head, err error) (found, error) {
	if err != nil {
		v.warn(v.path, err)
		return found{repository: true}, nil
	}
	if head.Commit.IsZero() {
		return found{repository: true}, nil
	}
	return found{link: &File{Name: v.name, Mode: Gitlink, ID: head.Commit}}, nil
}

// directory finds the files, lets go of the open directory, then visits the
// subdirectories.
func (v *visit) directory(ctx context.Context) (*Dir, error) {
	v.dir = &Dir{Name: v.name}
	err := v.findFiles(ctx)
	v.handle.close()
	if err != nil {
		return nil, err
	}
	err = v.findDirs(ctx)
	v.dir.listing = v.listing
	return v.dir, err
}

func (v *visit) findDirs(ctx context.Context) error {
	places := v.places()
	results := make([]found, len(places))
	errs := make([]error, len(places))
	var others sync.WaitGroup
	for i, p := range places {
		select {
		case v.slots <- struct{}{}:
			others.Go(func() {
				results[i], errs[i] = v.visit(ctx, p)
				<-v.slots
			})
		default:
			results[i], errs[i] = v.visit(ctx, p)
		}
	}
	others.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	for i, r := range results {
		switch {
		case r.dir != nil:
			v.dir.Dirs = append(v.dir.Dirs, r.dir)
		case r.link != nil:
			v.addLink(*r.link)
		case r.repository:
			v.listing.others += places[i].name + "/"
		default:
			v.listing.stat = Stat{} // it may come back without a trace here
		}
	}
	return nil
}

// places returns the subdirectories to visit. Those that are known to be
// repositories of their own become files at once.
func (v *visit) places() []place {
	var places []place
	for _, name := range v.dirs {
		p := place{
			name: name, path: v.path + name + "/", listed: v.listed, parent: v.rules,
			base: v.base.subdir(name), index: v.index.subdir(name),
			last: v.last.subdir(name), also: v.also.subdir(name),
		}
		base, index := v.base.file(name), v.index.file(name)
		id, linked := knownLink(base, index)
		switch {
		case linked && p.index == nil:
			v.addLink(File{Name: name, Mode: Gitlink, ID: v.linked(p.path, id)})
		case p.known(), !v.rules.Ignored(name, true):
			places = append(places, p)
		case base != nil || index != nil:
			// A path in scope that has become a repository: git does not ask
			// the rules.
			if commit := v.linked(p.path, plumbing.ZeroHash); !commit.IsZero() {
				v.addLink(File{Name: name, Mode: Gitlink, ID: commit})
			}
		}
	}
	return places
}

func knownLink(base, index *File) (plumbing.Hash, bool) {
	for _, f := range []*File{base, index} {
		if f != nil && f.Mode == Gitlink {
			return f.ID, true
		}
	}
	return plumbing.ZeroHash, false
}

// linked returns the commit that a submodule is at, or the known one when it
// has none, as one that is not checked out.
func (v *visit) linked(path string, known plumbing.Hash) plumbing.Hash {
	head, err := v.Head(path)
	if err != nil {
		v.warn(path, err)
	}
	if err != nil || head.Commit.IsZero() {
		return known
	}
	return head.Commit
}

func (v *visit) addLink(link File) {
	i, _ := slices.BinarySearchFunc(v.dir.Files, link.Name, byName)
	v.dir.Files = slices.Insert(v.dir.Files, i, link)
}

// gone reports an error that means that nothing of the kind is there: no
// entry, or one that is no directory, or a symlink.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ELOOP) || errors.Is(err, errNotRegular)
}
