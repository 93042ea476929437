package store

import (
	"bufio"
	"compress/zlib"
	"io"
)

// entryHeader reads the type and the size that an entry of a pack begins with,
// and returns how many bytes they take; 0 when they are not whole.
func entryHeader(b []byte) (kind byte, size int64, used int) {
	shift := 4
	for i, c := range b {
		if i == 0 {
			kind, size = c>>4&7, int64(c&15)
		} else {
			size |= int64(c&0x7f) << shift
			shift += 7
		}
		if c&0x80 == 0 {
			return kind, size, i + 1
		}
		if shift > 56 {
			break
		}
	}
	return 0, 0, 0
}

// offsetVarint reads how far back the base of a delta is, and returns how many
// bytes that takes; 0 when it is not whole.
func offsetVarint(b []byte) (value int64, used int) {
	for i, c := range b[:min(len(b), 8)] {
		if i > 0 {
			value++
		}
		value = value<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// sizeVarint reads one of the two sizes that a delta begins with.
func sizeVarint(b []byte) (value int64, used int) {
	for i, c := range b[:min(len(b), 8)] {
		value |= int64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// patch applies a delta, by the section "Deltified representation" of
// gitformat-pack(5).
func patch(base, delta []byte) ([]byte, error) {
	from, n := sizeVarint(delta)
	delta = delta[n:]
	to, m := sizeVarint(delta)
	delta = delta[m:]
	if n == 0 || m == 0 || from != int64(len(base)) || to > Large {
		return nil, errNotHere
	}
	result := make([]byte, 0, to)
	for len(delta) > 0 {
		op := delta[0]
		piece, used := delta[1:], int(op)
		if op&0x80 != 0 {
			piece, used = copied(base, delta)
		}
		if used == 0 || op&0x80 == 0 && used > len(piece) {
			return nil, errNotHere
		}
		if op&0x80 == 0 {
			piece, used = piece[:used], used+1
		}
		if int64(len(result)+len(piece)) > to {
			return nil, errNotHere
		}
		result = append(result, piece...)
		delta = delta[used:]
	}
	if int64(len(result)) != to {
		return nil, errNotHere
	}
	return result, nil
}

// copied returns the piece of the base that an instruction names, and the length
// of the instruction; 0 when there is no such piece. The bits of its first byte
// say which of four bytes of the offset and three of the size follow.
func copied(base, delta []byte) (piece []byte, used int) {
	offset, size, used := 0, 0, 1
	for bit := range 7 {
		if delta[0]>>bit&1 == 0 {
			continue
		}
		if used == len(delta) {
			return nil, 0
		}
		if bit < 4 {
			offset |= int(delta[used]) << (8 * bit)
		} else {
			size |= int(delta[used]) << (8 * (bit - 4))
		}
		used++
	}
	if size == 0 {
		size = 0x10000
	}
	if offset > len(base) || size > len(base)-offset {
		return nil, 0
	}
	return base[offset : offset+size], used
}

// An inflater decompresses again and again with the same memory.
type inflater struct {
	input *bufio.Reader
	zlib  io.ReadCloser
}

// inflate returns the size bytes that r holds compressed.
func (z *inflater) inflate(r io.Reader, size int64) ([]byte, error) {
	if err := z.reset(r); err != nil {
		return nil, err
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(z.zlib, content); err != nil {
		return nil, err
	}
	if n, err := z.zlib.Read(make([]byte, 1)); n > 0 || err != io.EOF {
		return nil, errNotHere
	}
	return content, nil
}

func (z *inflater) reset(r io.Reader) (err error) {
	if z.zlib == nil {
		z.input = bufio.NewReader(r)
		z.zlib, err = zlib.NewReader(z.input)
		return err
	}
	z.input.Reset(r)
	return z.zlib.(zlib.Resetter).Reset(z.input, nil)
}
