package scan

import (
	"context"
	"runtime"
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

// A queue is the tasks of a walk. The newest are done first, so that they
// never become many.
type queue struct {
	mu      sync.Mutex
	more    sync.Cond
	tasks   []task
	waiting int
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
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			s := &scratch{}
			for t, ok := q.next(); ok; t, ok = q.next() {
				w.do(ctx, t, s)
			}
		})
	}
	workers.Wait()
	return w.root, q.err
}

// next waits for a task; ok is false when all is done.
func (q *queue) next() (t task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.tasks) == 0 && !q.done {
		q.waiting++
		q.more.Wait()
		q.waiting--
	}
	if q.done {
		return task{}, false
	}
	last := len(q.tasks) - 1
	t = q.tasks[last]
	q.tasks[last] = task{}
	q.tasks = q.tasks[:last]
	return t, true
}

// add adds a task for each place.
func (q *queue) add(above *visit, places []place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range places {
		q.tasks = append(q.tasks, task{place: &places[i], above: above, at: i})
	}
	if q.waiting > 0 {
		q.more.Broadcast()
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
	if !w.failed.Load() {
		var err error
		if result, v, err = w.visit(ctx, t, s); err != nil {
			w.fail(err)
		}
	}
	if v != nil {
		if len(v.places) > 0 {
			w.add(v, v.places)
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
