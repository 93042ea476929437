package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/wording"
)

// A Summary is what the first and the last line of a log say.
type Summary struct {
	ID      string
	Path    string
	Size    int64 // bytes
	Session loop.Session
	Started time.Time
	// Outcome is nil if the log has no end: the session is running or was cut
	// off.
	Outcome *loop.Outcome
	// Tally adds up the session; nil if the whole log would have to be read for
	// it.
	Tally *progress.Tally
	// Err says why the log does not tell more.
	Err error
}

// errNoStart is a log that does not begin like one.
var errNoStart = errors.New("the first line is not a session_start")

// errBareStart is a log whose first line does not say what was to be done, where, when or by
// whom.
var errBareStart = errors.New("the session_start says nothing of the session")

// errNoFile is something other than a file in the place of a log.
var errNoFile = errors.New("it is not a file")

// summarize reads the first and the last line of a log; the stamp is that of the file it read.
func summarize(path string) (sum Summary, now file.Stamp) {
	sum = Summary{ID: strings.TrimSuffix(filepath.Base(path), logEnding), Path: path}
	f, now, err := openLog(sum.Path)
	if err != nil {
		sum.Err = fmt.Errorf("open session log: %w", err)
		return sum, now
	}
	defer f.Close() //nolint:errcheck // only read
	sum.Size = now.Size
	sum.Err = errors.Join(sum.readStart(f), sum.readEnd(f))
	return sum, now
}

// openLog opens a regular file: reading a pipe might wait for ever.
func openLog(path string) (*os.File, file.Stamp, error) {
	f, st, err := file.Open(path, file.Options{Max: math.MaxInt64})
	if errors.Is(err, file.ErrNotRegular) {
		err = &fs.PathError{Op: "open", Path: path, Err: errNoFile}
	}
	return f, st, err
}

func (s *Summary) readStart(f *os.File) error {
	why := errNoStart
	if s.Size == 0 {
		why = ErrEmpty
	}
	for entry, err := range newReader(f, s.Path, blockSize).Entries() {
		if err != nil {
			return err
		}
		if start, ok := entry.Event.(loop.Started); ok {
			s.Session, s.Started = start.Session, entry.At.Time
			if said := s.Session.Prompt + s.Session.WorkingDir + s.Session.Actor.Agent + s.Session.Critic.Agent; said != "" || !s.Started.IsZero() {
				return nil
			}
			why = errBareStart
		}
		break
	}
	return &LineError{File: s.Path, Line: 1, Err: why}
}

func (s *Summary) readEnd(f *os.File) error {
	line, err := lastLine(f, s.Size)
	if err != nil {
		return fmt.Errorf("read the end of session log %s: %w", wording.OSPath(s.Path), err)
	}
	// A last line that cannot be read is a session without an end.
	entry, err := decode(line, lean)
	if end, ok := entry.Event.(loop.Finished); ok && err == nil {
		s.Outcome = &end.Outcome
		if s.Tally = entry.Totals; s.Tally != nil {
			s.Tally.Iterations = end.Outcome.Iterations
		}
	}
	return nil
}

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
