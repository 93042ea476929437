package session

import (
	"bytes"
	"errors"
	"io"
)

// blockSize is how many bytes are read at once: the wanted lines are short, and there may be
// many logs.
const blockSize = 4 << 10

// shortLine is how many bytes a last line may have to be read without a look at its beginning.
const shortLine = 1 << 20

// lastLine returns the last non-empty line of a log of size bytes. It returns a long line only
// if it begins like the end of a session: the others are of no interest here, and may be as
// large as a diff.
func lastLine(f io.ReaderAt, size int64) ([]byte, error) {
	start, end, err := lastBounds(f, size)
	if err != nil {
		return nil, err
	}
	if end-start > shortLine {
		head := make([]byte, len(endHead))
		if _, err := f.ReadAt(head, start); err != nil || string(head) != endHead {
			return nil, err
		}
	}
	line := make([]byte, end-start)
	_, err = f.ReadAt(line, start)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return line, err
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

// endHead is how a session_end line begins, in our logs and the original's.
const endHead = `{"type":"` + typeSessionEnd + `"`

// skipBack searches a file backwards from an offset. It returns the offset behind the last
// byte that last finds: last returns the byte's index in a part of the file, or -1. After
// [MaxLine] bytes skipBack gives up and returns the offset it has reached.
func skipBack(f io.ReaderAt, from int64, last func(part []byte) int) (int64, error) {
	buf := make([]byte, blockSize)
	for lowest := max(0, from-MaxLine); from > lowest; {
		part := buf[:min(int64(len(buf)), from-lowest)]
		if _, err := f.ReadAt(part, from-int64(len(part))); err != nil && !errors.Is(err, io.EOF) {
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
