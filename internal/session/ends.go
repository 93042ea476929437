package session

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// blockSize is how many bytes are read at once: the wanted lines are short, and there may be
// many logs.
const blockSize = 4 << 10

// shortLine is how many bytes a last line may have to be read to its end.
const shortLine = 1 << 20

// lastEntry decodes the last line of a log of size bytes; empty if there is none. bad says why it cannot be decoded. Of a
// long line, which may be as large as a diff, the beginning tells enough.
func lastEntry(f io.ReaderAt, size int64) (last Entry, bad, err error) {
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
	if last, bad = decode(line); bad != nil {
		bad = torn(bad)
	}
	return last, bad, nil
}

// readAt fills b, as far as the file reaches.
func readAt(f io.ReaderAt, b []byte, at int64) error {
	if _, err := f.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
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
