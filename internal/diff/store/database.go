package store

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// What keeps an object from being read.
var (
	errKind    = errors.New("it is an object of another type")
	errDamaged = errors.New("it is damaged")
)

// A database is a repository's objects with those of its alternates, which are
// looked for when first used. Several goroutines may read at a time, one may write.
type database struct {
	place
	mu   sync.RWMutex // held for reading while dirs are in use
	dirs []*directory // this one first; nil before they were looked for

	zlib  *zlib.Writer
	loose bytes.Buffer // what it last wrote

	spare     sync.Mutex             // of what follows
	inflaters []*inflater            // that nobody uses
	large     map[plumbing.Hash]bool // have been read as a whole
}

// A source is a place where an object seems to be. What it returns is not yet
// checked against the object's id.
type source interface {
	// load returns the content; it is [ErrLarge] for more than [Large].
	load(ctx context.Context, want plumbing.ObjectType) ([]byte, error)
	// size returns the length of the content.
	size(ctx context.Context) (int64, error)
	// open returns a reader of the content, whatever its length is.
	open(ctx context.Context, want plumbing.ObjectType) (r io.ReadCloser, size int64, err error)
}

// use calls do with where the objects are, which stays open meanwhile. It must not
// be called by do.
func (d *database) use(do func(dirs []*directory)) {
	d.mu.RLock()
	for d.dirs == nil {
		d.mu.RUnlock()
		d.open()
		d.mu.RLock()
	}
	defer d.mu.RUnlock()
	do(d.dirs)
}

func (d *database) open() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dirs != nil {
		return
	}
	for _, path := range withAlternates(d.objects) {
		d.dirs = append(d.dirs, openDirectory(path))
	}
}

// close forgets where the objects are.
func (d *database) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, dir := range d.dirs {
		errs = append(errs, dir.close())
	}
	d.dirs = nil
	return errors.Join(errs...)
}

// useNow is use of where they are now.
func (d *database) useNow(do func(dirs []*directory)) {
	changed := false
	d.use(func(dirs []*directory) { changed = slices.ContainsFunc(dirs, (*directory).changed) })
	if changed {
		_ = d.close() // they were opened for reading
	}
	d.use(do)
}

// has reports whether an object is there now.
func (d *database) has(id plumbing.Hash) (there bool) {
	d.useNow(func(dirs []*directory) {
		there = slices.ContainsFunc(dirs, func(dir *directory) bool { return dir.has(id) })
	})
	return there
}

// freshen is has, and makes the object as if it had been written now. A pack of
// what is left over has times of its own for each object: one that is there alone
// is copied, unless it is large: a checkpoint is to cost no more than what changed.
// That it cannot be copied is no failure: it is there.
func (d *database) freshen(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) bool {
	fresh, cruft := false, false
	d.useNow(func(dirs []*directory) {
		for i := 0; i < len(dirs) && !fresh; i++ {
			var inCruft bool
			fresh, inCruft = dirs[i].freshen(d.place, id)
			cruft = cruft || inCruft
		}
	})
	if fresh || !cruft || d.now == nil {
		return fresh || cruft
	}
	if size, err := d.size(ctx, id); err != nil || size > Large {
		return true
	}
	if content, err := d.content(ctx, kind, id); err == nil {
		_ = d.write(kind, id, content)
	}
	return true
}

// read tries all sources of an object until one can be used. Then it looks for
// them anew and tries once more: `git gc` may have repacked in the meantime, and
// another process may have written the object.
func (d *database) read(id plumbing.Hash, use func(source) error) (failure error) {
	for range 2 {
		d.use(func(dirs []*directory) { failure = d.readIn(dirs, id, use) })
		if failure == nil || errors.Is(failure, ErrLarge) {
			return failure
		}
		_ = d.close() // they were opened for reading
	}
	return failure
}

