package redact

import (
	"errors"
	"fmt"
	"io"
	"os"

	"codeloops/internal/file"
)

// Writer returns a writer that redacts what is written and passes it on to w. It also finds
// secrets that are split over several writes: it holds back text that may be the beginning of
// a secret until more is written, or until Close. Close leaves w open. The writer is not safe
// for concurrent use.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser {
	return &writer{out: w, stream: r.stream()}
}

type writer struct {
	out    io.Writer
	stream stream
}

func (w *writer) Write(p []byte) (int, error) {
	if _, err := w.out.Write(w.stream.next(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *writer) Close() error {
	_, err := w.out.Write(w.stream.rest())
	return err
}

// stream redacts a text that comes in pieces.
type stream struct {
	finder         // its spans begin in held
	held    []byte // not passed on yet
	start   int64  // the offset of held in the text
	covered int64  // the end of the last redacted span; -1: there was none
}

func (r *Redactor) stream() stream { return stream{finder: finder{matcher: r.matcher}, covered: -1} }

// next takes a piece and returns what can be passed on; the result is valid until the next
// call.
func (s *stream) next(piece []byte) []byte {
	if s.matcher == nil {
		return piece
	}
	find(&s.finder, piece)
	s.held = append(s.held, piece...)
	return s.upTo(s.open())
}

// rest returns what was held back at the end of the text.
func (s *stream) rest() []byte { return s.upTo(s.length) }

// upTo removes and returns the redacted text before an offset.
func (s *stream) upTo(safe int64) []byte {
	var out []byte
	at := max(s.start, s.covered)
	n := 0
	for ; n < len(s.spans) && s.spans[n].start < safe; n++ {
		sp := s.spans[n]
		if sp.start > s.covered {
			out = append(out, s.held[at-s.start:sp.start-s.start]...)
			out = append(out, Mark...)
		}
		s.covered = max(s.covered, sp.end)
		at = max(at, s.covered)
	}
	s.spans = append(s.spans[:0], s.spans[n:]...)
	if at < safe {
		out = append(out, s.held[at-s.start:safe-s.start]...)
	}
	s.held = append(s.held[:0], s.held[safe-s.start:]...)
	s.start = safe
	return out
}

// File redacts a regular file in place. A file without secrets is only read. Otherwise a new
// file with the same mode replaces it atomically, so that readers, and a crash, leave either
// the old or the new one whole. Memory use does not depend on the size of the file.
func (r *Redactor) File(path string) error {
	if r.matcher == nil {
		return nil
	}
	if err := r.file(path); err != nil {
		return fmt.Errorf("redact %s: %w", path, err)
	}
	return nil
}

var errNotRegular = errors.New("not a regular file")

func (r *Redactor) file(path string) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return errNotRegular
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	if found, err := r.inside(in); err != nil || !found {
		return err
	}
	return file.Replace(path, st.Mode().Perm(), func(out io.Writer) error {
		w := r.Writer(out)
		_, err := in.Seek(0, io.SeekStart)
		if err == nil {
			_, err = io.Copy(w, in)
		}
		return errors.Join(err, w.Close(), in.Close()) // closed before it is replaced: some systems insist
	})
}

// inside reports whether the input holds a secret.
func (r *Redactor) inside(in io.Reader) (bool, error) {
	buf := make([]byte, 64<<10)
	f := finder{matcher: r.matcher}
	for {
		n, err := in.Read(buf)
		if find(&f, buf[:n]); len(f.spans) > 0 {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}
