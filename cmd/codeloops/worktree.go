package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// workTree is the [loop.Tree] of a run: the tree itself, with what it had to
// note told once, beside the next change.
type workTree struct {
	*diff.Tree

	git     *gitProgram
	session string // the session's id, for the names of checkpoints

	mu    sync.Mutex
	notes []string
	head  string // where HEAD was at the last look
}

// lock keeps other runs out of the work tree. The lock lies in the git directory:
// runs that keep their logs in different places must still see each other.
func (t *workTree) lock(by string, at time.Time) (*session.Lock, error) {
	dir, err := t.LockDir()
	if err != nil {
		return nil, err
	}
	return session.Acquire(dir, t.Root(), by, at)
}

func (t *workTree) note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes = append(t.notes, text)
}

// Checkpoint implements [loop.Tree]: the state stands as the commit
// refs/codeloops/<session>/<iteration>.
func (t *workTree) Checkpoint(ctx context.Context, iteration int, c loop.Change) (string, error) {
	return t.Tree.Checkpoint(ctx, c.State, fmt.Sprintf("%s/%d", t.session, iteration),
		fmt.Sprintf("codeloops session %s, iteration %d", t.session, iteration))
}

// Capture implements [loop.Tree].
func (t *workTree) Capture(ctx context.Context) (loop.Change, error) {
	c, err := t.Tree.Capture(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	c.Warnings = append(c.Warnings, t.notes...)
	t.notes, t.head = nil, t.where()
	return c, err
}

// Recapture implements [loop.Tree]. Whoever has moved HEAD since the last look
// has touched what is not put back.
func (t *workTree) Recapture(ctx context.Context) (loop.Change, error) {
	c, err := t.Tree.Recapture(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.head
	if t.head = t.where(); t.head != was {
		c.Warnings = append(c.Warnings, fmt.Sprintf("HEAD was moved from %s to %s, and stays there", was, t.head))
	}
	return c, err
}

// where says where HEAD is.
func (t *workTree) where() string {
	commit, branch, err := t.Head()
	switch {
	case err != nil:
		return "what cannot be read"
	case commit == "":
		return fmt.Sprintf("%q without commits", branch)
	case branch == "":
		return short(commit)
	}
	return fmt.Sprintf("%q at %s", branch, short(commit))
}

func short(commit string) string { return commit[:min(len(commit), 12)] }
