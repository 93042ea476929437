package store

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"io"
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
	mu      sync.Mutex // of listing
	listing *listing   // nil: they are to be looked for

	zlib  *zlib.Writer
	loose bytes.Buffer // what it last wrote

	inflaters sync.Pool // of *inflater
	large     sync.Map  // the ids of what has been read as a whole
	disk      chan struct{}
}

func newDatabase(p place) *database { return &database{place: p, disk: make(chan struct{}, 1)} }

// A source is a place where an object seems to be. What it returns is not yet
// checked against the object's id.
type source interface {
	// load returns the content; it is [ErrLarge] if that, or what it is made of, is
	// more than [Large].
	load(ctx context.Context, want plumbing.ObjectType) ([]byte, error)
	// size returns the length of the content.
	size(ctx context.Context) (int64, error)
	// open returns a reader of the content, whatever its length is.
	open(ctx context.Context, want plumbing.ObjectType) (r io.ReadCloser, size int64, err error)
}

// use returns where the objects are, for whoever asks to release.
func (d *database) use() *listing {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listing == nil {
		d.listing = list(d.objects)
	}
	d.listing.users.Add(1)
	return d.listing
}

// close forgets where the objects are. Nobody who reads is waited for.
func (d *database) close() error {
	d.mu.Lock()
	l := d.listing
	d.listing = nil
	d.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.release()
}

// attempts is how often an object is looked for while packs come and go.
const attempts = 10

// seek tries the directories until one does not fail, or has what is too large. When
// all have failed it looks for them anew, as long as that can help: `git gc` may have
// repacked in the meantime.
func (d *database) seek(ctx context.Context, try func(*directory) error) (failure error) {
	for attempt := range attempts {
		l := d.use()
		failure = l.first(try)
		again := failure != nil && !errors.Is(failure, ErrLarge) && ctx.Err() == nil &&
			(attempt == 0 && !errors.Is(failure, plumbing.ErrObjectNotFound) || l.changed())
		_ = l.release() // the files were opened for reading
		if !again {
			break
		}
		_ = d.close() // likewise
	}
	return failure
}

// has reports whether an object is there now. What was removed with a pack could still
// be found in its open files.
func (d *database) has(ctx context.Context, id plumbing.Hash) bool {
	l := d.use()
	if l.changed() {
		_ = d.close() // the files were opened for reading
	}
	_ = l.release() // likewise
	return d.seek(ctx, func(dir *directory) error { return dir.has(ctx, id) }) == nil
}

// freshen is has, and makes the object as if it had been written now. A pack of
// what is left over has times of its own for each object: one that is there alone
// is copied, unless it is large: a checkpoint is to cost no more than what changed.
// That it cannot be copied is no failure: it is there.
func (d *database) freshen(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) bool {
	cruft := false
	err := d.seek(ctx, func(dir *directory) error {
		inCruft, err := dir.freshen(ctx, d.place, id)
		cruft = cruft || inCruft
		return err
	})
	if err == nil || !cruft || d.now == nil {
		return err == nil || cruft
	}
	size, err := d.size(ctx, id)
	if err != nil || size > Large {
		return !errors.Is(err, plumbing.ErrObjectNotFound)
	}
	if content, err := d.content(ctx, kind, id); err == nil {
		_ = d.write(kind, id, content)
	}
	return true
}

// read tries all sources of an object until one can be used. Of what is missing it
// makes sure: not every file system tells at once that a directory has changed.
func (d *database) read(ctx context.Context, id plumbing.Hash, use func(source) error) error {
	z, _ := d.inflaters.Get().(*inflater)
	if z == nil {
		z = &inflater{}
	}
	defer d.inflaters.Put(z)
	try := func(dir *directory) error { return dir.read(ctx, tools{z, d.objects, d.disk}, id, use) }
	err := d.seek(ctx, try)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		_ = d.close() // the files were opened for reading
		err = d.seek(ctx, try)
	}
	return err
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
	err = d.read(ctx, id, func(s source) error {
		content, err = s.load(ctx, kind)
		switch {
		case errors.Is(err, ErrLarge):
			content, err = d.loadLarge(ctx, s, kind, id)
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

// loadLarge returns what cannot be made in memory. It is [ErrLarge] for an object that is
// too large, if it is what its id says: else its header alone would keep a text from
// being seen.
func (d *database) loadLarge(ctx context.Context, s source, kind plumbing.ObjectType, id plumbing.Hash) (content []byte, err error) {
	if _, known := d.large.Load(id); known {
		return nil, ErrLarge
	}
	r, size, err := s.open(ctx, kind)
	if errors.Is(err, ErrLarge) { // only a delta says that it is so large
		return nil, errDamaged
	}
	if err != nil {
		return nil, err
	}
	if r = check(r, kind, size, id); size <= Large {
		content, err = io.ReadAll(r)
		return content, errors.Join(err, r.Close())
	}
	_, err = io.Copy(io.Discard, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	d.large.Store(id, true)
	return nil, ErrLarge
}

func (d *database) size(ctx context.Context, id plumbing.Hash) (size int64, err error) {
	err = d.read(ctx, id, func(s source) error {
		size, err = s.size(ctx)
		return err
	})
	return size, err
}

// stream returns a reader of an object of any size, at the end of which there is
// an error if it was not what its id says.
func (d *database) stream(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) (r io.ReadCloser, err error) {
	err = d.read(ctx, id, func(s source) error {
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
