package scan

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
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

// visit finds what is in a directory itself. It returns what the directory
// turned out to be or, when that is a directory, the visit, to be finished
// after those of its places.
func (w *walk) visit(ctx context.Context, p place) (found, *visit, error) {
	if err := ctx.Err(); err != nil {
		return found{}, nil, err
	}
	if w.spared(p) {
		return found{dir: p.last}, nil, nil
	}
	w.watch(p.path)
	v := &visit{walk: w, place: p, handle: newHandle(w.absolute(p.path)), scratch: w.borrow()}
	defer v.release()
	err := v.list()
	if gone(err) {
		return found{}, nil, nil
	}
	if err != nil {
		result, err := w.unreadable(p, err)
		return result, nil, err
	}
	if v.listing.hasGit && p.path != "" && !p.known() {
		v.unsure(p.path)
		if head, err := w.Head(p.path); err != nil || head.Repository {
			return v.repository(head, err), nil, nil
		}
	}
	v.dir = &Dir{Name: v.name}
	if err := v.findFiles(ctx); err != nil {
		return found{}, nil, err
	}
	v.findPlaces()
	return found{}, v, nil
}

// spared reports whether a directory is known to be what it was at the last
// time. Rules that bear on it must be the same, too.
func (w *walk) spared(p place) bool {
	return w.quiet != nil && p.listed && p.last != nil && w.quiet(p.path)
}

// unreadable keeps what was last known of a directory.
func (w *walk) unreadable(p place, err error) (found, error) {
	if p.path == "" {
		return found{}, err
	}
	w.warn(p.path, err)
	switch {
	case p.last != nil && !w.foreign:
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
	above  *visit // nil for the root
	at     int    // in the results of the one above
	handle *handle
	rules  *ignore.Dir

	places  []place // the subdirectories to visit
	results []found // of the places
	left    atomic.Int32

	// scratch is at hand until the subdirectories are visited.
	scratch     *scratch
	files, dirs []string // names, in git's order; in the scratch
	listing     listing
	dir         *Dir
	waits       bool // for git to identify files
}

// release lets go of what a visit needs only while it looks at the directory
// itself.
func (v *visit) release() {
	v.handle.close()
	if v.scratch != nil {
		v.scratch.files, v.scratch.dirs = v.files, v.dirs
		v.files, v.dirs = nil, nil
		v.giveBack(v.scratch)
		v.scratch = nil
	}
}

// list finds the names in the directory: those of the last time, if nothing has
// come or gone since.
func (v *visit) list() error {
	v.files, v.dirs = v.scratch.files[:0], v.scratch.dirs[:0]
	if v.unchanged() {
		v.recall()
		return nil
	}
	if err := v.handle.ensure(); err != nil {
		return err
	}
	at := v.Now()
	entries, st, err := v.handle.list(v.scratch)
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
	st, k, err := v.handle.glance()
	return err == nil && k == directory && st == v.last.listing.stat
}

// recall takes the names of the last time.
func (v *visit) recall() {
	v.listing = v.last.listing
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
func (v *visit) sort(entries []entry) {
	for _, e := range entries {
		switch {
		case v.isDotGit(e.name):
			v.listing.hasGit = true
		case e.kind == directory:
			v.dirs = append(v.dirs, e.name)
		case e.kind == regular, e.kind == executable, e.kind == symlink:
			v.files = append(v.files, e.name)
			v.listing.hasIgnore = v.listing.hasIgnore || v.isIgnore(e.name)
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
func (v *visit) repository(head Head, err error) found {
	if err != nil {
		v.warn(v.path, err)
		return found{repository: true}
	}
	if head.Commit.IsZero() {
		return found{repository: true}
	}
	return found{link: &File{Name: v.name, Mode: Gitlink, ID: head.Commit}}
}

// finish puts together what the visits below have found.
func (v *visit) finish() found {
	if len(v.places) > 0 {
		v.dir.Dirs = make([]*Dir, 0, len(v.places))
	}
	for i, r := range v.results {
		switch {
		case r.dir != nil:
			v.dir.Dirs = append(v.dir.Dirs, r.dir)
		case r.link != nil:
			v.unsure(v.path)
			v.addLink(*r.link)
		case r.repository:
			v.unsure(v.path)
			v.listing.others += v.places[i].name + "/"
		default:
			v.listing.stat = Stat{} // it may come back without a trace here
		}
	}
	v.dir.listing = v.listing
	switch {
	case v.dir.equal(v.last):
		return found{dir: v.last}
	case !v.waits && !slices.ContainsFunc(v.dir.Dirs, func(d *Dir) bool { return !d.sealed }):
		s := v.borrow()
		v.dir.seal(v.index, s)
		v.giveBack(s)
	}
	return found{dir: v.dir}
}

// findPlaces finds the subdirectories to visit. Those that are known to be
// repositories of their own become files at once.
func (v *visit) findPlaces() {
	if len(v.dirs) == 0 {
		return
	}
	v.places = make([]place, 0, len(v.dirs))
	for _, name := range v.dirs {
		p := place{
			name: name, path: v.path + name + "/", listed: v.listed, parent: v.rules,
			base: v.base.subdir(name), index: v.index.subdir(name),
			last: v.last.subdir(name), also: v.also.subdir(name),
		}
		base, index := v.base.file(name), v.index.file(name)
		id, linked := knownLink(base, index)
		switch {
		case linked && p.index == nil && (p.base == nil || p.base.empty):
			v.unsure(v.path)
			v.addLink(File{Name: name, Mode: Gitlink, ID: v.linked(p.path, id)})
		case p.known(), !v.rules.Ignored(name, true):
			v.places = append(v.places, p)
		case base != nil || index != nil:
			v.unsure(v.path)
			// A path in scope that has become a repository: git does not ask
			// the rules.
			if commit := v.linked(p.path, plumbing.ZeroHash); !commit.IsZero() {
				v.addLink(File{Name: name, Mode: Gitlink, ID: commit})
			}
		}
	}
	v.results = make([]found, len(v.places))
	v.left.Store(int32(len(v.places)))
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
