package scan

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync/atomic"
	"syscall"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/ignore"
)

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
	if w.spared(t) {
		return found{dir: t.last}, nil, nil
	}
	t.locate()
	w.watch(t.path)
	v := s.visit()
	v.begin(w, t, s)
	result, whole, err := v.look(ctx)
	if !(whole && v.stays()) && (len(v.places) == 0 || !v.hold()) {
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
	if v.listing.hasGit && v.path != "" {
		v.unsure(v.path)
		if head, err := v.Embedded(v.path, v.scoped()); err != nil || head.Repository {
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
func (w *walk) spared(t task) bool {
	if w.known.Quiet == nil || !t.listed || t.last == nil {
		return false
	}
	t.locate()
	return w.known.Quiet(t.path)
}

// unreadable keeps what was last known of a directory.
func (w *walk) unreadable(p *place, err error) (found, error) {
	if p.path == "" {
		return found{}, err
	}
	w.warn(p.path, err)
	switch {
	case p.last != nil && !w.known.Foreign:
		w.unsureBelow(p.path, p.last)
		return found{dir: p.last}, nil
	case p.resolve(w).index != nil && !w.known.Names:
		w.unsureBelow(p.path, p.index)
		return found{dir: p.index}, nil
	}
	return found{}, nil
}

// unsureBelow is unsure of a directory that was not looked at with all that is
// below: what has been told of them is not asked for again.
func (w *walk) unsureBelow(path string, d *Dir) {
	w.unsure(path)
	for _, sub := range d.Dirs {
		w.unsureBelow(path+sub.Name+"/", sub)
	}
}

// A visit is the work on one directory. Its memory is used again for another one
// when it is over.
type visit struct {
	*walk
	task
	handle handle
	held   bool                       // the handle is open until all is finished
	kept   *openDir                   // the handle is open for longer; or nil
	rules  atomic.Pointer[ignore.Dir] // see ignores
	attrs  atomic.Pointer[attr.Dir]   // see attributes

	again bool // the names are those of the last time, and so is their scope

	places  []place // the subdirectories to visit
	results []found // of the places
	left    atomic.Int32

	scratch     *scratch // until the subdirectories are visited
	files, dirs []string // names, in git's order; likewise
	listing     listing
	found       fileList // in the directory
	deciders    int      // so many of them are ignored, see Decides
	waits       bool     // for git to identify files
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
	if t.above != nil {
		v.kept = w.keeper.find(&v.handle, t.last, t.above.again)
	}
}

// stays reports whether the directory is kept open.
func (v *visit) stays() bool {
	if v.above == nil || !v.again {
		v.kept = nil
	} else {
		v.kept = v.keeper.keep(&v.handle, v.kept)
	}
	return v.kept != nil
}

// maxHeld is how many directories may be open at a time for those below to be
// found faster: less than a process may have. Half of them are for trees that are
// deeper than people make them.
const maxHeld = 100

// hold keeps the directory open, if it is, until the visit is finished. It
// reports false when there are enough of them.
func (v *visit) hold() bool {
	if !v.handle.isOpen() {
		return false
	}
	n := v.open.Add(1)
	v.held = n <= maxHeld/2 || n <= maxHeld && v.handle.isFar()
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
	v.walk, v.task, v.found = nil, task{}, fileList{}
	v.listing, v.kept, v.again, v.waits, v.deciders = listing{}, nil, false, false, 0
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

// finish puts together what the visits below have found. The visit is over then.
func (v *visit) finish(s *scratch) found {
	d := v.state(s)
	v.keeper.found(v.kept, v.last, d)
	return found{dir: d}
}

// state returns the directory with what is in it.
func (v *visit) state(s *scratch) *Dir {
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
	v.hide(dirs)
	if v.asLast(dirs) {
		return v.last
	}
	d := &Dir{Name: v.name, Dirs: slices.Clone(dirs), files: v.found, listing: v.listing}
	if !v.waits && !slices.ContainsFunc(d.Dirs, func(d *Dir) bool { return !d.sealed }) {
		d.seal(v.resolve(v.walk).index, s)
	}
	return d
}

// asLast reports whether nothing differs from the last state, the files' stats
// included.
func (v *visit) asLast(dirs []*Dir) bool {
	return v.last != nil && v.last.Name == v.name && v.last.listing == v.listing &&
		(v.found.shares(&v.last.files) || slices.Equal(v.last.Files(), v.found.all())) && slices.Equal(v.last.Dirs, dirs)
}

// gone reports an error that means that nothing of the kind is there: no
// entry, or one that is no directory, or a symlink.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ELOOP) || errors.Is(err, errNotRegular)
}
