package store

import (
	"bufio"
	"compress/zlib"
	"errors"
	"io"
)

// An inflater decompresses again and again with the same memory.
type inflater struct {
	input *bufio.Reader
	zlib  io.ReadCloser
	out   *bufio.Reader // what is decompressed
}

// reset begins with what r holds compressed.
func (z *inflater) reset(r io.Reader) (err error) {
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
