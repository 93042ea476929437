package store

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
)

// stream writes a loose blob piece by piece: under a name that `git gc` knows
// for a left-over until it is whole, then under its id.
func stream(objects string, r io.Reader, size int64) (id plumbing.Hash, err error) {
	f, err := os.CreateTemp(objects, tempObject)
	if err != nil {
		return id, err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it is gone when all went well
	defer f.Close()           //nolint:errcheck // closed before when all went well
	w := objfile.NewWriter(f)
	if err := w.WriteHeader(plumbing.BlobObject, size); err != nil {
		return id, err
	}
	if n, err := io.Copy(w, r); err != nil {
		return id, err
	} else if n != size {
		return id, io.ErrUnexpectedEOF
	}
	if err := w.Close(); err != nil {
		return id, err
	}
	id = w.Hash()
	if err := f.Close(); err != nil {
		return id, err
	}
	return id, adopt(f.Name(), loosePath(objects, id))
}

// tempObject begins the name of an unfinished object: `git gc` removes such
// left-overs in time.
const tempObject = "tmp_obj_"

func loosePath(objects string, id plumbing.Hash) string {
	name := id.String()
	return filepath.Join(objects, name[:2], name[2:])
}

// adopt gives a finished object its name.
func adopt(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil { //nolint:gosec // the user's umask decides, as in git
		return err
	}
	if err := os.Chmod(from, 0o444); err != nil { //nolint:gosec // as git's objects
		return err
	}
	return os.Rename(from, to)
}

// writeLoose writes an object that is whole, first under the name of an
// unfinished one: all in one directory, in which a file system finds room for
// them sooner. It is not synced, as git's are not by default (core.fsync): what a
// crash of the system loses is found missing.
func writeLoose(objects string, id plumbing.Hash, loose []byte) error {
	temp, path := filepath.Join(objects, tempObject+rand.Text()), loosePath(objects, id)
	err := create(temp, loose)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o777); err == nil { //nolint:gosec // the user's umask decides, as in git
			err = os.Rename(temp, path)
		}
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// create writes a new file that nobody is to change.
func create(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444) //nolint:gosec // as git's objects
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
