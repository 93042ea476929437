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

	"codeloops/internal/file"
)

const (
	cached   = 16 << 20 // bytes of objects, for deltas
	maxOpen  = 64       // packs that stay open
	attempts = 10       // to read an object while packs change
)

// errKind is an object of another type than the one that was asked for.
var errKind = errors.New("it is an object of another type")

// A directory has the objects of the private repository, loose and in packs. It is read when the
// first object is needed, and again when packs have changed, because other sessions may be at
// work. A nil directory has no objects.
type directory struct {
	path string

	mu      sync.Mutex // go-git's storage is for one at a time
	objects *filesystem.ObjectStorage
	stamp   file.Stamp // of the directory of packs before it was read
}

// close closes all files. The next use reads the directory again.
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

// look returns a stamp that changes when packs are added or removed.
func (d *directory) look() file.Stamp { return file.At(filepath.Join(d.path, "pack")) }

// try calls use, and retries while it fails and packs have changed.
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
		odd := err != nil && !errors.Is(err, plumbing.ErrObjectNotFound)
		if err == nil || d.stamp == d.look() && (attempt > 0 || !odd) {
			break
		}
		_ = d.reset() // the files were only read
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

// content returns the content of an object. The error is [ErrLarge] if the object is too large and
// its content matches its id: a forged header alone must not keep a text from being shown.
func (d *directory) content(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	r, err := d.stream(ctx, kind, id)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read
	var content []byte
	if r.left <= Large {
		content = make([]byte, r.left)
		_, err = io.ReadFull(r, content)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, r)
	}
	switch {
	case err != nil:
		return nil, err
	case content == nil:
		return nil, ErrLarge
	}
	return content, nil
}

// stream returns a reader of an object of any size. It ends with an error if the content does not
// match the id.
func (d *directory) stream(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) (r *checked, err error) {
	err = d.try(func(o *filesystem.ObjectStorage) error {
		object, err := o.EncodedObject(plumbing.AnyObject, id)
		if err == nil && object.Type() != kind {
			err = errKind
		}
		if err != nil {
			return err
		}
		from, err := object.Reader()
		if err == nil {
			r = &checked{from, file.Until(ctx, from), newHash(kind, object.Size()), object.Size(), id}
		}
		return err
	})
	return r, err
}

// files lets go-git read a directory of objects, whatever it is called. It does not block on pipes.
type files struct {
	billy.Filesystem // no other methods are called

	objects string
}

func (f files) path(name string) string {
	if filepath.IsAbs(name) { // the name of an opened file
		return name
	}
	return filepath.Join(f.objects, strings.TrimPrefix(filepath.ToSlash(name), "objects"))
}

// Open opens a regular file. It hides the alternates file: go-git would read all indexes of the
// alternates for each object.
func (f files) Open(name string) (billy.File, error) {
	if path.Base(name) == "alternates" {
		return nil, fs.ErrNotExist
	}
	opened, _, err := file.Open(f.path(name), file.Options{Max: math.MaxInt64})
	if file.Missing(err) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	if path.Ext(name) == ".idx" { // go-git reads it four bytes at a time
		return index{unlocked{opened}, bufio.NewReader(opened)}, nil
	}
	return unlocked{opened}, nil
}

func (f files) Stat(name string) (fs.FileInfo, error) { return os.Stat(f.path(name)) }

// ReadDir implements [billy.Filesystem]. It leaves out packs without an index, whose writer may have
// been killed.
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
		if is && !indexed[pack] {
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

// An unlocked file ignores locking.
type unlocked struct{ *os.File }

// An index is a file with a buffer, for sequential reading.
type index struct {
	unlocked

	reader *bufio.Reader
}

func (i index) Read(p []byte) (int, error) { return i.reader.Read(p) }

func (unlocked) Lock() error { return nil }

func (unlocked) Unlock() error { return nil }
