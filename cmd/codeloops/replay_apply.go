package main

import (
	"context"
	"errors"
	"fmt"

	"codeloops/internal/browse"
	"codeloops/internal/loop"
	"codeloops/internal/recorded"
	"codeloops/internal/render"
	"codeloops/internal/session"
)

// runApply rebuilds, from a log alone, the files that an iteration left, in a
// checkout of the commit that the session began at.
func runApply(ctx context.Context, l *logs, o *replayOptions, ref string) (err error) {
	one, err := l.find(ctx, ref, "Rebuild the files of which session?")
	if err != nil {
		return err
	}
	var change loop.Change
	err = l.read(ctx, one, func(entries browse.Entries) (err error) {
		_, change, err = browse.ChangeIn(one.ID, entries, o.until, l.tell)
		return err
	})
	if err != nil {
		return err
	}
	a := l.app
	tree, err := a.openTree(ctx, resolve(a.dir, o.dir))
	if err != nil {
		return err
	}
	defer tree.Close() //nolint:errcheck // its objects are written
	lock, err := tree.lock("replay --apply", a.now())
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // the system takes it back in any case
	if err := sameBase(one, tree, o.force); err != nil {
		return err
	}
	return a.rebuild(ctx, tree, change, o.force)
}

// sameBase refuses a checkout of another commit than the session's.
func sameBase(one session.Overview, tree *workTree, force bool) error {
	base, head := one.Session.BaseCommit, tree.BaseCommit()
	if base == "" || base == head || force {
		return nil // of a log that does not say, each file is compared
	}
	hint := fmt.Sprintf("git worktree add --detach ../rebuilt %.12s && codeloops replay --apply -d ../rebuilt %s; or --force", base, one.ID)
	if head == "" {
		head = "a branch without commits"
	}
	return usagef(hint, "the session began at commit %.12s, and %s is at %.12s", base, tree.Root(), head)
}

// rebuild makes all changes, or none.
func (a *app) rebuild(ctx context.Context, tree *workTree, change loop.Change, force bool) error {
	if err := tree.Baseline(ctx); err != nil {
		return err
	}
	edits, err := recorded.Edits(ctx, change, tree, force)
	if err != nil {
		return &hintedError{
			fmt.Errorf("nothing was changed in %s, because not all files can be rebuilt:\n%w", tree.Root(), err),
			"a session that began with uncommitted changes can only be rebuilt on top of these" +
				"; --force replaces files that are others by now",
		}
	}
	before := tree.BaseState()
	state, err := tree.Edited(ctx, edits)
	if err != nil {
		return fmt.Errorf("nothing was changed in %s:\n%w", tree.Root(), err)
	}
	kept, err := tree.Restore(ctx, loop.Change{State: state})
	if err != nil {
		if _, back := tree.Restore(context.WithoutCancel(ctx), loop.Change{State: before}); back != nil {
			return errors.Join(err, fmt.Errorf("put back what was there: %w", back))
		}
		return fmt.Errorf("all files are as they were before: %w", err)
	}
	return a.rebuilt(ctx, tree, change, kept)
}

// rebuilt tells what has been done, and how sure that is.
func (a *app) rebuilt(ctx context.Context, tree *workTree, change loop.Change, kept string) error {
	now, err := tree.Capture(ctx)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("rebuilt %s in %s", render.Count(len(change.Files), "file", "files"), tree.Root())
	switch {
	case change.Empty():
		text = "the iteration left everything as the session had found it: there is nothing to rebuild"
	case change.State == now.State:
		text += ": the work tree is, byte for byte, what the iteration left"
	case change.State != "":
		text += ": these files are what the iteration left; others differ from those that the session began with"
	}
	if kept != "" {
		text += "; what was there is " + kept
	}
	if n := recorded.Commits(change); n > 0 {
		text += "; " + render.Count(n, "repository inside stays at its commit", "repositories inside stay at their commits")
	}
	_, err = fmt.Fprintln(a.Out, text)
	return err
}
