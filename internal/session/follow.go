package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// ErrRemoved says that a log which is followed is no longer there.
var ErrRemoved = errors.New("its log was removed or replaced")

// followPause is how long a follower waits before it looks again whether a log has
// grown. To look takes some microseconds and works on every system and file system;
// notices of the system's do not reach across a network, and are limited in number.
const followPause = 100 * time.Millisecond

// Follow returns the events of a session, which an id or its unique beginning names, as
// a recorder in this or another process adds them to its log: those behind the sequence
// number after, 0 for all. What agents do at the moment, [loop.Activity], stands in
// between, as far as it is still known; the last of it is enough for whoever comes late
// or is slow.
//
// It ends when no recorder is at work any more and all is told: with [loop.Finished], or
// without where the run was killed. Until then the rest of a torn line is waited for. A
// line that cannot be read is a [*LineError] in its place, as of [Reader.Entries]. Any
// other error is the last: that of [Store.Find], [ErrRemoved], [ErrChanged] for a log
// that was cut, what the system says, or the cause of ctx. A file system without locks
// does not tell that a run was killed.
//
// A run knows nothing of those who follow it, and waits for none.
func (s *Store) Follow(ctx context.Context, id string, after int) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := s.follow(ctx, id, after, yield); err != nil && !errors.Is(err, errEnough) {
			yield(Entry{}, fmt.Errorf("follow session %s: %w", wording.Path(id), err))
		}
	}
}

// errEnough says that whoever follows wants no more.
var errEnough = errors.New("enough")

func (s *Store) follow(ctx context.Context, id string, after int, yield func(Entry, error) bool) error {
	id, err := s.Find(id)
	if err != nil {
		return err
	}
	log, _, err := openLog(s.Path(id))
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // only read
	f := &following{log: log, yield: yield, after: after, live: watcher{dir: folderOf(s.Path(id))}}
	for begun := false; ; begun = true {
		busy := f.busy() // what is added after this look is read in the next round
		if err := f.round(busy); err != nil {
			return err
		}
		if !busy && (begun || f.end > 0) { // a log that is being made has its lock in a moment
			return nil
		}
		select {
		case <-time.After(followPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// following is a log as somebody reads it who waits for more.
type following struct {
	log   *os.File
	live  watcher
	yield func(Entry, error) bool
	after int // the sequence number behind which events are yielded

	end     int64 // of the lines that have been read
	lines   int   // how many
	seq     int   // of the last of them
	ended   bool  // it is the end of a run
	pending []instant
}

// busy reports whether a recorder is at work. Where there are no locks, one is until
// the session's end.
func (f *following) busy() bool {
	free, err := tryLock(f.log, true)
	unlock(f.log)
	if err != nil {
		return !f.ended
	}
	return !free
}

// round yields what there is. Of what is busy, the part behind the last whole line may
// be taken back.
func (f *following) round(busy bool) error {
	there := stands(f.log)
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
	f.pending = append(f.pending, f.live.read()...) // later than the log: it holds what was done before its lines
	if err := f.read(end); err != nil {
		return err
	}
	if !there && !f.ended {
		return ErrRemoved
	}
	return f.done(func(i instant) bool { return i.after <= f.seq })
}

// read yields the lines up to the end.
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
			if err := f.done(func(i instant) bool { return i.entry.At.Seq < entry.At.Seq }); err != nil {
				return err
			}
		}
		if err := f.tell(entry, err); err != nil {
			return err
		}
	}
	f.end, f.lines = end, r.lines.count-1 // behind the last line break stands none
	return nil
}

// done yields the activities, from the first on, whose time has come.
func (f *following) done(due func(instant) bool) error {
	for len(f.pending) > 0 && due(f.pending[0]) {
		entry := f.pending[0].entry
		f.pending = f.pending[1:]
		if err := f.tell(entry, nil); err != nil {
			return err
		}
	}
	return nil
}

func (f *following) tell(entry Entry, err error) error {
	if err == nil && f.after > 0 && entry.At.Seq <= f.after {
		return nil
	}
	if !f.yield(entry, err) {
		return errEnough
	}
	return nil
}
