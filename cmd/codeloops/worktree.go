package main

import (
	"context"
	"sync"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

// workTree is the [loop.Tree] of a run: the tree itself, with what it had to
// note told once, beside the next change.
type workTree struct {
	*diff.Tree

	mu    sync.Mutex
	notes []string
}

func (t *workTree) note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes = append(t.notes, text)
}

// Capture implements [loop.Tree].
func (t *workTree) Capture(ctx context.Context) (loop.Change, error) {
	c, err := t.Tree.Capture(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	c.Warnings = append(c.Warnings, t.notes...)
	t.notes = nil
	return c, err
}
