package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"codeloops/internal/loop"
)

// A Summary is what the first and the last line of a log say.
type Summary struct {
	ID      string
	Path    string
	Size    int64 // bytes
	Session loop.Session
	Started time.Time
	// Outcome is nil when the log has no end, as that of a session which runs
	// or was cut off; Ended is then zero.
	Outcome *loop.Outcome
	Ended   time.Time
	// Err says why the log does not tell more.
	Err error
}

// errNoStart is a log that does not begin as logs do.
var errNoStart = errors.New("the first line is not a session_start")

func (s *Store) summary(id string) Summary {
	sum := Summary{ID: id, Path: s.path(id)}
	f, err := os.Open(sum.Path)
	if err != nil {
		sum.Err = fmt.Errorf("open session log: %w", err)
		return sum
	}
	defer f.Close() //nolint:errcheck // only read
	if st, err := f.Stat(); err == nil {
		sum.Size = st.Size()
	}
	sum.Err = errors.Join(sum.readStart(f), sum.readEnd(f))
	return sum
}

func (s *Summary) readStart(f *os.File) error {
	for entry, err := range newReader(f, s.Path, blockSize).Entries() {
		if err != nil {
			return err
		}
		if start, ok := entry.Event.(loop.Started); ok {
			s.Session, s.Started = start.Session, entry.At.Time
			return nil
		}
		break
	}
	return fmt.Errorf("%s: %w", s.Path, errNoStart)
}

func (s *Summary) readEnd(f *os.File) error {
	line, err := lastLine(f, s.Size)
	if err != nil {
		return fmt.Errorf("read the end of session log %s: %w", s.Path, err)
	}
	// A last line that cannot be read is a session without an end.
	entry, err := decode(line)
	if end, ok := entry.Event.(loop.Finished); ok && err == nil {
		s.Outcome, s.Ended = &end.Outcome, entry.At.Time
	}
	return nil
}

// blockSize is how many bytes are read at once: the lines that are looked for
// are short, and the logs may be many.
const blockSize = 4 << 10

// shortLine is what a last line may have, in bytes, without being looked at
// before it is read whole.
const shortLine = 1 << 20

// lastLine returns the last line of a log of size bytes that is not empty. A
// long one is returned only when it begins as the end of a session does: the
// others are of no interest here, and may be as large as a diff.
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

// lastBounds returns where the last line that is not empty begins and ends.
func lastBounds(f io.ReaderAt, size int64) (start, end int64, err error) {
	end, err = skipBack(f, size, func(c byte) bool { return bytes.IndexByte([]byte("\x00 \t\r\n"), c) >= 0 })
	if err != nil {
		return 0, 0, err
	}
	start, err = skipBack(f, end, func(c byte) bool { return c != '\n' })
	return start, end, err
}

// endHead is how a session_end line begins, in our logs and the original's.
const endHead = `{"type":"` + typeSessionEnd + `"`

// skipBack returns the offset behind the last byte before from that skip does
// not skip. It gives up, and returns where it is, after [MaxLine] bytes.
func skipBack(f io.ReaderAt, from int64, skip func(byte) bool) (int64, error) {
	buf := make([]byte, blockSize)
	for lowest := max(0, from-MaxLine); from > lowest; {
		part := buf[:min(int64(len(buf)), from-lowest)]
		if _, err := f.ReadAt(part, from-int64(len(part))); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for i, c := range slices.Backward(part) {
			if !skip(c) {
				return from - int64(len(part)) + int64(i) + 1, nil
			}
		}
		from -= int64(len(part))
	}
	return from, nil
}
