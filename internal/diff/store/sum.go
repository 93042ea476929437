package store

import (
	"context"
	"crypto/sha1" //nolint:gosec // the id of a git object is its SHA-1
	"hash"
	"io"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/file"
)

// Sum returns the id that git gives an object.
func Sum(kind plumbing.ObjectType, content []byte) (id plumbing.Hash) {
	h := newHash(kind, int64(len(content)))
	_, _ = h.Write(content)
	h.Sum(id[:0])
	return id
}

// newHash returns a hash to which the header of an object was written.
func newHash(kind plumbing.ObjectType, size int64) hash.Hash {
	h := sha1.New() //nolint:gosec // see the import
	b := append(make([]byte, 0, 32), kind.String()...)
	b = strconv.AppendInt(append(b, ' '), size, 10)
	_, _ = h.Write(append(b, 0))
	return h
}

// SumBlob returns the id of a blob that is read from r. The error is io.ErrUnexpectedEOF if it does
// not have that size. The end of the context ends the reading.
func SumBlob(ctx context.Context, r io.Reader, size int64) (plumbing.Hash, error) {
	h := newHash(plumbing.BlobObject, size)
	n, err := io.Copy(h, io.LimitReader(file.Until(ctx, r), size+1))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return plumbing.Hash(h.Sum(nil)), err
}

// A checked reader ends with [ErrForged] instead of io.EOF if the content does not match the id.
type checked struct {
	io.Closer
	from io.Reader
	hash hash.Hash
	left int64
	want plumbing.Hash
}

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	_, _ = c.hash.Write(b[:n])
	c.left -= int64(n)
	if c.left < 0 || err == io.EOF && plumbing.Hash(c.hash.Sum(nil)) != c.want {
		err = ErrForged
	}
	return n, err
}
