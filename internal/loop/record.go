package loop

import (
	"fmt"
	"sync"
	"time"
)

// A record stamps the events of a run and passes them to its sink one at a time, because agents
// report concurrently.
type record struct {
	sink  Sink
	clock func() time.Time
	abort func(error) // ends the running turns
	heeds func(Event) // follows what the user has said

	hearing sync.Mutex // what the user says is logged in order

	mu     sync.Mutex // guards what follows, and the sink
	seq    int
	at     int // the latest iteration
	broken error
	waited map[Step]time.Duration // by the running turns
	told   map[string]bool        // new files in views, by path
}

// emit stamps an event and passes it to the sink. After the first failure it returns that error
// for every further event, and only passes on the end.
func (r *record) emit(step Step, e Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, end := e.(Finished); r.broken != nil && !end {
		return r.broken
	}
	r.at = max(r.at, e.iteration())
	if err := r.sink.Handle(Stamp{Seq: r.seq + 1, Time: r.clock(), Step: step}, e); err != nil {
		r.broken = err
		return err
	}
	r.seq++
	r.heeds(e) // nobody is told what the log does not have
	return nil
}

// latest returns the number of the latest iteration.
func (r *record) latest() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

// unwritten returns the sink's first error.
func (r *record) unwritten() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.broken
}

// watch returns a function that turns the notices of an agent into events.
func (r *record) watch(step Step, role Role) Watch {
	return func(n Notice) {
		var e Event = Activity{Iteration: step.Iteration(), Role: role, Notice: n}
		if n.Wait != nil {
			e = r.waits(step, role, *n.Wait)
		}
		if err := r.emit(step, e); err != nil {
			r.abort(err) // continuing the turn, or a wait of hours, would be pointless
		}
	}
}

func (r *record) waits(step Step, role Role, w Wait) Event {
	if w.End == "" {
		return WaitStarted{Iteration: step.Iteration(), Role: role, Wait: w}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waited == nil {
		r.waited = map[Step]time.Duration{}
	}
	r.waited[step] += w.Duration
	return WaitFinished{Iteration: step.Iteration(), Role: role, Wait: w}
}

// takeWaited returns how long the turns of a step have waited, and clears it.
func (r *record) takeWaited(whole Step) (d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for step, waited := range r.waited {
		if step.In(whole) {
			d += waited
			delete(r.waited, step)
		}
	}
	return d
}

// warn tells the user something that does not end the run.
func (r *record) warn(step Step, text string) error {
	return r.emit(step, Warned{Iteration: step.Iteration(), Text: text})
}

// late warns about output that came after the end of a turn.
func (r *record) late(step Step, role Role, t Turn) error {
	if t.Late.Total == 0 {
		return nil
	}
	text := fmt.Sprintf("what the %s left running printed %d bytes after the turn had ended: they are ignored", role, t.Late.Total)
	if t.Late.File != "" {
		text += ", and kept in " + t.Late.File
	}
	return r.warn(step, text)
}
