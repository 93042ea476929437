package store

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
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

// A directory has the objects of the private repository, loose and in packs. The packs are looked up
// again when some have come or gone, because other sessions may be at work. A nil directory has no
// objects.
type directory struct {
	path string // ends in "objects"

	mu      sync.Mutex // go-git's storage is for one at a time
	objects *filesystem.ObjectStorage
	stamp   file.Stamp // of the directory of packs before it was read
}

// storage returns a reader and writer of objects that knows no packs yet.
func (d *directory) storage() *filesystem.ObjectStorage {
	return filesystem.NewObjectStorageWithOptions(dotgit.New(files{osfs.New(filepath.Dir(d.path))}), cache.NewObjectLRU(cached),
		filesystem.Options{LargeObjectThreshold: Large, MaxOpenDescriptors: maxOpen})
}

// close closes all files. The next use reads the directory again.
func (d *directory) close() (err error) {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.objects != nil {
		err = d.objects.Close()
		d.objects = nil
	}
	return err
}

// try calls use, and retries while it fails and packs have changed.
func (d *directory) try(use func(*filesystem.ObjectStorage) error) (err error) {
	if d == nil {
		return plumbing.ErrObjectNotFound
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for attempt := range attempts {
		if d.objects == nil {
			d.stamp, d.objects = file.At(filepath.Join(d.path, "pack")), d.storage()
		}
		err = use(d.objects)
		odd := err != nil && !errors.Is(err, plumbing.ErrObjectNotFound)
		if err == nil || d.stamp == file.At(filepath.Join(d.path, "pack")) && (attempt > 0 || !odd) {
			break
		}
		_ = d.objects.Close() // the files were only read
		d.objects = nil
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
	if r.left > Large {
		_, err = io.Copy(io.Discard, r)
		return nil, cmp.Or(err, ErrLarge)
	}
	content := bytes.NewBuffer(make([]byte, 0, r.left+bytes.MinRead)) // it never grows
	_, err = content.ReadFrom(r)
	return content.Bytes(), err
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

// files are the files of a repository as go-git is to see them.
type files struct{ billy.Filesystem }

// Open opens a regular file. It does not block on a pipe. There are no alternates: go-git would read
// all of their indexes for each object.
func (f files) Open(name string) (billy.File, error) {
	if filepath.Base(name) == "alternates" {
		return nil, fs.ErrNotExist
	}
	info, err := f.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: name, Err: file.ErrNotRegular}
	}
	if err != nil {
		return nil, err
	}
	opened, err := f.Filesystem.Open(name)
	if err == nil && filepath.Ext(name) == ".idx" {
		opened = index{opened, bufio.NewReader(opened), info}
	}
	return opened, err
}

// ReadDir implements [billy.Filesystem]. It leaves out packs without an index, whose writer may be at
// work or have been killed.
func (f files) ReadDir(name string) ([]fs.FileInfo, error) {
	list, err := f.Filesystem.ReadDir(name)
	return slices.DeleteFunc(list, func(i fs.FileInfo) bool {
		pack, is := strings.CutSuffix(i.Name(), ".pack")
		if is {
			_, err := f.Stat(f.Join(name, pack+".idx"))
			return err != nil
		}
		return false
	}), err
}

// An index is a file with a buffer, because go-git reads it four bytes at a time.
type index struct {
	billy.File

	reader *bufio.Reader
	info   fs.FileInfo
}

func (i index) Read(p []byte) (int, error) { return i.reader.Read(p) }

// Stat returns the size of the file, which has to be that of a sound index.
func (i index) Stat() (fs.FileInfo, error) { return i.info, nil }
