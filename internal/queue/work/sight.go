package work

import (
	"sync"
	"sync/atomic"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
)

// A sight is the backlog as last seen, with budgets.
type sight struct {
	news    chan struct{} // signals that something may have changed
	budgets atomic.Pointer[queue.Budgets]

	mu      sync.Mutex
	backlog queue.Backlog
	whole   bool   // whether backlog is complete
	seen    uint64 // the board's revision
}

// signal says that something may have changed.
func (s *sight) signal() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// clear forgets the backlog before it is read again.
func (s *sight) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backlog, s.whole = queue.Backlog{}, false
}

// change applies a change, and reports whether the backlog is complete.
func (s *sight) change(c board.Update) (whole bool) {
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

// look calls at with the backlog, if it is complete, and reports whether it is.
func (s *sight) look(at func(all queue.Backlog, seen uint64)) (whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.whole || s.budgets.Load() == nil {
		return false
	}
	at(s.backlog, s.seen)
	return true
}

// pick returns the chosen records.
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

// repositories returns the repositories of the chosen records.
func (s *sight) repositories(meant func(*queue.Record) bool) map[queue.Repository]bool {
	all := map[queue.Repository]bool{}
	for _, r := range s.pick(meant) {
		all[r.Task.Repository] = true
	}
	return all
}
