package session

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/wording"
)

// A Course is how far a session had come, as its log tells.
type Course struct {
	progress.State
	Journal *loop.Journal // of its steps
	// Changed says that somebody else wrote to the log during a run.
	Changed bool
}

// Course reads the log of a session. To resume it, use [Store.Reopen], which reads the log
// when no other recorder can add to it. Lines that cannot be read are skipped. The error is
// [ErrNotFound], an [*AmbiguousError], that of a log without a beginning, or the system's.
func (s *Store) Course(id string) (Course, error) {
	id, err := s.Find(id)
	if err != nil {
		return Course{}, err
	}
	c := Course{Journal: &loop.Journal{}}
	var acted Entry // of the journal's pending turn
	for entry, err := range Sound(Read(s.Path(id)), nil) {
		if err != nil {
			return Course{}, err
		}
		_ = c.Handle(entry.At, entry.Event) // never fails
		c.Journal.Add(entry.At, entry.Event)
		c.Changed = c.Changed || entry.Changed
		if _, is := entry.Event.(loop.ActorFinished); is {
			acted = entry
		}
	}
	if c.Runs == 0 {
		one := Look(s.Path(id))
		return Course{}, cmp.Or(one.Err, errNoStart)
	}
	if c.Journal.Pending() == nil { // other turns have their texts in the line of their iteration
		return c, nil
	}
	stdout, err := keptText(acted.Stdout)
	if err != nil {
		return c, err
	}
	stderr, err := keptText(acted.Stderr)
	c.Journal.Complete(stdout, stderr)
	return c, err
}

// keptText reads a file that a line names as kept beside the log; "" is an empty text. Agents
// can reach it: they may have put a pipe or a link there.
func keptText(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, _, err := file.Read(path, file.Options{NoFollow: true, Max: MaxLine})
	if err != nil {
		return "", fmt.Errorf("read what an agent wrote: %w", err)
	}
	return string(text), nil
}

// Reopen returns a recorder that adds to the log of a session, and how far the session had
// come, read after other recorders were locked out. It first cuts off a line that a crash left
// incomplete. The error is [ErrRunning] while another recorder is open, or one of
// [Store.Course]. The caller closes the recorder, unless it has handled [loop.Finished].
func (s *Store) Reopen(id string) (*Recorder, Course, error) {
	r := newRecorder(s.Path(id))
	log, err := os.OpenFile(r.path, os.O_APPEND|os.O_RDWR, 0)
	if err != nil {
		return nil, Course{}, fmt.Errorf("reopen session log: %w", err)
	}
	if err := r.takeUp(log); err != nil {
		return nil, Course{}, errors.Join(err, log.Close())
	}
	c, err := s.Course(id)
	if err != nil {
		return nil, Course{}, errors.Join(err, r.Close())
	}
	r.tally = c.Tally
	return r, c, nil
}

// mend cuts off an incomplete line, which reaches from start to the end of the log. A line
// that lacks nothing but its line break gets one and stays. mend returns the new size.
func mend(log *os.File, start, size int64) (int64, error) {
	line := make([]byte, size-start)
	if _, err := log.ReadAt(line, start); err != nil {
		return 0, err
	}
	line = bytes.TrimRight(line, blanks)
	if _, err := decode(bytes.TrimLeft(line, blanks)); err != nil {
		return start, log.Truncate(start)
	}
	size = start + int64(len(line))
	err := log.Truncate(size)
	if err == nil {
		_, err = log.Write([]byte("\n")) // the file is open for appending
	}
	return size + 1, err
}

func (r *Recorder) takeUp(log *os.File) error {
	// As in create, a file system without locks loses only this answer.
	if free, err := lockAlone(log); err == nil && !free {
		return fmt.Errorf("reopen session %s: %w", wording.Path(r.id), ErrRunning)
	}
	if !file.Stands(log) {
		return fmt.Errorf("%w: %q was removed just now", ErrNotFound, r.id)
	}
	st, err := log.Stat()
	if err != nil {
		return fmt.Errorf("reopen session log: %w", err)
	}
	end, err := skipBack(log, st.Size(), lineBreak)
	if err != nil {
		return fmt.Errorf("find the end of session log %s: %w", wording.OSPath(r.path), err)
	}
	if end < st.Size() {
		if end, err = mend(log, end, st.Size()); err != nil {
			return fmt.Errorf("cut the torn end off session log %s: %w", wording.OSPath(r.path), err)
		}
	}
	if err := os.Mkdir(r.files.dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("reopen session log: %w", err)
	}
	if r.written, err = testify(log, end); err != nil {
		return err
	}
	r.log = log
	return nil
}
