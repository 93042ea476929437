package scan

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// A task is a directory to visit, one of those below a visit. The root's has no
// visit above.
type task struct {
	*place
	above *visit
	at    int // in the places and results of the visit above
}

// locate gives the place its paths, if it has none yet: few need them.
func (t task) locate() {
	if t.full == "" {
		t.under(t.above.place, t.name)
	}
}

// A queue is the tasks of a walk that any goroutine may do. What one finds to do
// it does itself, the newest first, so that tasks never become many, and shares
// with those that wait: goroutines at work in one directory would slow each other
// down in the system.
type queue struct {
	mu      sync.Mutex
	more    sync.Cond
	tasks   []task
	waiting atomic.Int32 // goroutines, or still to begin
	done    bool
	err     error       // the first one
	failed  atomic.Bool // there is one; nothing more is looked at then
}

// run works until the root has been visited, and returns what it turned out to
// be.
func (w *walk) run(ctx context.Context, root *place) (found, error) {
	q := &w.queue
	q.more.L = &q.mu
	q.tasks = append(q.tasks, task{place: root})
	work := func() {
		s := &scratch{}
		for t, ok := q.next(s); ok; t, ok = q.next(s) {
			w.do(ctx, t, s)
		}
	}
	var others sync.WaitGroup
	for range runtime.GOMAXPROCS(0) - 1 {
		q.waiting.Add(1) // there is to be something to do as soon as it has begun
		others.Go(func() {
			q.waiting.Add(-1)
			work()
		})
	}
	work()
	others.Wait()
	return w.root, q.err
}

// next returns the newest task of one's own, or waits for one. ok is false when
// all is done.
func (q *queue) next(s *scratch) (t task, ok bool) {
	if len(s.tasks) > 1 && q.waiting.Load() > 0 {
		q.share(s)
	}
	if len(s.tasks) > 0 {
		return pop(&s.tasks), true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.tasks) == 0 && !q.done {
		q.waiting.Add(1)
		q.more.Wait()
		q.waiting.Add(-1)
	}
	if q.done {
		return task{}, false
	}
	return pop(&q.tasks), true
}

// share hands out half of one's own tasks, unless some are left to be taken: the
// oldest, below which there is most to do.
func (q *queue) share(s *scratch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.tasks) > 0 {
		return
	}
	half := len(s.tasks) / 2
	q.tasks = append(q.tasks, s.tasks[:half]...)
	s.tasks = slices.Delete(s.tasks, 0, half)
	q.more.Broadcast()
}

func pop(tasks *[]task) task {
	last := len(*tasks) - 1
	t := (*tasks)[last]
	(*tasks)[last] = task{}
	*tasks = (*tasks)[:last]
	return t
}

// add adds a task for each place.
func (s *scratch) add(above *visit, places []place) {
	for i := len(places) - 1; i >= 0; i-- {
		s.tasks = append(s.tasks, task{place: &places[i], above: above, at: i})
	}
}

func (q *queue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done = true
	q.more.Broadcast()
}

// fail ends the walk.
func (q *queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
		q.failed.Store(true)
	}
}

// do visits a directory. Whoever finishes the last one below a directory
// finishes that, too.
func (w *walk) do(ctx context.Context, t task, s *scratch) {
	result, v := found{}, (*visit)(nil)
	switch {
	case w.failed.Load():
	case w.still(ctx, t, s):
		result.dir = t.last
	default:
		var err error
		if result, v, err = w.visit(ctx, t, s); err != nil {
			w.fail(err)
		}
	}
	if v != nil {
		if len(v.places) > 0 {
			s.add(v, v.places)
			return
		}
		result = v.finish(s)
		s.done(v)
	}
	for above, at := t.above, t.at; ; {
		if above == nil {
			w.root = result
			w.finish()
			return
		}
		above.results[at] = result
		if above.left.Add(-1) > 0 {
			return
		}
		over := above
		result, above, at = over.finish(s), over.above, over.at
		s.done(over)
	}
}
