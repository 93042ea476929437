package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/wording"
)

// ErrChanged says that a log is not as its recorder left it: the agents of the session can
// reach the file, too.
var ErrChanged = errors.New("somebody else has changed or removed it")

// A WriteError says that a session's log could not be written, so that the run cannot go on.
type WriteError struct {
	Path string
	Err  error
}

func (e *WriteError) Error() string {
	return fmt.Sprintf("write session log %s: %v", wording.OSPath(e.Path), e.Err)
}

// Unwrap returns the underlying error.
func (e *WriteError) Unwrap() error { return e.Err }

// Hint returns what to do about it; "" if there is nothing to suggest.
func (e *WriteError) Hint() string {
	switch {
	case errors.Is(e.Err, ErrLineTooLong):
		return "the diff is very large: should .gitignore name what the actor has built or downloaded?"
	case DiskFull(e.Err):
		return "free some space there, or choose another place with --session-dir"
	case errors.Is(e.Err, ErrChanged):
		return "was it the agent? Begin a new session: what the log holds now proves nothing"
	case errors.Is(e.Err, os.ErrPermission):
		return "choose another place with --session-dir"
	}
	return ""
}

// A Recorder is the [loop.Sink] that writes the log of one session. When Handle returns
// without an error, the event is on the disk. It is not safe for concurrent use, and it holds
// no more than one line at a time.
//
// Beside the log is a folder for what agents write during an iteration. What the log's line
// for the iteration does not hold stays there; everything else is removed when that line is
// written.
type Recorder struct {
	id    string
	path  string
	files folder

	log     *os.File // nil once closed
	limit   int      // bytes that a line may have
	written *witness
	tally   progress.Tally
	torn    bool // a partial line follows what was written, and could not be cut off
	changed bool // somebody else has written to the log, or removed it
}

// ID returns the session's id: the name of its log without the extension.
func (r *Recorder) ID() string { return r.id }

// Path returns where the log is.
func (r *Recorder) Path() string { return r.path }

// Changed reports whether somebody else has changed or removed the log during the run.
func (r *Recorder) Changed() bool { return r.changed }

// File returns the path, beside the log, of a file for something that an agent reads or writes
// in an iteration ("actor.stdout", "diff"). The file is removed when the iteration, or a turn
// outside of iterations, is logged, unless an output that names it has omitted something.
func (r *Recorder) File(iteration int, name string) string {
	return filepath.Join(r.files.dir, fileName(iteration, name))
}

// Handle writes the line of one event. [loop.Finished] closes the recorder. A [*WriteError]
// leaves the log as it was, so that there may still be room for the session's end.
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
		r.files.logged(e)
	}
	if _, ends := e.(loop.Finished); ends {
		err = errors.Join(err, r.Close())
	}
	return err
}

func (r *Recorder) record(at loop.Stamp, e loop.Event) error {
	entry := Entry{At: at}
	if err := r.files.keep(&entry, e); err != nil {
		return r.failed(err)
	}
	found := r.unchanged(decides(e))
	end, ends := e.(loop.Finished)
	if found != nil && !(ends && r.torn) {
		return r.failed(found)
	}
	if found != nil { // the log cannot vouch for the outcome
		end.Outcome = loop.Outcome{
			Result: loop.Failed, Reason: loop.StopInternal, Summary: r.failed(found).Error(),
			Iterations: end.Outcome.Iterations, Duration: end.Outcome.Duration,
		}
		e = end
	}
	if ends {
		entry.Totals, entry.Changed = &r.tally, r.changed
	}
	entry.Event = r.files.relative(e)
	line := entry.line()
	if round, ok := e.(loop.IterationFinished); ok && len(line) > r.limit { // readers can compute its own change
		round.Round.Own = nil
		entry.Event = r.files.relative(round)
		line = entry.line()
	}
	if len(line) > r.limit {
		return r.failed(fmt.Errorf("%w: %d bytes", ErrLineTooLong, len(line)))
	}
	if err := errors.Join(r.append(line), found); err != nil {
		return r.failed(err)
	}
	return nil
}

// unchanged checks that the log is still the file of its name and holds what was written to
// it. If it holds anything else, the end of the session is still appended to it.
func (r *Recorder) unchanged(thorough bool) error {
	log, err := r.log.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(r.path)
	if err != nil || !os.SameFile(log, named) {
		r.changed = true
		return ErrChanged
	}
	if r.torn {
		return nil
	}
	same, err := r.written.holds(r.log, thorough)
	if err != nil {
		return err
	}
	if !same {
		r.changed, r.torn = true, true
		return ErrChanged
	}
	return nil
}

// append writes a whole line with one write and waits until it is on the disk.
func (r *Recorder) append(line []byte) error {
	if r.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := r.log.Write(line)
	if err != nil {
		r.torn = r.torn || n > 0 && r.log.Truncate(r.written.size) != nil
		return err
	}
	first := r.written.size == 0
	if err := errors.Join(r.wrote(line), r.log.Sync()); err != nil {
		return err
	}
	if first {
		return file.SyncDir(filepath.Dir(r.path), (*os.File).Sync)
	}
	return nil
}

// wrote updates the witness after a line was appended.
func (r *Recorder) wrote(line []byte) error {
	if !r.torn {
		return r.written.wrote(r.log, line)
	}
	st, err := r.log.Stat()
	if err == nil {
		r.written, err = testify(r.log, st.Size())
	}
	r.torn = err != nil
	return err
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
	file.UnlockFile(r.log)
	err := r.log.Close()
	r.log = nil
	if r.written.size == 0 && !r.torn {
		_ = os.Remove(r.path)
	}
	if err != nil {
		return r.failed(err)
	}
	return nil
}
