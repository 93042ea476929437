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
func (r *Redactor) Writer(w io.Writer) io.WriteCloser { return r.writer(w) }

func (r *Redactor) writer(w io.Writer) *writer { return &writer{w, stream{matcher: r.matcher}} }

type writer struct {
	out    io.Writer
	stream stream
}

func (w *writer) Write(p []byte) (int, error) {
	if w.stream.matcher == nil {
		return w.out.Write(p)
	}
	if _, err := w.out.Write(w.stream.next(string(p))); err != nil {
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
	*matcher
	held    string // not passed on yet
	covered int    // how many bytes of held belong to secrets that were found
	within  bool   // the byte before held belongs to one
	found   bool   // there was one
}

// next takes a piece and returns what can be passed on.
func (s *stream) next(piece string) []byte { return s.pass(piece, false) }

// rest returns what was held back at the end of the text.
func (s *stream) rest() []byte { return s.pass("", true) }

func (s *stream) pass(piece string, end bool) (out []byte) {
	s.held += piece
	n := 0
	for ; n < len(s.held); n++ {
		length, open := s.at(s.held[n:])
		if open && !end {
			break
		}
		s.covered = max(s.covered, length)
		switch {
		case s.covered == 0:
			out = append(out, s.held[n])
		case !s.within:
			out = append(out, Mark...)
		}
		s.within, s.found = s.covered > 0, s.found || s.covered > 0
		s.covered = max(0, s.covered-1)
	}
	s.held = s.held[n:]
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
	look := r.writer(io.Discard)
	_, err = io.Copy(look, in)
	if err = errors.Join(err, look.Close()); err != nil || !look.stream.found {
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
