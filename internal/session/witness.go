package session

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// A witness remembers what was written to a log, to tell whether the file still holds that.
type witness struct {
	sum  hash.Hash  // of all of it
	size int64      // of all of it
	seen file.Stamp // of the file, when it was last known to hold all of it
}

// testify returns the witness of the first size bytes of a log.
func testify(log *os.File, size int64) (*witness, error) {
	w := &witness{sum: sha256.New(), size: size}
	if _, err := io.Copy(w.sum, io.NewSectionReader(log, 0, size)); err != nil {
		return nil, fmt.Errorf("read session log %s: %w", wording.OSPath(log.Name()), err)
	}
	return w, w.look(log)
}

// wrote adds a text that was appended to the log.
func (w *witness) wrote(log *os.File, text []byte) error {
	w.size += int64(len(text))
	_, _ = w.sum.Write(text) // never fails
	return w.look(log)
}

func (w *witness) look(log *os.File) error {
	st, err := log.Stat()
	if err == nil {
		w.seen = file.StampOf(st)
	}
	return err
}

// holds reports whether the log is as it was left. It is read in full if its stamp has
// changed, as it does when a backup is copied back, and if thorough is set: stamps miss writes
// through memory maps on some file systems.
func (w *witness) holds(log *os.File, thorough bool) (bool, error) {
	st, err := log.Stat()
	if err != nil || st.Size() != w.size {
		return false, err
	}
	if file.StampOf(st) == w.seen && !thorough {
		return true, nil
	}
	now, err := testify(log, w.size)
	if err != nil || !bytes.Equal(now.sum.Sum(nil), w.sum.Sum(nil)) {
		return false, err
	}
	w.seen = now.seen
	return true, nil
}

// decides reports whether an event may end a session. Before such an event is written, the log
// is checked in full.
func decides(e loop.Event) bool {
	if round, ok := e.(loop.IterationFinished); ok {
		return round.Round.Verdict.Decision == loop.Done
	}
	_, end := e.(loop.Finished)
	return end
}
