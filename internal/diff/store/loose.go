package store

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
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
func (o looseObject) begin(ctx context.Context, z *inflater) (f *os.File, kind plumbing.ObjectType, size int64, err error) {
	f, err = openWhole(o.path)
	if file.Missing(err) {
		return nil, 0, 0, plumbing.ErrObjectNotFound
	}
	if err != nil {
		return nil, 0, 0, err
	}
	if err = z.reset(ctx, f); err == nil {
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

func (o looseObject) size(ctx context.Context) (int64, error) {
	f, _, size, err := o.begin(ctx, o.z)
	if err != nil {
		return 0, err
	}
	return size, f.Close()
}

func (o looseObject) load(ctx context.Context, want plumbing.ObjectType) ([]byte, error) {
	f, kind, size, err := o.begin(ctx, o.z)
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
	content := o.z.room(size)[:size]
	if _, err := io.ReadFull(o.z.out, content); err != nil {
		return nil, err
	}
	return content, o.z.end()
}

func (o looseObject) open(ctx context.Context, want plumbing.ObjectType) (io.ReadCloser, int64, error) {
	var z inflater
	f, kind, size, err := o.begin(ctx, &z)
	if err != nil {
		return nil, 0, err
	}
	if kind != want {
		return nil, 0, errors.Join(errKind, f.Close())
	}
	return reader{z.out, f}, size, nil
}
