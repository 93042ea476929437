package work

import (
	"sync"
	"sync/atomic"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
)

// A sight is the backlog as a worker has seen it on the board, with what holds it back.
type sight struct {
	news  chan struct{} // has something when something may have changed
	holds atomic.Pointer[queue.Holds]

	mu      sync.Mutex
	backlog queue.Backlog
	whole   bool   // the backlog is
	seen    uint64 // revision of the board that it shows
}

// signal says that something may have changed.
func (s *sight) signal() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// clear forgets the backlog: it is told anew.
func (s *sight) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backlog, s.whole = queue.Backlog{}, false
}

// change takes down what has changed, and reports whether all that there is has been told.
func (s *sight) change(c board.Change) (whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = c.Seen
	switch {
	case c.ID == "":
		s.whole = true
	case c.Record == nil:
		delete(s.backlog, c.ID)
	default:
		s.backlog[c.ID] = c.Record
	}
	return s.whole
}

// look has somebody look at the backlog, and reports whether all of it is known.
func (s *sight) look(at func(all queue.Backlog, seen uint64)) (whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.whole || s.holds.Load() == nil {
		return false
	}
	at(s.backlog, s.seen)
	return true
}

// pick chooses records of the backlog as it is now.
func (s *sight) pick(choose func(*queue.Record) bool) (picked []queue.Record) {
	s.look(func(all queue.Backlog, _ uint64) {
		for _, r := range all {
			if choose(r) {
				picked = append(picked, *r)
			}
		}
	})
	return picked
}

// repositories are those of the records that are meant.
func (s *sight) repositories(meant func(*queue.Record) bool) map[queue.Repository]bool {
	all := map[queue.Repository]bool{}
	for _, r := range s.pick(meant) {
		all[r.Task.Repository] = true
	}
	return all
}
