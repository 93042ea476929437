package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"unsafe"

	"codeloops/internal/diff/repo/file"
)

// ErrSplit is an index of which the other half is in another file.
var ErrSplit = errors.New("index is split")

// chunk is how much of the file is in memory at a time, in bytes: so little that
// the memory does not take longer to get than the file to read.
const chunk = 32 << 10

// Each reads the index at path and hands its entries, in order, to take. An
// entry and its path are take's only until it returns; x has the stamp of the
// file by then. In contrast to Read, the memory that this takes does not grow
// with the index, and what is returned has neither entries nor trees. A missing
// file is an empty index. After an error, for which entries may have been handed
// out, Read may find a sound index of an unusual form.
func Each(path string, take func(x *Index, e *Entry)) (*Index, error) {
	f, stamp, err := file.Open(path, file.How{Max: maxIndex})
	if file.Missing(err) {
		return &Index{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading: nothing to lose
	x := &Index{Stamp: stamp}
	r := reader{file: f, end: stamp.Size - hashSize}
	if err := r.each(x, take); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return x, nil
}

// A reader takes an index file apart piece by piece.
type reader struct {
	decoder        // its paths are the one before, and the one of the entry
	file           *os.File
	buffer, window []byte // what has been read; what of it has not been decoded
	at, end        int64  // in the file: behind the window; of what is to be read
}

func (r *reader) each(x *Index, take func(x *Index, e *Entry)) error {
	var head [headerSize]byte
	if r.end < headerSize {
		return corrupt("no index file")
	}
	if err := read(r.file, head[:], 0); err != nil {
		return err
	}
	count, err := r.header(head[:])
	if err != nil {
		return err
	}
	if int64(count)*(fixedSize+1) > r.end {
		return corrupt("%d entries in %d bytes", count, r.end)
	}
	x.Version, r.at = r.version, headerSize
	if err := r.entriesOf(x, int(count), take); err != nil {
		return err
	}
	if err := r.extensions(r.at - int64(len(r.window))); err != nil {
		return err
	}
	return read(r.file, x.Trailer[:], r.end)
}

// entriesOf hands out so many entries.
func (r *reader) entriesOf(x *Index, count int, take func(x *Index, e *Entry)) error {
	if r.buffer == nil {
		r.buffer = make([]byte, min(chunk, r.end))
	}
	r.limit = math.MaxInt           // here is another one:
	room := maxSpread * (r.end + 1) // for all paths together
	var e Entry                     // the same for all: it would be allocated
	for i := range count {
		before, stage := len(r.paths), e.Stage
		e = Entry{}
		if err := r.next(&e, before); err != nil {
			return err
		}
		path := r.paths[before+1:]
		if len(path) == 0 {
			return ErrSplit // or corrupt
		}
		if room -= int64(len(path)); room < 0 {
			return corrupt("paths too long")
		}
		e.Path = unsafe.String(unsafe.SliceData(path), len(path)) //nolint:gosec // take does not keep it
		if err := checkEntry(r.paths[min(before, 1):before], path, i > 0, stage < e.Stage); err != nil {
			return err
		}
		take(x, &e)
		r.paths = append(r.paths[:0], r.paths[before:]...)
	}
	return nil
}

// next decodes an entry. When it seems not to be whole, more of the file may make
// it so.
func (r *reader) next(e *Entry, before int) error {
	for {
		size, err := r.readEntry(e, r.window, 0)
		if err == nil {
			r.window = r.window[size:]
			return nil
		}
		r.paths, *e = r.paths[:before], Entry{}
		if r.at == r.end {
			return err
		}
		if err := r.fill(); err != nil {
			return err
		}
	}
}

// fill reads on, behind what is left of the window.
func (r *reader) fill() error {
	left := copy(r.buffer, r.window)
	if left == len(r.buffer) {
		r.buffer = append(r.buffer, make([]byte, len(r.buffer))...)
	}
	r.window = r.buffer[:left+int(min(int64(len(r.buffer)-left), r.end-r.at))]
	if err := read(r.file, r.window[left:], r.at); err != nil {
		return err
	}
	r.at += int64(len(r.window) - left)
	return nil
}

// extensions looks through what follows the entries, without reading what may be
// passed over.
func (r *reader) extensions(at int64) error {
	for at < r.end {
		var head [8]byte
		if r.end-at < int64(len(head)) {
			return corrupt("extension cut short")
		}
		if err := read(r.file, head[:], at); err != nil {
			return err
		}
		name, size := string(head[:4]), binary.BigEndian.Uint32(head[4:])
		at += int64(len(head)) + int64(size)
		if at > r.end {
			return corrupt("extension %q cut short", name)
		}
		switch {
		case name == "link":
			return ErrSplit
		case name[0] < 'A' || name[0] > 'Z':
			return r.readExtension(name, nil)
		}
	}
	return nil
}

// read fills b from the file.
func read(f *os.File, b []byte, at int64) error {
	_, err := f.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		return corrupt("cut short")
	}
	return err
}
