package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/wording"
)

// ErrRemoved says that a log was removed or replaced while it was followed.
var ErrRemoved = errors.New("its log was removed or replaced")

// followPause is how long a follower waits between looks at a log. A look takes some
// microseconds and works on every system and file system; the system's notifications do not
// reach across a network, and are limited in number.
const followPause = 75 * time.Millisecond

// Follow yields the events of a session, named by an id or its unique prefix, as a recorder in
// this or another process logs them. In between it yields what agents are doing at the moment,
// which doing returns since it was last called; nil: nothing.
//
// It ends when no recorder is open any more and everything was yielded: with [loop.Finished],
// or without it if the run was killed. Until then it waits for the rest of a torn line. A line
// that cannot be read is yielded as a [*LineError] in its place, as by [Reader.Entries]. Any
// other error is the last: that of [Store.Find], [ErrRemoved], [ErrChanged] for a log that
// became shorter, the system's, or the cause of ctx. On a file system without locks, Follow
// cannot tell that a run was killed.
//
// A run knows nothing of its followers, and does not wait for them.
func (s *Store) Follow(ctx context.Context, id string, doing func(context.Context) []progress.Instant) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		found, err := s.Find(id)
		if err == nil {
			err = (&following{yield: yield, doing: doing}).follow(ctx, s.Path(found))
		}
		if err != nil && !errors.Is(err, errEnough) {
			yield(Entry{}, fmt.Errorf("follow session %s: %w", wording.Path(id), err))
		}
	}
}

// errEnough says that the caller of Follow stopped the iteration.
var errEnough = errors.New("enough")

// follow follows a log to its end.
func (f *following) follow(ctx context.Context, path string) (err error) {
	if f.log, _, err = openLog(path); err != nil {
		return err
	}
	defer f.log.Close() //nolint:errcheck // only read
	for begun := false; ; begun = true {
		busy := f.busy() // what is added after this is read in the next round
		if err := f.round(ctx, busy); err != nil {
			return err
		}
		if !busy && (begun || f.end > 0) { // a new log is locked in a moment
			return nil
		}
		select {
		case <-time.After(followPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// following is a log that is being followed.
type following struct {
	log   *os.File
	doing func(context.Context) []progress.Instant
	yield func(Entry, error) bool

	end     int64 // of the lines that have been read
	lines   int   // how many
	seq     int   // the last sequence number in them
	ended   bool  // the last of them ends a run
	pending []progress.Instant
}

// busy reports whether a recorder is open. On file systems without locks, one is until the
// session's end.
func (f *following) busy() bool {
	free, err := file.TryLockFile(f.log, true)
	file.UnlockFile(f.log)
	if err != nil {
		return !f.ended
	}
	return !free
}

// round yields what is new. While a recorder is open, it may still take back what follows the
// last whole line.
func (f *following) round(ctx context.Context, busy bool) error {
	there := file.Stands(f.log)
	st, err := f.log.Stat()
	if err != nil {
		return err
	}
	end := st.Size()
	if busy {
		if end, err = skipBack(f.log, end, lineBreak); err != nil {
			return err
		}
	}
	if end < f.end {
		return ErrChanged
	}
	if f.doing != nil { // after the size was taken, so that no activity before these lines is missed
		f.pending = append(f.pending, f.doing(ctx)...)
	}
	if err := f.read(end); err != nil {
		return err
	}
	if !there && !f.ended {
		return ErrRemoved
	}
	return f.done(func(i progress.Instant) bool { return i.After <= f.seq })
}

// read yields the lines up to end.
func (f *following) read(end int64) error {
	if end == f.end {
		return nil
	}
	r := newReader(io.NewSectionReader(f.log, f.end, end-f.end), f.log.Name(), buffered)
	r.lines.count = f.lines
	for entry, err := range r.Entries() {
		if _, bad := errors.AsType[*LineError](err); err != nil && !bad {
			return err
		}
		if err == nil {
			f.seq = max(f.seq, entry.At.Seq)
			_, f.ended = entry.Event.(loop.Finished)
			if err := f.done(func(i progress.Instant) bool { return i.At.Seq < entry.At.Seq }); err != nil {
				return err
			}
		}
		if err := f.tell(entry, err); err != nil {
			return err
		}
	}
	f.end, f.lines = end, r.lines.count-1 // there is no line after the last line break
	return nil
}

// done yields the activities, from the first on, that are due.
func (f *following) done(due func(progress.Instant) bool) error {
	for len(f.pending) > 0 && due(f.pending[0]) {
		now := f.pending[0]
		f.pending = f.pending[1:]
		if err := f.tell(Entry{At: now.At, Event: now.Does}, nil); err != nil {
			return err
		}
	}
	return nil
}

func (f *following) tell(entry Entry, err error) error {
	if !f.yield(entry, err) {
		return errEnough
	}
	return nil
}
