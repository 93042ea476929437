package session

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"codeloops/internal/loop/progress"
)

// Survey returns the overviews of all sessions, the newest first: what the first and the last line
// of each log tell. A file that is not a log is included, with the reason in Err.
func (s *Store) Survey() ([]Overview, error) {
	ids, err := s.list()
	if err != nil {
		return nil, err
	}
	all := make([]Overview, len(ids))
	readEach(len(ids), func(i int) { all[i] = Look(s.Path(ids[i])) })
	slices.SortFunc(all, func(a, b Overview) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID))
	})
	return all, nil
}

// Count adds up the sessions whose end does not tell their tally: those that crashed, and those of
// earlier versions. Their logs are read in full.
func Count(all []Overview) {
	readEach(len(all), func(i int) {
		if all[i].Err == nil && all[i].Tally == nil && all[i].Status != Running {
			all[i].count()
		}
	})
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

// count reads a log for its tally, and for the iterations that its end does not tell. A line that cannot be read
// is left out.
func (o *Overview) count() {
	sum := &progress.Tally{}
	for entry, err := range ReadLean(o.Path) {
		if _, bad := errors.AsType[*LineError](err); bad {
			continue
		}
		if err != nil {
			return
		}
		_ = sum.Handle(entry.At, entry.Event) // never fails
		if n := wholeBefore(entry.Event); o.Outcome == nil && n != UnknownIterations {
			o.Iterations = n
		}
	}
	o.Tally = sum
}
