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

	"codeloops/internal/metrics"
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
// tally. A log that is none is among them, with the reason in Err.
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
	loading.Go(func() { x = s.loadIndex() })
	ids, drafts, err := s.list()
	if loading.Wait(); err != nil {
		return nil, err
	}
	v := &survey{store: s, index: x, all: make([]Overview, len(ids)), stamps: make([]*stamp, len(ids))}
	if v.room.Store(s.atOnce); x.logs == nil {
		v.room.Store(s.atOnce / 4) // all logs are opened: that takes its time
	}
	v.look(ids)
	if v.fresh.Load() > 0 && (v.index.logs != nil || len(ids) >= manyLogs || v.bytes.Load() >= manyBytes) || v.gone(ids) {
		n := 0
		for range v.known {
			n++
		}
		s.saveIndex(n, v.known, drafts)
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
	store  *Store
	index  index
	all    []Overview
	stamps []*stamp // of those that an index may remember

	fresh atomic.Int64 // those of them that it did not
	bytes atomic.Int64 // read whole
	room  atomic.Int64 // bytes that may still be read of logs that need not be
}

// readers is how many logs are read at the same time: a disk answers many
// questions as soon as one.
const readers = 16

// look takes down the overviews of sessions, the newest first.
func (v *survey) look(ids []string) {
	var left atomic.Int64
	left.Store(int64(len(ids)))
	var work sync.WaitGroup
	for range min(len(ids), max(readers, 2*runtime.GOMAXPROCS(0))) {
		work.Go(func() {
			r := &Reader{careful: true}
			for i := left.Add(-1); i >= 0; i = left.Add(-1) {
				v.one(int(i), ids[i], r)
			}
		})
	}
	work.Wait()
}

func (v *survey) one(i int, id string, r *Reader) {
	for range 3 {
		now := v.read(i, id, r)
		// A session that ended after its log was read has not crashed.
		if v.all[i].Status != Crashed || v.all[i].Err != nil || v.stampOf(id) == now {
			break
		}
	}
}

// read takes down the overview of one session, from the index or from its log,
// and returns the log's stamp.
func (v *survey) read(i int, id string, r *Reader) stamp {
	v.stamps[i] = nil
	now := v.stampOf(id)
	known := v.index.recall(id, now)
	through := (known == nil || !known.overview.through) && v.room.Add(-now.size) > -now.size
	if known != nil && !through {
		v.all[i], v.stamps[i] = known.recalled(v.store.path(id)), &now
		v.store.live(&v.all[i])
		return now
	}
	o, now := v.store.look(id)
	v.store.live(&o)
	switch {
	case o.Err != nil:
		o.through = true // such a log is not read
	case o.Status == Running && o.Size > longRunning:
		_ = o.readLast() // what is wrong with it is being written
	case through || o.Tally == nil:
		problem := o.readWhole(r)
		if v.bytes.Add(o.Size); o.Status != Running {
			o.Problem, o.through = problem, true
		}
	}
	v.all[i] = o
	if o.Status != Running && o.lasts() {
		v.stamps[i] = &now
		v.fresh.Add(1)
	}
	return now
}

// stampOf returns the stamp of a log, zero when that cannot be looked at.
func (v *survey) stampOf(id string) stamp {
	st, err := os.Stat(v.store.path(id))
	if err != nil {
		return stamp{}
	}
	return stampOf(st)
}

// lasts reports whether an overview is the same the next time, as far as its
// log goes, and small enough to be remembered.
func (o *Overview) lasts() bool {
	n := len(o.Session.Prompt)
	if o.Outcome != nil {
		n += len(o.Outcome.Summary) + len(o.Outcome.ActorError)
	}
	return n <= entryLimit && ofLine(o.Err) && ofLine(o.Problem)
}

// ofLine reports whether a problem, if there is one, is of a line, not of the
// system.
func ofLine(err error) bool {
	_, line := errors.AsType[*LineError](err)
	return err == nil || line
}

// gone reports whether the index remembers logs that are no longer there.
func (v *survey) gone(ids []string) bool {
	there := 0
	for _, id := range ids {
		if v.index.logs[id] != nil {
			there++
		}
	}
	return there < len(v.index.logs)
}

// known yields what an index is to remember.
func (v *survey) known(yield func(indexed) bool) {
	for i, o := range v.all {
		if v.stamps[i] != nil && o.Status != Running && !yield(indexed{o.ID, *v.stamps[i], o}) {
			return
		}
	}
}

// recalled completes what an index remembers with what it does not.
func (e *indexed) recalled(path string) Overview {
	o := e.overview
	o.ID, o.Path, o.Size, o.Status = e.id, path, e.stamp.size, Crashed
	for _, err := range []error{o.Err, o.Problem} {
		if line, ok := errors.AsType[*LineError](err); ok {
			line.File = path
		}
	}
	o.ended()
	return o
}

// readWhole reads a log for what its end does not tell. The error is the first
// bad line, if there is one, or of the file.
func (o *Overview) readWhole(r *Reader) error {
	f, _, err := openLog(o.Path)
	if err != nil {
		return fmt.Errorf("open session log: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	r.reset(f, o.Path)
	var sum metrics.Tally
	var first, torn *LineError // bad lines: torn is one behind which nothing was read
	last := o.Started
	for entry, err := range r.Entries() {
		if line, ok := errors.AsType[*LineError](err); ok {
			first, torn = cmp.Or(first, line), line
			continue
		}
		if torn = nil; err != nil {
			return fmt.Errorf("read session log %s: %w", o.Path, err)
		}
		_ = sum.Handle(entry.At, entry.Event) // never fails
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
	case first == torn && !errors.Is(torn, ErrTorn):
		torn.Err = fmt.Errorf("%w (%w)", ErrTorn, torn.Err)
	}
	return first
}
