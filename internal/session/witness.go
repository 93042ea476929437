package session

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// A witness has seen all that was written to a log, and tells whether the file
// still holds that.
type witness struct {
	sum  hash.Hash // of all of it
	size int64     // of all of it
	seen stamp     // of the file, when it was last known to hold it
}

// testify returns the witness of what a log holds now, up to a size.
func testify(log *os.File, size int64) (*witness, error) {
	w := &witness{sum: sha256.New(), size: size}
	if _, err := io.Copy(w.sum, io.NewSectionReader(log, 0, size)); err != nil {
		return nil, fmt.Errorf("read session log %s: %w", wording.File(log.Name()), err)
	}
	return w, w.look(log)
}

// wrote takes what was added at the end of the log.
func (w *witness) wrote(log *os.File, text []byte) error {
	w.size += int64(len(text))
	_, _ = w.sum.Write(text) // never fails
	return w.look(log)
}

func (w *witness) look(log *os.File) error {
	st, err := log.Stat()
	if err == nil {
		w.seen = stampOf(st)
	}
	return err
}

// holds reports whether the log is as it was left. It is read where its stamp is
// another one, as after a copy of a backup, and where the word of a stamp is not
// enough: a file system may keep none of what is written through memory.
func (w *witness) holds(log *os.File, thorough bool) (bool, error) {
	st, err := log.Stat()
	if err != nil || st.Size() != w.size {
		return false, err
	}
	if stampOf(st) == w.seen && !thorough {
		return true, nil
	}
	now, err := testify(log, w.size)
	if err != nil || !bytes.Equal(now.sum.Sum(nil), w.sum.Sum(nil)) {
		return false, err
	}
	w.seen = now.seen
	return true, nil
}

// decides reports whether an event ends a session, or may do so: before it is
// written, all of the log is read.
func decides(e loop.Event) bool {
	if round, ok := e.(loop.IterationFinished); ok {
		return round.Round.Verdict.Decision == loop.Done
	}
	_, end := e.(loop.Finished)
	return end
}
