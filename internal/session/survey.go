package session

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// An index is written only where it pays: with fewer logs, and fewer bytes to read, a list is
// as fast without one.
const (
	manyLogs  = 100
	manyBytes = 4 << 20
)

// atOnce is how many bytes of logs one survey reads in full although their first and last
// lines would do: more would keep people waiting.
const atOnce = 256 << 20

// longRunning is how many bytes the log of a running session may have to be read in full,
// since that happens at each survey.
const longRunning = 64 << 20

// Survey returns the overviews of all sessions, the newest first. Each has its tally, but of
// the session's beginning only the prompt, the directory, the task, the actor and the critic.
// A file that is not a log is included, with the reason in Err; so is a log with only its
// first line damaged, with what its other lines tell.
//
// A log is read in full once: an index beside the logs remembers what it tells, and its first
// bad line. If there are very many new logs, only the newest are read in full; of the others,
// Survey reads just the first line and the last one, if that has the totals, until a later
// survey reads the rest. Whether a session is running is looked up each time. A running
// session with a very long log has no tally yet.
func (s *Store) Survey() ([]Overview, error) {
	var x index
	var loading sync.WaitGroup
	loading.Go(func() { x = loadIndex(s.dir, s.racy) })
	ids, err := s.list()
	seen := make([]file.Stamp, len(ids))
	readEach(len(ids), func(i int) { seen[i] = file.At(s.Path(ids[i])) })
	if loading.Wait(); err != nil {
		return nil, err
	}
	v := &survey{store: s, index: x, all: make([]Overview, len(ids)), known: make([]*indexed, len(ids)), seen: seen}
	if v.room.Store(s.atOnce); x.logs == nil {
		v.room.Store(s.atOnce / 4) // opening all logs takes time, too
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

// A survey is one look at all logs of a store.
type survey struct {
	store *Store
	index index
	all   []Overview
	known []*indexed   // the index entries of the logs; nil: not to be remembered
	seen  []file.Stamp // the last known stamps of the logs

	fresh atomic.Int64 // number of new index entries
	bytes atomic.Int64 // read in full
	room  atomic.Int64 // bytes that may still be read of logs that need not be
}

// readers is how many logs are read at the same time: a disk answers many requests as fast as
// one.
const readers = 16

// readEach calls read for the indexes of so many logs, from the last to the first,
// concurrently.
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
		// If the log has changed since, the session may have ended meanwhile.
		if v.seen[i] = file.At(v.all[i].Path); v.seen[i] == now {
			break
		}
	}
}

// read fills in the overview of one session, from the index or from its log, and returns the
// log's stamp.
func (v *survey) read(i int, id string) file.Stamp {
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
		_ = o.readLast() // its last line may still be half-written
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

// listed is the part of a session that a list shows; the rest would make up most of the index.
func listed(s loop.Session) loop.Session {
	return loop.Session{ID: s.ID, Prompt: s.Prompt, WorkingDir: s.WorkingDir, Task: s.Task, Cast: loop.Cast{Actor: s.Actor, Critic: s.Critic}}
}

// gone reports whether the index remembers logs that no longer exist.
func (v *survey) gone(ids []string) bool {
	there := 0
	for _, id := range ids {
		if _, ok := v.index.logs[id]; ok {
			there++
		}
	}
	return there < len(v.index.logs)
}

// remembered returns the entries of the new index.
func (v *survey) remembered() (logs []*indexed) {
	for i, o := range v.all {
		if v.known[i] != nil && o.Status != Running {
			logs = append(logs, v.known[i])
		}
	}
	return logs
}

// readRest reads a log whose first line cannot be read. The id tells when the session began.
func (o *Overview) readRest() {
	whole := *o
	whole.Started, _ = Began(o.ID)
	if _ = whole.readWhole(); whole.Rest { // Err has the problem already
		*o = whole
	}
}

// readWhole reads a log for what its end does not tell. The error is the first bad line, if
// there is one, or that of the file.
func (o *Overview) readWhole() error {
	var sum progress.Tally
	var first, end *LineError // the first bad line; the last line, if that is bad
	last := o.Started
	for entry, err := range ReadLean(o.Path) {
		if line, ok := errors.AsType[*LineError](err); ok {
			first, end = cmp.Or(first, line), line
			continue
		}
		if end = nil; err != nil {
			return err
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
