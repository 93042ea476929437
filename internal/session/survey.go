package session

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/wording"
)

// An index is written where it saves something: below so many logs, and so
// many bytes that had to be read whole, they are as quick without.
const (
	manyLogs  = 100
	manyBytes = 4 << 20
)

// atOnce is how many bytes of logs are read whole at a time though an overview
// could do without: more would keep people waiting.
const atOnce = 256 << 20

// longRunning is how long the log of a running session may be, in bytes, for
// all of it to be read, which is done each time.
const longRunning = 64 << 20

// Survey returns the overviews of all sessions, the newest first, each with its
// tally, but of its beginning no more than the prompt, the directory, the actor and the
// critic. A log that is none is among them, with the reason in Err; so is one whose first
// line alone cannot be read, with what its other lines tell.
//
// A log is read whole, once: an index beside the logs remembers what it tells,
// and the first bad line of it. Of very many logs only some are read whole at a
// time, the newest first; of the others, when their ends tell what the sessions
// came to, just the first line and the last, until their turn comes. Whether
// somebody is at work on a session is looked at each time; if so, and if its
// log is very long, it has no tally yet.
func (s *Store) Survey() ([]Overview, error) {
	var x index
	var loading sync.WaitGroup
	loading.Go(func() { x = loadIndex(s.dir, s.racy) })
	ids, err := s.list()
	seen := make([]stamp, len(ids))
	readEach(len(ids), func(i int) { seen[i] = stampAt(s.Path(ids[i])) })
	if loading.Wait(); err != nil {
		return nil, err
	}
	v := &survey{store: s, index: x, all: make([]Overview, len(ids)), known: make([]*indexed, len(ids)), seen: seen}
	if v.room.Store(s.atOnce); x.logs == nil {
		v.room.Store(s.atOnce / 4) // all logs are opened: that takes its time
	}
	readEach(len(ids), func(i int) { v.one(i, ids[i]) }) // the newest first
	if v.fresh.Load() > 0 && (x.logs != nil || len(ids) >= manyLogs || v.bytes.Load() >= manyBytes) || v.gone(ids) {
		saveIndex(s.dir, v.remembered())
	}
	slices.SortFunc(v.all, func(a, b Overview) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID))
	})
	return v.all, nil
}

// Forget drops from the index what it remembers of logs that are gone.
func (s *Store) Forget() error {
	_, err := s.Survey()
	return err
}

// A survey is one look at all logs of a store.
type survey struct {
	store *Store
	index index
	all   []Overview
	known []*indexed // what the index is to hold of them; nil: it may not
	seen  []stamp    // their last ones that were looked at

	fresh atomic.Int64 // those of them that it did not
	bytes atomic.Int64 // read whole
	room  atomic.Int64 // bytes that may still be read of logs that need not be
}

// readers is how many logs are read at the same time: a disk answers many
// questions as soon as one.
const readers = 16

// readEach calls read for each of so many logs, the last one first, several at the same time.
func readEach(logs int, read func(i int)) {
	var left atomic.Int64
	left.Store(int64(logs))
	var work sync.WaitGroup
	for range min(logs, max(readers, 2*runtime.GOMAXPROCS(0))) {
		work.Go(func() {
			for i := left.Add(-1); i >= 0; i = left.Add(-1) {
				read(int(i))
			}
		})
	}
	work.Wait()
}

func (v *survey) one(i int, id string) {
	for range 3 {
		now := v.read(i, id)
		if v.all[i].Status != Crashed || v.all[i].Err != nil {
			break
		}
		// A session that ended after its log was read has not crashed.
		if v.seen[i] = stampAt(v.all[i].Path); v.seen[i] == now {
			break
		}
	}
}

// read takes down the overview of one session, from the index or from its log,
// and returns the log's stamp.
func (v *survey) read(i int, id string) stamp {
	v.known[i] = nil
	path, now := v.store.Path(id), v.seen[i]
	known := v.index.recall(id, now)
	through := (known == nil || !known.Through) && v.room.Add(-now.Size) > -now.Size
	if known != nil && !through {
		v.all[i], v.known[i] = known.recalled(path), known
		v.all[i].live()
		return now
	}
	o, now := lookAt(path)
	o.Session = listed(o.Session)
	o.live()
	switch {
	case o.Err != nil:
		if o.through = through; through {
			o.readRest()
			v.bytes.Add(o.Size)
		}
	case o.Status == Running && o.Size > longRunning:
		_ = o.readLast() // what is wrong with it is being written
	case through || o.Tally == nil:
		problem := o.readWhole()
		if v.bytes.Add(o.Size); o.Status != Running {
			o.Problem, o.through = problem, true
		}
	}
	v.all[i] = o
	if o.Status == Running {
		return now
	}
	if v.known[i] = remember(o, now); v.known[i] != nil {
		v.fresh.Add(1)
	}
	return now
}

// listed is what a list tells of a session; the rest would be most of the index.
func listed(s loop.Session) loop.Session {
	return loop.Session{ID: s.ID, Prompt: s.Prompt, WorkingDir: s.WorkingDir, Task: s.Task, Cast: loop.Cast{Actor: s.Actor, Critic: s.Critic}}
}

// stampAt returns the stamp of a log, zero when that cannot be looked at.
func stampAt(path string) stamp {
	st, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stampOf(st)
}

// gone reports whether the index remembers logs that are no longer there.
func (v *survey) gone(ids []string) bool {
	there := 0
	for _, id := range ids {
		if _, ok := v.index.logs[id]; ok {
			there++
		}
	}
	return there < len(v.index.logs)
}

// remembered is what an index is to hold.
func (v *survey) remembered() (logs []*indexed) {
	for i, o := range v.all {
		if v.known[i] != nil && o.Status != Running {
			logs = append(logs, v.known[i])
		}
	}
	return logs
}

// readRest reads a log whose first line cannot be read. When the session began its id tells.
func (o *Overview) readRest() {
	whole := *o
	whole.Started, _ = Began(o.ID)
	if _ = whole.readWhole(); whole.Rest { // what is wrong is known
		*o = whole
	}
}

// readWhole reads a log for what its end does not tell. The error is the first
// bad line, if there is one, or of the file.
func (o *Overview) readWhole() error {
	r, err := openLean(o.Path)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read
	var sum progress.Tally
	var first, end *LineError // bad lines: end is one behind which nothing was read
	last := o.Started
	for entry, err := range r.Entries() {
		if line, ok := errors.AsType[*LineError](err); ok {
			first, end = cmp.Or(first, line), line
			continue
		}
		if end = nil; err != nil {
			return fmt.Errorf("read session log %s: %w", wording.File(o.Path), err)
		}
		_ = sum.Handle(entry.At, entry.Event) // never fails
		if o.Rest = o.Err != nil; o.Started.IsZero() {
			o.Started = entry.At.Time
		}
		if !entry.At.Time.IsZero() {
			last = entry.At.Time
		}
		if n := wholeBefore(entry.Event); o.Outcome == nil && n != UnknownIterations {
			o.Iterations = n
		}
	}
	if o.Outcome == nil {
		o.Duration = last.Sub(o.Started)
	}
	if o.Tally == nil {
		o.Tally = &sum
	}
	switch {
	case first == nil:
		return nil
	case first == end && !errors.Is(end, ErrTorn):
		end.Err = torn(end.Err)
	}
	return first
}
