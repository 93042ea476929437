package store

import (
	"crypto/sha1" //nolint:gosec // the id of a git object is its SHA-1
	"io"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// Sum returns the id that git gives an object.
func Sum(kind plumbing.ObjectType, content []byte) plumbing.Hash {
	h := sha1.New() //nolint:gosec // see the import
	_, _ = h.Write(header(kind, int64(len(content))))
	_, _ = h.Write(content)
	return plumbing.Hash(h.Sum(nil))
}

// SumBlob returns the id of a blob of size bytes that is read from r; content
// of another length is io.ErrUnexpectedEOF.
func SumBlob(r io.Reader, size int64) (plumbing.Hash, error) {
	h := sha1.New() //nolint:gosec // see the import
	_, _ = h.Write(header(plumbing.BlobObject, size))
	n, err := io.Copy(h, io.LimitReader(r, size+1))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return plumbing.Hash(h.Sum(nil)), err
}

func header(kind plumbing.ObjectType, size int64) []byte {
	b := append(make([]byte, 0, 32), kind.String()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, size, 10)
	return append(b, 0)
}
