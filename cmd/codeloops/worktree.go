package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	dir     string      // where the agents work, free of symbolic links
	root    os.FileInfo // of the directory that was at the root's path
	session string      // the session's id, for the names of checkpoints

	mu    sync.Mutex
	notes []string
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
	if err := t.stands(); err != nil {
		return loop.Change{}, err
	}
	c, err := t.Tree.Capture(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	c.Warnings = append(c.Warnings, t.notes...)
	t.notes = nil
	return c, err
}

// stands reports that the run would go on in another place than it began in: agents,
// checks and captures find the work tree by its path. One that is gone is for the
// capture to tell.
func (t *workTree) stands() error {
	if now, err := os.Lstat(t.Root()); err == nil && !os.SameFile(now, t.root) {
		return &movedError{"another directory is in the place of the work tree " + t.Root()}
	}
	if there, err := filepath.EvalSymlinks(t.dir); err == nil && there != t.dir {
		return &movedError{fmt.Sprintf("the working directory %s leads to %s now", t.dir, there)}
	}
	return nil
}

// A movedError is a work tree that is no longer in its place.
type movedError struct{ problem string }

func (e *movedError) Error() string { return e.problem }

// Hint returns what to do about it.
func (e *movedError) Hint() string {
	return "it was another one when the run began: was it the agent? Put that one back, then `codeloops resume`"
}
