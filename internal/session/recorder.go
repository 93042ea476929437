package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"codeloops/internal/loop"
	"codeloops/internal/metrics"
)

// ErrChanged says that a log is not what its recorder has left: the agents of
// the session can reach the file, too.
var ErrChanged = errors.New("somebody else has changed or removed it")

// A WriteError says that a session's log could not be written, and with it the
// run not be carried on.
type WriteError struct {
	Path string
	Err  error
}

func (e *WriteError) Error() string { return fmt.Sprintf("write session log %s: %v", e.Path, e.Err) }

// Unwrap returns what the system says.
func (e *WriteError) Unwrap() error { return e.Err }

// Hint returns what to do about it; "" when there is nothing to say.
func (e *WriteError) Hint() string {
	switch {
	case errors.Is(e.Err, ErrLineTooLong):
		return "the diff is very large: should .gitignore name what the actor has built or downloaded?"
	case DiskFull(e.Err):
		return "free some space there, or choose another place with --session-dir"
	case errors.Is(e.Err, ErrChanged):
		return "was it the agent? What the log does not hold has not been recorded, and counts for nothing"
	case errors.Is(e.Err, os.ErrPermission):
		return "choose another place with --session-dir"
	}
	return ""
}

// A Recorder is the [loop.Sink] that writes the log of one session. When
// Handle returns without an error, the event is on the disk. It is not safe
// for concurrent use, and it holds no more than one line at a time.
//
// Beside the log lies a folder for what agents write while an iteration lasts.
// What the log's line for the iteration does not hold stays there, everything
// else is removed with it.
type Recorder struct {
	id    string
	path  string
	files folder

	log   *os.File // nil once closed
	limit int      // bytes that a line may have
	size  int64    // bytes of whole lines
	tally metrics.Tally
	torn  bool // a part of a line stands behind them and could not be cut off
}

// ID returns the session's id: the name of its log without the ending.
func (r *Recorder) ID() string { return r.id }

// Path returns where the log is.
func (r *Recorder) Path() string { return r.path }

// File returns the path, beside the log, of a file for something that an
// agent reads or writes in an iteration ("actor.stdout", "diff"). The file is
// removed when the iteration is logged, unless an output that names it has
// omitted something.
func (r *Recorder) File(iteration int, name string) string {
	return filepath.Join(r.files.dir, fileName(iteration, name))
}

// Handle writes the line of one event. [loop.Finished] closes the recorder. A
// [*WriteError] leaves the log as it was, so that the end may still find room.
func (r *Recorder) Handle(at loop.Stamp, e loop.Event) error {
	if _, passing := e.(loop.Activity); passing {
		return nil
	}
	if r.log == nil {
		return r.failed(os.ErrClosed)
	}
	err := r.record(at, e)
	if err == nil {
		_ = r.tally.Handle(at, e) // never fails
	}
	switch e := e.(type) {
	case loop.BaselineChecked:
		if err == nil {
			r.files.tidy(0)
		}
	case loop.IterationFinished:
		if err == nil {
			r.files.tidy(e.Round.Iteration)
		}
	case loop.Finished:
		err = errors.Join(err, r.Close())
	case loop.Started, loop.Resumed, loop.IterationStarted, loop.PhaseEntered, loop.Activity, loop.WaitStarted, loop.WaitFinished, loop.ActorFinished,
		loop.DiffCaptured, loop.Inspected, loop.ChecksFinished, loop.ReviewRejected, loop.CriticFinished, loop.Warned:
	}
	return err
}

func (r *Recorder) record(at loop.Stamp, e loop.Event) error {
	var a aside
	var err error
	if a.kept, err = r.files.keep(e); err != nil {
		return r.failed(err)
	}
	if _, end := e.(loop.Finished); end {
		a.totals = &r.tally
	}
	line := encode(at, r.files.relative(e), a)
	if len(line) > r.limit {
		return r.failed(fmt.Errorf("%w: %d bytes", ErrLineTooLong, len(line)))
	}
	if err = r.unchanged(); err == nil {
		err = r.append(line)
	}
	if err != nil {
		return r.failed(err)
	}
	return nil
}

// unchanged looks whether the log is still the file of its name, and has the
// size that it was left with. One that has another is written to from its end,
// so that the end of the session still finds its place.
func (r *Recorder) unchanged() error {
	log, err := r.log.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(r.path)
	if err != nil || !os.SameFile(log, named) {
		return ErrChanged
	}
	if !r.torn && log.Size() != r.size {
		r.torn = true
		return ErrChanged
	}
	return nil
}

// append writes a whole line with one write and waits until it is on the disk.
func (r *Recorder) append(line []byte) error {
	if r.torn {
		st, err := r.log.Stat()
		if err != nil {
			return err
		}
		r.size = st.Size()
		line = append([]byte{'\n'}, line...)
	}
	n, err := r.log.Write(line)
	if err != nil {
		r.torn = r.torn || n > 0 && r.log.Truncate(r.size) != nil
		return err
	}
	first := r.size == 0
	r.size, r.torn = r.size+int64(n), false
	if err := r.log.Sync(); err != nil {
		return err
	}
	if first {
		return syncDir(filepath.Dir(r.path))
	}
	return nil
}

func (r *Recorder) failed(err error) error {
	var path *os.PathError
	if errors.As(err, &path) && path.Path == r.path {
		err = path.Err
	}
	return &WriteError{Path: r.path, Err: err}
}

// Close closes the log where it stands, and removes it when it is empty. It
// may be called more than once.
func (r *Recorder) Close() error {
	if r.log == nil {
		return nil
	}
	r.files.removeEmpty()
	unlock(r.log)
	err := r.log.Close()
	r.log = nil
	if r.size == 0 && !r.torn {
		_ = os.Remove(r.path)
	}
	if err != nil {
		return r.failed(err)
	}
	return nil
}
