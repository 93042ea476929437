package diff

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"codeloops/internal/diff/scan"
	"codeloops/internal/loop"
)

// ErrAbandoned is the error of a [Tree.Peek] that ends because a capture begins.
var ErrAbandoned = errors.New("the look was abandoned: a capture has begun")

// A Mark is a state that a [Tree.Peek] compares with.
type Mark uint8

// The states that can be compared with.
const (
	Began    Mark = iota // the baseline
	Captured             // the last capture, or else the baseline
)

// A Glance is the result of a [Tree.Peek].
type Glance struct {
	loop.Change
	from *scan.Dir
}

// Peek looks at the work tree while somebody works in it, to show people the progress. It has no
// effect on captures, checkpoints and restores. A file may be seen half-written; the next look
// reads it again. Was is the previous glance, or the zero value. It is returned if nothing
// has changed since.
//
// Peek uses one processor, and is abandoned when a capture begins.
func (t *Tree) Peek(ctx context.Context, since Mark, was Glance) (Glance, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w, from, end, err := t.snapshot(since, cancel)
	if err != nil {
		return Glance{}, err
	}
	defer end()
	now, err := w.peek(ctx, from, was)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err != nil {
		return Glance{}, fmt.Errorf("look at what changed in %s: %w", t.Root(), err)
	}
	return now, nil
}

// snapshot returns a watcher with a copy of the tree's knowledge, so that what it finds does not
// affect the tree. Until end is called, a capture that begins calls abandon.
func (t *Tree) snapshot(since Mark, abandon context.CancelCauseFunc) (w *watcher, from *scan.Dir, end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil {
		return nil, nil, nil, ErrNoBaseline
	}
	w = &watcher{place: t.place, start: t.start}
	w.seen = seen{state: t.state, how: t.how, withheld: t.withheld, nests: nests{at: &w.place, begun: t.nests.begun}}
	w.alone = true
	w.git = &gitRunner{git: t.git.git, global: t.git.global, start: t.git.start} // without note
	w.store = t.store.Temporary(w.git.purpose("to read objects of a partial clone"))
	if from = t.base; since == Captured && t.state.Root != nil {
		from = t.state.Root
	}
	t.peeks.all.Add(1)
	t.peeks.cancels.Store(&abandon, abandon)
	return w, from, func() {
		_ = w.store.Close() // it is temporary
		t.peeks.cancels.Delete(&abandon)
		t.peeks.all.Done()
	}, nil
}

func (w *watcher) peek(ctx context.Context, from *scan.Dir, was Glance) (Glance, error) {
	if err := w.scan(ctx, nil); err != nil {
		return Glance{}, err
	}
	now := Glance{from: from}
	if now.State = w.state.Root.ID().String(); was.from == from && was.State == now.State {
		return was, nil
	}
	var err error
	now.Files, err = render(ctx, w.store, scan.Compare(from, w.state.Root), w.withheld)
	now.Change = now.Counted()
	return now, err
}

// peeks are the running calls of [Tree.Peek].
type peeks struct {
	cancels sync.Map // their cancel functions, by address
	all     sync.WaitGroup
}

// abandon cancels all of them, without waiting.
func (p *peeks) abandon() {
	for _, abandon := range p.cancels.Range {
		abandon.(context.CancelCauseFunc)(ErrAbandoned)
	}
}
