package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/wording"
)

// MaxLine is how many bytes a line of a log may have. No longer line is written, and a reader
// never holds more.
const MaxLine = 256 << 20

var (
	// ErrTorn is a line that was being written when the power, the disk or
	// the process failed.
	ErrTorn = errors.New("the line breaks off")
	// ErrLineTooLong is a line of more than [MaxLine] bytes.
	ErrLineTooLong = errors.New("the line is too long")
)

// blanks are ignored around a line: a file system may fill what it lost with zero bytes.
const blanks = "\x00 \t\r\n"

// A LineError is a line of a log that could not be read. It does not affect other lines.
type LineError struct {
	File string
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %v", wording.OSPath(e.File), e.Line, e.Err)
}

// Unwrap returns what is wrong with the line.
func (e *LineError) Unwrap() error { return e.Err }

// An Entry is one line of a log.
type Entry struct {
	At    loop.Stamp
	Event loop.Event
	// Stdout, Stderr and Reply are, for a [loop.ActorFinished] and a
	// [loop.CriticFinished], the files that hold the texts missing from the event
	// ("" is an empty text), until the log has a line for the whole iteration.
	Stdout, Stderr, Reply string
	// Totals adds up the session; nil except at the end of a log that has them.
	Totals *progress.Tally
	// Changed says, at the end of a log, that somebody else has written to it
	// during the run.
	Changed bool
}

// A Reader reads the entries of one log, in order. It holds one line at a time. It is not safe
// for concurrent use.
type Reader struct {
	name  string
	lines lineReader
}

// NewReader returns a reader of the log in r. Name is the log's path: it is used in errors,
// and to find files beside the log.
func NewReader(r io.Reader, name string) *Reader {
	return newReader(r, name, buffered)
}

func newReader(r io.Reader, name string, buffer int) *Reader {
	return &Reader{name: name, lines: lineReader{in: bufio.NewReaderSize(r, buffer), limit: MaxLine}}
}

// buffered is how many bytes are read ahead.
const buffered = 64 << 10

// Read returns the entries of the log at path, as [Reader.Entries] does. The file is open while
// they are read. If it cannot be opened, that is the only error.
func Read(path string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f, _, err := openLog(path)
		if err != nil {
			yield(Entry{}, fmt.Errorf("open session log: %w", err))
			return
		}
		defer f.Close() //nolint:errcheck // only read
		NewReader(f, path).Entries()(yield)
	}
}

// Entries returns the rest of the log. A line that cannot be read is yielded as a [*LineError]
// in its place; any other error is that of the file, and the last. A log without a session_end
// as its last line is that of an unfinished session, which is not an error.
func (r *Reader) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for {
			line, err := r.lines.next()
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, ErrLineTooLong) {
				yield(Entry{}, fmt.Errorf("read session log %s: %w", wording.OSPath(r.name), err))
				return
			}
			entry, ok, bad := r.entry(line, err)
			if bad != nil && !yield(Entry{}, &LineError{File: r.name, Line: r.lines.count, Err: bad}) {
				return
			}
			if ok && !yield(entry, nil) {
				return
			}
			if errors.Is(err, io.EOF) {
				return
			}
		}
	}
}

// Sound returns entries without the lines that cannot be read: bad, which may be nil, is called
// with their errors.
func Sound(entries iter.Seq2[Entry, error], bad func(error)) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for entry, err := range entries {
			if line, ok := errors.AsType[*LineError](err); ok {
				if bad != nil {
					bad(line)
				}
			} else if !yield(entry, err) {
				return
			}
		}
	}
}

// entry decodes a line; ok is false if there is nothing in it to yield.
func (r *Reader) entry(line []byte, end error) (entry Entry, ok bool, bad error) {
	if errors.Is(end, ErrLineTooLong) {
		return Entry{}, false, ErrLineTooLong
	}
	if r.lines.count == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	filled := bytes.IndexByte(line, 0) >= 0
	line = bytes.Trim(line, blanks)
	if len(line) == 0 {
		if filled {
			return Entry{}, false, ErrTorn
		}
		return Entry{}, false, nil
	}
	entry, err := decode(line)
	if err != nil {
		if errors.Is(end, io.EOF) || filled {
			err = torn(err)
		}
		return Entry{}, false, err
	}
	if entry.Event == nil { // its type is unknown
		return Entry{}, false, nil
	}
	return r.placed(entry), true, nil
}

// placed turns the names of files, which are relative to the log, into paths.
func (r *Reader) placed(entry Entry) Entry {
	for _, name := range []*string{&entry.Stdout, &entry.Stderr, &entry.Reply} {
		// These files are read, and our logs name none elsewhere.
		if !filepath.IsLocal(*name) {
			*name = ""
		}
		*name = r.beside(*name)
	}
	entry.Event = mapOutputs(entry.Event, func(o loop.Output) loop.Output {
		o.File = r.beside(o.File)
		return o
	})
	return entry
}

func (r *Reader) beside(file string) string {
	if file == "" || !filepath.IsLocal(file) {
		return file
	}
	return filepath.Join(filepath.Dir(r.name), filepath.FromSlash(file))
}

// lineReader cuts a stream into lines of up to limit bytes.
type lineReader struct {
	in    *bufio.Reader
	limit int
	buf   []byte
	count int // lines so far
}

// next returns the next line, valid until the next call. The error is io.EOF for the last
// line, if that has no line break, and ErrLineTooLong for a line whose content was skipped.
func (l *lineReader) next() ([]byte, error) {
	l.buf = l.buf[:0]
	l.count++
	tooLong := false
	for {
		part, err := l.in.ReadSlice('\n')
		if len(l.buf) == 0 && !tooLong && !errors.Is(err, bufio.ErrBufferFull) && len(part) <= l.limit {
			return part, err // most lines are short: they need no copy
		}
		if tooLong = tooLong || len(l.buf)+len(part) > l.limit; !tooLong {
			l.buf = append(l.buf, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == nil && tooLong {
			err = ErrLineTooLong
		}
		return l.buf, err
	}
}
