package diff

import (
	"context"
	"fmt"

	"codeloops/internal/diff/scan"
	"codeloops/internal/loop"
)

// Between returns what differs between two states of this session, as Capture
// returned them; the second one must be of this process, the first may be of an
// earlier one if it has a checkpoint. The zero [loop.Change] is the baseline.
func (t *Tree) Between(ctx context.Context, from, to loop.Change) (loop.Change, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, err := t.stateAt(ctx, from)
	if err != nil {
		return loop.Change{}, fmt.Errorf("compare two states of %s: %w", t.Root(), err)
	}
	after, err := t.stateAt(ctx, to)
	if err != nil {
		return loop.Change{}, fmt.Errorf("compare two states of %s: %w", t.Root(), err)
	}
	texts := t.texts // those of the last capture stay
	files, err := t.render(ctx, scan.Compare(before, after))
	t.texts = texts
	if err != nil {
		return loop.Change{}, fmt.Errorf("compare two states of %s: %w", t.Root(), err)
	}
	return total(loop.Change{Files: files, State: to.State, Checkpoint: to.Checkpoint}), nil
}

func (t *Tree) stateAt(ctx context.Context, c loop.Change) (*scan.Dir, error) {
	if c.State == "" && t.base != nil {
		return t.base, nil
	}
	if root, known := t.states[c.State]; known {
		return root, nil
	}
	if c.Checkpoint == "" {
		return nil, ErrUnknownState
	}
	root, err := t.recallState(ctx, c.Checkpoint)
	if err == nil {
		t.states[stateOf(root)] = root
	}
	return root, err
}
