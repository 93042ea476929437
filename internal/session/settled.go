package session

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/wording"
)

// Settled is the part of a log that can be resumed in another work tree, to which only
// checkpoints are brought: up to where a checkpoint holds all that was done. The zero value
// has read nothing.
type Settled struct {
	Session    loop.Session // as it began
	Size       int64        // of that part, in bytes
	Checkpoint string       // holds the work tree as of there
	Lacks      bool         // something was done since, which only the session's own work tree has

	read  int64
	state progress.State
}

// Read reads on, up to the last whole line of the log.
func (s *Settled) Read(path string) error {
	log, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read session log: %w", err)
	}
	defer log.Close() //nolint:errcheck // only read
	in := bufio.NewReaderSize(io.NewSectionReader(log, s.read, 1<<62), buffered)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // the last line is not complete yet
			return nil
		}
		if err != nil {
			return fmt.Errorf("read session log %s: %w", wording.OSPath(path), err)
		}
		s.read += int64(len(line))
		if entry, err := decode(bytes.TrimSpace(line)); err == nil { // bad lines are skipped, as everywhere
			_ = s.state.Handle(entry.At, entry.Event) // never fails
		}
		s.Session, s.Lacks = s.state.Origin, s.state.Lacks
		if !s.Lacks && len(s.state.Forks()) == 0 && s.state.Settled != "" {
			s.Size, s.Checkpoint = s.read, s.state.Settled
		}
	}
}

// ErrForeign is a log of another session than the one it should be of.
var ErrForeign = errors.New("the log is not of that session")

// Relocate returns the first line of a session's log, changed to name another work tree. That of a session without a task
// came from nobody knows where, and says so from then on.
func Relocate(line []byte, id, workTree string) ([]byte, error) {
	entry, err := decode(bytes.TrimSpace(line))
	if err != nil {
		return nil, err
	}
	began, ok := entry.Event.(loop.Started)
	if !ok || began.Session.ID != id {
		return nil, ErrForeign
	}
	began.Session.WorkingDir, began.Session.Imported = workTree, began.Session.Task == ""
	return Encode(entry.At, began), nil
}