func (d *database) readIn(dirs []*directory, id plumbing.Hash, use func(source) error) error {
	z := d.inflater()
	defer d.done(z)
	failure := plumbing.ErrObjectNotFound
	for _, dir := range dirs {
		err := dir.read(d.objects, z, id, use)
		if err == nil || errors.Is(err, ErrLarge) {
			return err
		}
		failure = graver(failure, err)
	}
	return failure
}

// inflater returns one that nobody uses until it is done.
func (d *database) inflater() *inflater {
	d.spare.Lock()
	defer d.spare.Unlock()
	last := len(d.inflaters) - 1
	if last < 0 {
		return &inflater{}
	}
	z := d.inflaters[last]
	d.inflaters = d.inflaters[:last]
	return z
}

func (d *database) done(z *inflater) {
	d.spare.Lock()
	defer d.spare.Unlock()
	d.inflaters = append(d.inflaters, z)
}

// graver returns the failure that says more than that there is no object.
func graver(a, b error) error {
	if errors.Is(b, plumbing.ErrObjectNotFound) {
		return a
	}
	return b
}

// content returns an object that is not too large.
func (d *database) content(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) (content []byte, err error) {
	err = d.read(id, func(s source) error {
		content, err = s.load(ctx, kind)
		switch {
		case errors.Is(err, ErrLarge):
			err = d.checkLarge(ctx, s, kind, id)
		case err == nil && Sum(kind, content) != id:
			err = ErrForged
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return content, nil
}

// checkLarge returns [ErrLarge] for an object that seems to be too large, if it is
// what its id says: else its header alone would keep a text from being seen.
func (d *database) checkLarge(ctx context.Context, s source, kind plumbing.ObjectType, id plumbing.Hash) error {
	if d.wasLarge(id, false) {
		return ErrLarge
	}
	r, size, err := s.open(ctx, kind)
	if errors.Is(err, ErrLarge) { // only a delta says that it is so large
		return errDamaged
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, check(r, kind, size, id))
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	d.wasLarge(id, true)
	return ErrLarge
}

// wasLarge reports whether an object has been read as a whole, or takes note that it
// now is.
func (d *database) wasLarge(id plumbing.Hash, now bool) bool {
	d.spare.Lock()
	defer d.spare.Unlock()
	if now && d.large == nil {
		d.large = make(map[plumbing.Hash]bool)
	}
	if now {
		d.large[id] = true
	}
	return d.large[id]
}

func (d *database) size(ctx context.Context, id plumbing.Hash) (size int64, err error) {
	err = d.read(id, func(s source) error {
		size, err = s.size(ctx)
		return err
	})
	return size, err
}

// stream returns a reader of an object of any size, at the end of which there is
// an error if it was not what its id says.
func (d *database) stream(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) (r io.ReadCloser, err error) {
	err = d.read(id, func(s source) error {
		content, size, err := s.open(ctx, kind)
		if err == nil {
			r = check(content, kind, size, id)
		}
		return err
	})
	return r, err
}

// write adds a loose object unless there is one. Whether a pack has it already
// is not asked: that would open all pack indexes.
func (d *database) write(kind plumbing.ObjectType, id plumbing.Hash, content []byte) error {
	if d.place.freshen(loosePath(d.objects, id)) {
		return nil
	}
	loose, err := d.deflate(kind, content)
	if err != nil {
		return err
	}
	return d.writeLoose(id, loose)
}

// deflate returns an object as a loose one is, in the same memory each time.
func (d *database) deflate(kind plumbing.ObjectType, content []byte) ([]byte, error) {
	if d.loose.Cap() > keepFile {
		d.loose = bytes.Buffer{}
	}
	d.loose.Reset()
	if d.zlib == nil {
		d.zlib, _ = zlib.NewWriterLevel(&d.loose, zlib.BestSpeed) // the level is valid
	} else {
		d.zlib.Reset(&d.loose)
	}
	if _, err := d.zlib.Write(header(kind, int64(len(content)))); err != nil {
		return nil, err
	}
	if _, err := d.zlib.Write(content); err != nil {
		return nil, err
	}
	err := d.zlib.Close()
	return d.loose.Bytes(), err
}
