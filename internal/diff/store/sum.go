package store

import (
	"context"
	"crypto/sha1" //nolint:gosec // the id of a git object is its SHA-1
	"hash"
	"io"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// Sum returns the id that git gives an object.
func Sum(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	return (&Hasher{}).Sum(kind, content)
}

// A Hasher computes ids with the same memory each time. Its zero value is ready.
type Hasher struct {
	hash   hash.Hash
	header [32]byte
	sum    plumbing.Hash
}

// Sum returns the id that git gives an object.
func (h *Hasher) Sum(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	if h.hash == nil {
		h.hash = sha1.New() //nolint:gosec // see the import
	}
	h.hash.Reset()
	_, _ = h.hash.Write(appendHeader(h.header[:0], kind, int64(len(content))))
	_, _ = h.hash.Write(content)
	h.hash.Sum(h.sum[:0])
	return h.sum
}

// SumBlob returns the id of a blob of size bytes that is read from r; content
// of another length is io.ErrUnexpectedEOF. The end of the context is one of the
// reading.
func SumBlob(ctx context.Context, r io.Reader, size int64) (plumbing.Hash, error) {
	h := sha1.New() //nolint:gosec // see the import
	_, _ = h.Write(header(plumbing.BlobObject, size))
	n, err := io.Copy(h, io.LimitReader(Until(ctx, r), size+1))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return plumbing.Hash(h.Sum(nil)), err
}

// A checked reader ends with [ErrForged], not io.EOF, when what it read is not
// what was asked for.
type checked struct {
	io.ReadCloser
	hash hash.Hash
	left int64
	want plumbing.Hash
}

func check(r io.ReadCloser, kind plumbing.ObjectType, size int64, want plumbing.Hash) io.ReadCloser {
	h := sha1.New() //nolint:gosec // see the import
	_, _ = h.Write(header(kind, size))
	return &checked{ReadCloser: r, hash: h, left: size, want: want}
}

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	_, _ = c.hash.Write(b[:n])
	c.left -= int64(n)
	if c.left < 0 || err == io.EOF && plumbing.Hash(c.hash.Sum(nil)) != c.want {
		err = ErrForged
	}
	return n, err
}

func header(kind plumbing.ObjectType, size int64) []byte {
	return appendHeader(make([]byte, 0, 32), kind, size)
}

func appendHeader(b []byte, kind plumbing.ObjectType, size int64) []byte {
	b = append(b, kind.String()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, size, 10)
	return append(b, 0)
}
