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
	t.locate()
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
	if v.listing.hasGit && v.path != "" {
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

// unreadable keeps what was last known of a directory.
func (w *walk) unreadable(p *place, err error) (found, error) {
	if p.path == "" {
		return found{}, err
	}
	w.warn(p.path, err)
	switch {
	case p.last != nil:
		return found{dir: p.last}, nil
	case p.resolve(w).index != nil && !w.known.Names:
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

	again bool // the names are those of the last time, and so is their scope

	places  []place // the subdirectories to visit
	results []found // of the places
	left    atomic.Int32

	scratch     *scratch // until the subdirectories are visited
	files, dirs []string // names, in git's order; likewise
	listing     listing
	found       []File // in the directory
	deciders    int    // so many of them are ignored, see Decides
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
	v.handle.reset(w.absolute(t.place), t.name, above)
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
	v.walk, v.task, v.found = nil, task{}, nil
	v.listing, v.again, v.waits, v.deciders = listing{}, false, false, 0
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
	return found{dir: v.state(s)}
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
			v.addLink(*r.link)
		case r.repository:
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
		(sameSlice(v.found, v.last.files) || slices.Equal(v.found, v.last.files)) && slices.Equal(v.last.Dirs, dirs)
}

// gone reports an error that means that nothing of the kind is there: no
// entry, or one that is no directory, or a symlink.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.ELOOP) || errors.Is(err, errNotRegular)
}
