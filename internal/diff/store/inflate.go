package store

import (
	"bufio"
	"compress/zlib"
	"context"
	"errors"
	"io"
)

// An inflater decompresses again and again with the same memory.
type inflater struct {
	input *bufio.Reader
	zlib  io.ReadCloser
	out   *bufio.Reader // what is decompressed
	small []byte        // memory of small contents, one after the other
}

// reset begins with what r holds compressed. The end of the context is one of the
// reading.
func (z *inflater) reset(ctx context.Context, r io.Reader) (err error) {
	r = Until(ctx, r)
	if z.zlib == nil {
		z.input = bufio.NewReader(r)
		if z.zlib, err = zlib.NewReader(z.input); err != nil {
			return err
		}
		z.out = bufio.NewReader(z.zlib)
		return nil
	}
	z.input.Reset(r)
	z.out.Reset(z.zlib)
	return z.zlib.(zlib.Resetter).Reset(z.input, nil)
}

// room returns memory for a content of that size, which is empty yet. Memory of its
// own for each takes two pages of a new process for each size that they have.
func (z *inflater) room(size int64) []byte {
	const small, shared = 1 << 10, 4 << 10
	if size > small {
		return make([]byte, 0, size)
	}
	if z.small == nil || int64(cap(z.small)-len(z.small)) < size {
		z.small = make([]byte, 0, shared)
	}
	at, end := len(z.small), len(z.small)+int(size)
	z.small = z.small[:end]
	return z.small[at:at:end]
}

// A readFunc is a reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }

// Until returns a reader that fails as soon as the context has ended: a few bytes
// can stand for many that they are decompressed to.
func Until(ctx context.Context, r io.Reader) io.Reader {
	return readFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(b)
	})
}

// end reports as an error that there is more, or that the checksum is wrong.
func (z *inflater) end() error {
	_, err := z.out.ReadByte()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		err = errDamaged
	}
	return err
}
