package store

import (
	"compress/zlib"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the id of a git object is its SHA-1
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/shared"
)

// A place is the directory that objects are written to, loose and in packs.
type place struct {
	objects string
	shared  shared.Mode
	now     func() time.Time // nil: nothing is made newer
}

// freshFor is for how long a file that was written counts as new.
const freshFor = time.Minute

// freshen reports whether there is a file of one object or many, and makes it as if
// it had been written now: git goes by that time when it removes what is left over.
// Of a file of another user that may fail, as it may for git.
func (p place) freshen(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if p.now == nil || !info.Mode().IsRegular() {
		return true
	}
	if at := p.now(); at.Sub(info.ModTime()) > freshFor {
		_ = os.Chtimes(path, time.Time{}, at)
	}
	return true
}

// tempObject begins the name of an unfinished object: `git gc` removes such
// left-overs in time.
const tempObject = "tmp_obj_"

// createTemp creates a file that nobody else is to change.
func createTemp(prefix string) (*os.File, error) {
	return os.OpenFile(prefix+rand.Text(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o444) //nolint:gosec // as git's objects
}

// mkdir makes a directory among the objects unless there is one.
func (p place) mkdir(name string) error {
	root, err := os.OpenRoot(p.objects)
	if err != nil {
		return err
	}
	return errors.Join(p.shared.MkdirAll(root, name), root.Close())
}

// create writes a new file down, with its permissions. What it could not write it
// removes.
func (p place) create(prefix string, write func(*os.File) error) (name string, err error) {
	f, err := createTemp(filepath.Join(p.objects, prefix))
	if err != nil {
		return "", err
	}
	if err = errors.Join(p.shared.Chmod(f), write(f), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// stream writes a loose blob piece by piece: under a name that `git gc` knows
// for a left-over until it is whole, then under its id.
func (p place) stream(r io.Reader, size int64) (id plumbing.Hash, err error) {
	temp, err := p.create(tempObject, func(f *os.File) error {
		id, err = deflateBlob(f, r, size)
		return err
	})
	if err != nil {
		return id, err
	}
	return id, p.adopt(temp, id)
}

func deflateBlob(to io.Writer, r io.Reader, size int64) (id plumbing.Hash, err error) {
	compressed, sum := zlib.NewWriter(to), sha1.New() //nolint:gosec // see the import
	w := io.MultiWriter(compressed, sum)
	if _, err := w.Write(header(plumbing.BlobObject, size)); err != nil {
		return id, err
	}
	n, err := io.Copy(w, io.LimitReader(r, size+1))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return plumbing.Hash(sum.Sum(nil)), errors.Join(err, compressed.Close())
}

// writeLoose writes an object that is whole, first under the name of an
// unfinished one: all in one directory, in which a file system finds room for
// them sooner. It is not synced, as git's are not by default (core.fsync): what a
// crash of the system loses is found missing.
func (p place) writeLoose(id plumbing.Hash, loose []byte) error {
	return unpruned(func() error {
		temp, err := p.create(tempObject, func(f *os.File) error {
			_, err := f.Write(loose)
			return err
		})
		if err != nil {
			return err
		}
		return p.adopt(temp, id)
	})
}

// unpruned calls write again when what it had made is gone: `git prune` takes what is
// unfinished for a left-over, and removes directories that are empty.
func unpruned(write func() error) (err error) {
	for range attempts {
		if err = write(); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

// adopt gives a finished object its name.
func (p place) adopt(temp string, id plumbing.Hash) error {
	to := loosePath(p.objects, id)
	err := os.Rename(temp, to)
	if errors.Is(err, fs.ErrNotExist) {
		if err = p.mkdir(filepath.Base(filepath.Dir(to))); err == nil {
			err = os.Rename(temp, to)
		}
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
