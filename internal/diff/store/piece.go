package store

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxPiece is the largest content, in bytes, that a delta can build on.
const maxPiece = 4 << 30

// A piece is the content of an object that a delta builds on, or makes: in memory,
// or in a temporary file when it is large. Whoever has it closes it.
type piece struct {
	size   int64 // that it has when it is whole
	left   int64 // to be written
	memory []byte
	file   *os.File // nil for what is in memory
	w      *bufio.Writer
}

// piece returns a piece that is to be written.
func (t tools) piece(size int64) (*piece, error) {
	p := &piece{size: size, left: size}
	if size <= Large {
		p.memory = t.z.room(size)
		return p, nil
	}
	f, err := createTemp(filepath.Join(t.temp, tempObject))
	if err != nil {
		return nil, err
	}
	p.file, p.w = f, bufio.NewWriterSize(struct{ io.Writer }{f}, 64<<10) // the file's own ReadFrom allocates each time
	return p, nil
}

// copyFrom writes the next n bytes of r.
func (p *piece) copyFrom(r io.Reader, n int64) (err error) {
	if n > p.left {
		return errDamaged
	}
	p.left -= n
	if p.file == nil {
		whole := len(p.memory)
		p.memory = p.memory[:whole+int(n)]
		_, err = io.ReadFull(r, p.memory[whole:])
	} else {
		_, err = io.CopyN(p.w, r, n)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// copyAt writes n bytes of another piece.
func (p *piece) copyAt(from *piece, at, n int64) error {
	switch {
	case n > p.left || at+n > from.size:
		return errDamaged
	case p.file == nil && from.file == nil:
		p.left -= n
		p.memory = append(p.memory, from.memory[at:at+n]...)
		return nil
	}
	return p.copyFrom(io.NewSectionReader(from, at, n), n)
}

// ReadAt reads from what was flushed.
func (p *piece) ReadAt(b []byte, at int64) (int, error) {
	if p.file != nil {
		return p.file.ReadAt(b, at)
	}
	return bytes.NewReader(p.memory).ReadAt(b, at)
}

// flush ends the writing.
func (p *piece) flush() error {
	if p.file != nil {
		return p.w.Flush()
	}
	return nil
}

// Close removes the file, if there is one.
func (p *piece) Close() error {
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	if gone := os.Remove(p.file.Name()); !errors.Is(gone, fs.ErrNotExist) { // as `git prune` may have made it
		err = errors.Join(err, gone)
	}
	return err
}
