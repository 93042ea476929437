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

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/ignore"
)

// A place is a directory to visit with what is known of it.
type place struct {
	name, path              string // path from the root with a slash at its end; "" for the root
	full                    string // the path that the operating system knows, with a slash at its end
	base, index, last, also *Dir
	listed                  bool // see Known.Listed
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
func (w *walk) visit(ctx context.Context, t task, s *scratch) (found, *visit, error) {
	if err := ctx.Err(); err != nil {
		return found{}, nil, err
	}
	if w.spared(t.place) {
		return found{dir: t.last}, nil, nil
	}
	w.watch(t.path)
	v := s.visit()
	v.begin(w, t, s)
	result, whole, err := v.look(ctx)
	if len(v.places) == 0 || !v.hold() {
		v.handle.close()
	}
	v.scratch = nil
	if !whole {
		s.done(v)
		return result, nil, err
	}
	return found{}, v, nil
}

// look is visit. It reports whether it found a directory.
func (v *visit) look(ctx context.Context) (result found, whole bool, err error) {
	err = v.list()
	if gone(err) {
		return found{}, false, nil
	}
	if err != nil {
		result, err := v.unreadable(v.place, err)
		return result, false, err
	}
	if v.listing.hasGit && v.path != "" && !v.known() {
		v.unsure(v.path)
		if head, err := v.Head(v.path); err != nil || head.Repository {
			return v.repository(head, err), false, nil
		}
	}
	if err := v.findFiles(ctx); err != nil {
		return found{}, false, err
	}
	v.findPlaces()
	return found{}, true, nil
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

// A visit is the work on one directory. Its memory is used again for another one
// when it is over.
type visit struct {
	*walk
	task
	handle handle
	held   bool                       // the handle is open until all is finished
	rules  atomic.Pointer[ignore.Dir] // see ignores
	attrs  atomic.Pointer[attr.Dir]   // see attributes

	places  []place // the subdirectories to visit
	results []found // of the places
	left    atomic.Int32

	scratch     *scratch // until the subdirectories are visited
	files, dirs []string // names, in git's order; likewise
	listing     listing
	found       []File // in the directory
	waits       bool   // for git to identify files
}

// attributes returns what defines the attributes of the files in the directory.
func (v *visit) attributes() *attr.Dir {
	if attrs := v.attrs.Load(); attrs != nil {
		return attrs
	}
	var attrs *attr.Dir
	if v.above == nil {
		attrs = v.Attributes.Root(v.listing.hasAttributes)
	} else {
		attrs = v.above.attributes().Sub(v.name, v.listing.hasAttributes)
	}
	if v.attrs.CompareAndSwap(nil, attrs) {
		return attrs
	}
	return v.attrs.Load()
}

func (v *visit) begin(w *walk, t task, s *scratch) {
	v.walk, v.task, v.scratch = w, t, s
	var above *handle
	if t.above != nil {
		above = &t.above.handle
	}
	v.handle.reset(w.absolute(t.place), t.name, above, w.clock.local)
}

// maxHeld is how many directories may be open at a time for those below to be
// found faster: more than a tree is deep, less than a process may have.
const maxHeld = 100

// hold keeps the directory open, if it is, until the visit is finished. It
// reports false when there are enough of them.
func (v *visit) hold() bool {
	if !v.handle.isOpen() {
		return false
	}
	v.held = v.open.Add(1) <= maxHeld
	if !v.held {
		v.open.Add(-1)
	}
	return v.held
}

// letGo closes the directory.
func (v *visit) letGo() {
	if v.held {
		v.handle.close()
		v.open.Add(-1)
		v.held = false
	}
}

// reset drops what the visit knows but for the memory of it.
func (v *visit) reset() {
	clear(v.places)
	clear(v.results)
	v.places, v.results = v.places[:0], v.results[:0]
	v.files, v.dirs = v.files[:0], v.dirs[:0]
	v.walk, v.task, v.found = nil, task{}, nil
	v.listing, v.waits = listing{}, false
	v.rules.Store(nil)
	v.attrs.Store(nil)
}

// ignores returns the ignore rules in the directory. They are needed only for
// names that nobody knows, and by then those of the directory above may have
// been made by another goroutine.
func (v *visit) ignores() *ignore.Dir {
	if rules := v.rules.Load(); rules != nil {
		return rules
	}
	var rules *ignore.Dir
	if v.above == nil {
		rules = v.Rules.Root(v.listing.hasIgnore)
	} else {
		rules = v.above.ignores().Sub(v.name, v.listing.hasIgnore)
	}
	if v.rules.CompareAndSwap(nil, rules) {
		return rules
	}
	return v.rules.Load()
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
	const many = 50 // files: a longer path for each of them takes longer than to open the directory
	st, k, err := v.handle.glance(len(v.last.Dirs) > 0 || len(v.last.Files) > many)
	return err == nil && k == directory && st == v.last.listing.stat
}

// recall takes the names of the last time.
func (v *visit) recall() {
	v.listing = v.last.listing
	for v.listing.others != "" {
		var name string
		name, v.listing.others, _ = strings.Cut(v.listing.others, "/")
		v.dirs = append(v.dirs, name)
	}
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
}

// sort tells files from directories and drops what git never looks at.
func (v *visit) sort(entries []entry) {
	for _, e := range entries {
		switch {
		case v.isNamed(e.name, ".git"):
			v.listing.hasGit = true
		case e.kind == directory:
			v.dirs = append(v.dirs, e.name)
		case e.kind == regular, e.kind == executable, e.kind == symlink:
			v.files = append(v.files, e.name)
			if e.name[0] == '.' {
				v.listing.hasIgnore = v.listing.hasIgnore || v.isNamed(e.name, ".gitignore")
				v.listing.hasAttributes = v.listing.hasAttributes || v.isNamed(e.name, ".gitattributes")
			}
		}
	}
	slices.Sort(v.files)
	sortDirs(v.dirs)
}

func sortDirs(names []string) {
	slices.SortFunc(names, func(a, b string) int { return order(a, true, b, true) })
}

func (v *visit) isNamed(name, special string) bool {
	return name == special || v.IgnoreCase && strings.EqualFold(name, special)
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

// finish puts together what the visits below have found. The visit is over then.
func (v *visit) finish(s *scratch) found {
	v.letGo()
	dirs := s.dirs[:0]
	for i, r := range v.results {
		switch {
		case r.dir != nil:
			dirs = append(dirs, r.dir)
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
	s.dirs = dirs
	if v.asLast(dirs) {
		return found{dir: v.last}
	}
	d := &Dir{Name: v.name, Files: v.found, Dirs: slices.Clone(dirs), listing: v.listing}
	if !v.waits && !slices.ContainsFunc(d.Dirs, func(d *Dir) bool { return !d.sealed }) {
		d.seal(v.index, s)
	}
	return found{dir: d}
}

// asLast reports whether nothing differs from the last state, the files' stats
// included.
func (v *visit) asLast(dirs []*Dir) bool {
	return v.last != nil && v.last.Name == v.name && v.last.listing == v.listing &&
		(sameSlice(v.last.Files, v.found) || slices.Equal(v.last.Files, v.found)) && slices.Equal(v.last.Dirs, dirs)
}

// findPlaces finds the subdirectories to visit. Those that are known to be
// repositories of their own become files at once.
func (v *visit) findPlaces() {
	if len(v.dirs) == 0 {
		return
	}
	base, index, last, also := dirCursor(v.base.dirs()), dirCursor(v.index.dirs()), dirCursor(v.last.dirs()), dirCursor(v.also.dirs())
	for _, name := range v.dirs {
		p := place{listed: v.listed, base: base.find(name), index: index.find(name), last: last.find(name), also: also.find(name)}
		p.name = nameOf(name, p.last, p.index, p.base)
		p.full = v.full + p.name + "/"
		p.path = p.full[len(v.full)-len(v.path):]
		if p.index != nil { // most often
			v.places = append(v.places, p)
			continue
		}
		base, index := v.base.file(name), v.index.file(name)
		id, linked := knownLink(base, index)
		switch {
		case linked && (p.base == nil || p.base.empty):
			v.unsure(v.path)
			v.addLink(File{Name: p.name, Mode: Gitlink, ID: v.linked(p.path, id)})
		case p.known(), !v.ignores().Ignored(name, true):
			v.places = append(v.places, p)
		case base != nil || index != nil:
			v.unsure(v.path)
			// A path in scope that has become a repository: git does not ask
			// the rules.
			if commit := v.linked(p.path, plumbing.ZeroHash); !commit.IsZero() {
				v.addLink(File{Name: p.name, Mode: Gitlink, ID: commit})
			}
		}
	}
	v.results = slices.Grow(v.results, len(v.places))[:len(v.places)]
	v.left.Store(int32(len(v.places)))
}

// nameOf returns a name that may stay: that of one of the directories that are
// known, or a copy.
func nameOf(name string, known ...*Dir) string {
	for _, d := range known {
		if d != nil {
			return d.Name
		}
	}
	return strings.Clone(name)
}

// A dirCursor finds directories by names that come in order.
type dirCursor []*Dir

func (c *dirCursor) find(name string) *Dir {
	for len(*c) > 0 {
		d := (*c)[0]
		if d.Name == name {
			return d
		}
		if byDirName(d, name) > 0 {
			return nil
		}
		*c = (*c)[1:]
	}
	return nil
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

// addLink adds a file to those found, which may be shared with what is known.
func (v *visit) addLink(link File) {
	i, _ := slices.BinarySearchFunc(v.found, link.Name, byName)
	v.found = slices.Insert(slices.Clip(v.found), i, link)
}

// gone reports an error that means that nothing of the kind is there: no
// entry, or one that is no directory, or a symlink.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ELOOP) || errors.Is(err, errNotRegular)
}
