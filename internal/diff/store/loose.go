package store

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the id of a git object is its SHA-1
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/repo/file"
)

// A looseObject is an object that has a file of its own, compressed with the
// header that is part of its id, too.
type looseObject struct {
	path string
	z    *inflater
}

func loosePath(objects string, id plumbing.Hash) string {
	name := id.String()
	return filepath.Join(objects, name[:2], name[2:])
}

// begin opens the file and reads the header; the inflater goes on from there.
func (o looseObject) begin(z *inflater) (f *os.File, kind plumbing.ObjectType, size int64, err error) {
	f, err = openWhole(o.path)
	if file.Missing(err) {
		return nil, 0, 0, plumbing.ErrObjectNotFound
	}
	if err != nil {
		return nil, 0, 0, err
	}
	if err = z.reset(f); err == nil {
		kind, size, err = readHeader(z.out)
	}
	if err != nil {
		return nil, 0, 0, errors.Join(err, f.Close())
	}
	return f, kind, size, nil
}

// readHeader reads "<type> <size>" with the zero byte after it.
func readHeader(r *bufio.Reader) (kind plumbing.ObjectType, size int64, err error) {
	const longest = 32 // as in git
	head, err := r.Peek(longest)
	header, _, whole := bytes.Cut(head, []byte{0})
	if !whole {
		return 0, 0, cmp.Or(err, errDamaged)
	}
	_, _ = r.Discard(len(header) + 1) // it was seen
	return parseHeader(header)
}

func parseHeader(header []byte) (kind plumbing.ObjectType, size int64, err error) {
	name, digits, _ := bytes.Cut(header, []byte{' '})
	kind, err = plumbing.ParseObjectType(string(name))
	if err != nil {
		return 0, 0, err
	}
	length, err := strconv.ParseUint(string(digits), 10, 63)
	return kind, int64(length), err
}

func (o looseObject) size() (int64, error) {
	f, _, size, err := o.begin(o.z)
	if err != nil {
		return 0, err
	}
	return size, f.Close()
}

func (o looseObject) load(want plumbing.ObjectType) ([]byte, error) {
	f, kind, size, err := o.begin(o.z)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading: nothing to lose
	switch {
	case kind != want:
		return nil, errKind
	case size > Large:
		return nil, ErrLarge
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(o.z.out, content); err != nil {
		return nil, err
	}
	return content, o.z.end()
}

func (o looseObject) open(want plumbing.ObjectType) (io.ReadCloser, int64, error) {
	var z inflater
	f, kind, size, err := o.begin(&z)
	if err != nil {
		return nil, 0, err
	}
	if kind != want {
		return nil, 0, errors.Join(errKind, f.Close())
	}
	return reader{z.out, f}, size, nil
}

// stream writes a loose blob piece by piece: under a name that `git gc` knows
// for a left-over until it is whole, then under its id.
func stream(objects string, r io.Reader, size int64) (id plumbing.Hash, err error) {
	f, err := createTemp(objects, tempObject)
	if err != nil {
		return id, err
	}
	id, err = deflateBlob(f, r, size)
	if err = errors.Join(err, f.Close()); err != nil {
		return id, errors.Join(err, os.Remove(f.Name()))
	}
	return id, adopt(f.Name(), loosePath(objects, id))
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
func writeLoose(objects string, id plumbing.Hash, loose []byte) error {
	f, err := createTemp(objects, tempObject)
	if err != nil {
		return err
	}
	_, err = f.Write(loose)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return adopt(f.Name(), loosePath(objects, id))
}

// tempObject begins the name of an unfinished object: `git gc` removes such
// left-overs in time.
const tempObject = "tmp_obj_"

// createTemp creates a file that nobody else is to change.
func createTemp(dir, prefix string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, prefix+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o444) //nolint:gosec // as git's objects
}

// adopt gives a finished object its name.
func adopt(from, to string) error {
	err := os.Rename(from, to)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(to), 0o777); err == nil { //nolint:gosec // the user's umask decides, as in git
			err = os.Rename(from, to)
		}
	}
	if err != nil {
		return errors.Join(err, os.Remove(from))
	}
	return nil
}
