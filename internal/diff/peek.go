package diff

import (
	"context"
	"fmt"

	"codeloops/internal/loop"
)

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
	from *state
}

// Peek looks at the work tree while somebody works in it, to show people the progress. It has no
// effect on captures, checkpoints and restores. A file may be seen half-written; the next look
// reads it again. Was is the previous glance, or the zero value. It is returned if nothing
// has changed since.
func (t *Tree) Peek(ctx context.Context, since Mark, was Glance) (now Glance, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.basis.state == nil {
		return now, ErrNoBaseline
	}
	w := &watcher{place: t.place, start: t.start, seen: t.seen} // whose looks do not affect the tree
	w.tracked.file = ""                                         // the copy is the tree's
	if now.from = t.basis.state; since == Captured && t.sight != nil {
		now.from = t.sight.state
	}
	if err = w.see(ctx, nil); err == nil {
		if now.State = w.sight.state.id; was.from == now.from && was.State == now.State {
			return was, nil
		}
		now.Files, err = w.render(ctx, now.from, w.sight.state, w.withheld)
	}
	if err != nil {
		return Glance{}, fmt.Errorf("look at what changed in %s: %w", t.Root(), err)
	}
	now.Change = now.Counted()
	return now, nil
}
