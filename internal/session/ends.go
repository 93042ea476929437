package session

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
)

// blockSize is how many bytes are read at once: the wanted lines are short, and there may be
// many logs.
const blockSize = 4 << 10

var blocks = sync.Pool{New: func() any { return new([blockSize]byte) }} //nolint:gochecknoglobals // garbage is what slows down a list most

// shortLine is how many bytes a last line may have to be read to its end.
const shortLine = 1 << 20

// lastEntry decodes the last line of a log of size bytes; empty if there is none. bad says why it cannot be decoded. Of a
// long line, which may be as large as a diff, the beginning tells enough.
func lastEntry(f io.ReaderAt, size int64) (last Entry, bad, err error) {
	block, _ := blocks.Get().(*[blockSize]byte)
	defer blocks.Put(block)
	tail := block[:min(size, blockSize)]
	if err := readAt(f, tail, size-int64(len(tail))); err != nil {
		return last, nil, err
	}
	tail = bytes.TrimRight(tail, blanks)
	if at := lineBreak(tail); at >= 0 { // as almost always
		last, bad = decodeLast(tail[at+1:])
		return last, bad, nil
	}
	start, end, err := lastBounds(f, size)
	if err != nil || start == end {
		return last, nil, err
	}
	line := make([]byte, end-start)
	if end-start > blockSize {
		head, broken := line[:blockSize], make([]byte, 1)
		if err := readAt(f, head, start); err != nil {
			return last, nil, err
		}
		if err := readAt(f, broken, size-1); err != nil {
			return last, nil, err
		}
		switch last, ok := begun(head); {
		case ok && broken[0] == '\n':
			return last, nil, nil
		case ok && end-start > shortLine:
			return Entry{}, nil, nil // whether it is whole would take too long to tell
		}
	}
	if err := readAt(f, line, start); err != nil {
		return last, nil, err
	}
	last, bad = decodeLast(line)
	return last, bad, nil
}

func decodeLast(line []byte) (last Entry, bad error) {
	if last, bad = decode(line); bad != nil {
		bad = torn(bad)
	}
	return last, bad
}

// readAt fills b, with zeros where the file ends before.
func readAt(f io.ReaderAt, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	clear(b[n:])
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// begun decodes the beginning of a line, up to the number of its iteration.
func begun(line []byte) (e Entry, ok bool) {
	at := bytes.Index(line, []byte(`"iteration_number":`))
	if at < 0 {
		return e, false
	}
	head, _, _ := bytes.Cut(line[at:], []byte(","))
	e, err := decode(append(slices.Clone(line[:at+len(head)]), '}'))
	return e, err == nil && e.Event != nil && !e.At.Time.IsZero()
}

// lastBounds returns the offsets of the last non-empty line.
func lastBounds(f io.ReaderAt, size int64) (start, end int64, err error) {
	end, err = skipBack(f, size, func(part []byte) int { return len(bytes.TrimRight(part, blanks)) - 1 })
	if err != nil {
		return 0, 0, err
	}
	start, err = skipBack(f, end, lineBreak)
	return start, end, err
}

func lineBreak(part []byte) int { return bytes.LastIndexByte(part, '\n') }

// skipBack searches a file backwards from an offset. It returns the offset behind the last
// byte that last finds: last returns the byte's index in a part of the file, or -1. After
// [MaxLine] bytes skipBack gives up and returns the offset it has reached.
func skipBack(f io.ReaderAt, from int64, last func(part []byte) int) (int64, error) {
	buf := make([]byte, blockSize)
	for lowest := max(0, from-MaxLine); from > lowest; {
		part := buf[:min(int64(len(buf)), from-lowest)]
		if err := readAt(f, part, from-int64(len(part))); err != nil {
			return 0, err
		}
		from -= int64(len(part))
		if i := last(part); i >= 0 {
			return from + int64(i) + 1, nil
		}
		if len(buf) < 64*blockSize { // a long line
			buf = make([]byte, 2*len(buf))
		}
	}
	return from, nil
}
