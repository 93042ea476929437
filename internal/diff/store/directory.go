package store

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"codeloops/internal/repo/file"
)

const (
	cached   = 16 << 20 // bytes of objects, on which deltas build
	maxOpen  = 64       // packs that stay open
	attempts = 10       // to read while packs come
)

// errKind is an object of another type than the one that was asked for.
var errKind = errors.New("it is an object of another type")

// A directory is that of the private repository's objects, loose and in packs. It is
// looked at when the first object is asked for, and anew when packs have come: another
// session may be at work. A nil one has none.
type directory struct {
	path string

	mu      sync.Mutex // go-git's storage is for one at a time
	objects *filesystem.ObjectStorage
	stamp   file.Stamp // of the directory of the packs before it was read
}

func newDirectory(at string) *directory { return &directory{path: at} }

// close has it looked at anew, by whoever asks for an object after that.
func (d *directory) close() error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reset()
}

func (d *directory) reset() error {
	if d.objects == nil {
		return nil
	}
	err := d.objects.Close()
	d.objects = nil
	return err
}

// look returns what tells that packs have come or gone.
func (d *directory) look() file.Stamp {
	info, err := os.Stat(filepath.Join(d.path, "pack"))
	if err != nil {
		return file.Stamp{}
	}
	return file.StampOf(info)
}

// try calls use, and again while it fails and packs have come or gone.
func (d *directory) try(use func(*filesystem.ObjectStorage) error) (err error) {
	if d == nil {
		return plumbing.ErrObjectNotFound
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for attempt := range attempts {
		if d.objects == nil {
			d.stamp = d.look()
			d.objects = filesystem.NewObjectStorageWithOptions(dotgit.New(files{objects: d.path}), cache.NewObjectLRU(cached),
				filesystem.Options{LargeObjectThreshold: Large, MaxOpenDescriptors: maxOpen})
		}
		err = use(d.objects)
		odd := err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) && !errors.Is(err, ErrLarge)
		if err == nil || d.stamp == d.look() && (attempt > 0 || !odd) {
			break
		}
		_ = d.reset() // the files were opened for reading
	}
	return err
}

func (d *directory) has(id plumbing.Hash) bool {
	return d.try(func(o *filesystem.ObjectStorage) error { return o.HasEncodedObject(id) }) == nil
}

func (d *directory) size(id plumbing.Hash) (size int64, err error) {
	err = d.try(func(o *filesystem.ObjectStorage) error {
		size, err = o.EncodedObjectSize(id)
		return err
	})
	return size, err
}

func (d *directory) object(kind plumbing.ObjectType, id plumbing.Hash, use func(plumbing.EncodedObject) error) error {
	return d.try(func(o *filesystem.ObjectStorage) error {
		object, err := o.EncodedObject(plumbing.AnyObject, id)
		if err == nil && object.Type() != kind {
			err = errKind
		}
		if err != nil {
			return err
		}
		return use(object)
	})
}

// content returns an object that is not too large. It is [ErrLarge] for one that is, if
// it is what its id says: else its header alone would keep a text from being seen.
func (d *directory) content(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) (content []byte, err error) {
	err = d.object(kind, id, func(o plumbing.EncodedObject) error {
		r, err := o.Reader()
		if err != nil {
			return err
		}
		r = check(file.Until(ctx, r), r, kind, o.Size(), id)
		if o.Size() > Large {
			if _, err = io.Copy(io.Discard, r); err == nil {
				err = ErrLarge
			}
			_ = r.Close() // it was opened for reading
			return err
		}
		content = make([]byte, o.Size())
		if _, err = io.ReadFull(r, content); err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		return errors.Join(err, r.Close())
	})
	if err != nil {
		content = nil
	}
	return content, err
}

// stream returns a reader of an object of any size, at the end of which there is
// an error if it was not what its id says.
func (d *directory) stream(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) (r io.ReadCloser, err error) {
	err = d.object(kind, id, func(o plumbing.EncodedObject) error {
		from, err := o.Reader()
		if err == nil {
			r = check(file.Until(ctx, from), from, kind, o.Size(), id)
		}
		return err
	})
	return r, err
}

// files are those of a repository as go-git reads them, whatever the name of its
// directory of objects is. Others may have made them: a pipe is not waited for.
type files struct {
	billy.Filesystem // of which nothing else is called

	dir, objects string
}

func (f files) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	if below, found := strings.CutPrefix(filepath.ToSlash(name), "objects"); found {
		return filepath.Join(f.objects, below)
	}
	return filepath.Join(f.dir, name)
}

// Open opens a regular file. What objects are borrowed from is not among them: go-git
// would read all indexes there for each object.
func (f files) Open(name string) (billy.File, error) {
	if path.Base(name) == "alternates" {
		return nil, fs.ErrNotExist
	}
	opened, _, err := file.Open(f.path(name), file.How{Max: math.MaxInt64})
	if file.Missing(err) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	if path.Ext(name) == ".idx" { // go-git reads it four bytes at a time, of every pack
		return index{unlocked{opened}, bufio.NewReader(opened)}, nil
	}
	return unlocked{opened}, nil
}

func (f files) Stat(name string) (fs.FileInfo, error) { return os.Stat(f.path(name)) }

// ReadDir implements [billy.Filesystem]. A lock that was left is no reference, and a pack is none
// before it has an index: one whose writer was killed in between never gets it.
func (f files) ReadDir(name string) (list []fs.FileInfo, err error) {
	entries, err := os.ReadDir(f.path(name))
	indexed := map[string]bool{}
	for _, e := range entries {
		if pack, is := strings.CutSuffix(e.Name(), ".idx"); is {
			indexed[pack] = true
		}
	}
	for _, e := range entries {
		pack, is := strings.CutSuffix(e.Name(), ".pack")
		if strings.HasSuffix(e.Name(), ".lock") || is && !indexed[pack] {
			continue
		}
		if info, err := e.Info(); err == nil { // or it is gone by now
			list = append(list, info)
		}
	}
	if file.Missing(err) {
		err = fs.ErrNotExist
	}
	return list, err
}

func (f files) Join(names ...string) string { return filepath.Join(names...) }

// An unlocked file is one that nobody locks.
type unlocked struct{ *os.File }

// An index is a file that is read from front to back.
type index struct {
	unlocked

	reader *bufio.Reader
}

func (i index) Read(p []byte) (int, error) { return i.reader.Read(p) }

func (unlocked) Lock() error { return nil }

func (unlocked) Unlock() error { return nil }
