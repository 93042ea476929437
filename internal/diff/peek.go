package diff

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"codeloops/internal/diff/scan"
	"codeloops/internal/loop"
)

// ErrAbandoned is the cause with which a [Tree.Peek] ends when a capture begins.
var ErrAbandoned = errors.New("the look was abandoned: a capture has begun")

// A Mark is a state that a [Tree.Peek] compares with.
type Mark uint8

// The states that can be compared with.
const (
	Began    Mark = iota // the baseline
	Captured             // the last capture, or the baseline where there was none
)

// A Glance is what a [Tree.Peek] has seen: files with their patches, and the state that they
// are of.
type Glance struct {
	loop.Change
	from *scan.Dir
}

// Peek looks at the work tree while somebody works in it, and leaves no trace: what captures,
// checkpoints and restores say and keep is what they would without it. It is for people. A
// file in the middle of being written is seen as it is at the moment; the next look reads it
// anew. Was is the look before, or the zero value: where nothing has changed since, it is
// returned again.
//
// It holds nobody up: it works on one processor, and is abandoned when a capture begins.
func (t *Tree) Peek(ctx context.Context, since Mark, was Glance) (Glance, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w, from, end, err := t.aside(since, cancel)
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

// aside returns a watcher that knows what the tree's own does, and keeps what it finds to
// itself. Until end is called, abandon is when a capture begins.
func (t *Tree) aside(since Mark, abandon context.CancelCauseFunc) (w *watcher, from *scan.Dir, end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil {
		return nil, nil, nil, ErrNoBaseline
	}
	w = &watcher{place: t.place, start: t.start}
	w.seen = seen{last: t.last, how: t.how, nests: nests{at: &w.place, begun: t.nests.begun}}
	w.alone = true
	w.git = &gitRunner{git: t.git.git, root: t.git.root, global: t.git.global, start: t.git.start} // which notes nothing
	w.store = t.store.Beside(w.git.purpose(""), w.git.purpose("to read objects of a partial clone"))
	w.git.store = w.store
	if from = t.base; since == Captured && t.last != nil {
		from = t.last
	}
	t.peeks.all.Add(1)
	t.peeks.way.Store(&abandon, abandon)
	return w, from, func() {
		_ = w.store.Close() // nothing in it lasts
		t.peeks.way.Delete(&abandon)
		t.peeks.all.Done()
	}, nil
}

func (w *watcher) peek(ctx context.Context, from *scan.Dir, was Glance) (Glance, error) {
	state, err := w.scan(ctx, nil)
	if err != nil {
		return Glance{}, err
	}
	now := Glance{from: from}
	if now.State = state.Root.ID().String(); was.from == from && was.State == now.State {
		return was, nil
	}
	now.Files, err = render(ctx, w.store, scan.Compare(from, state.Root))
	now.Change = total(now.Change)
	return now, err
}

// peeks are the looks under way that leave no trace.
type peeks struct {
	way sync.Map // how each is abandoned, by the address of that
	all sync.WaitGroup
}

// abandon ends all that are under way, and waits for none of them.
func (p *peeks) abandon() {
	for _, abandon := range p.way.Range {
		abandon.(context.CancelCauseFunc)(ErrAbandoned)
	}
}
