package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"codeloops/internal/diff/view"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/run/worktree"
)

// A forker makes forks of a work tree: copies beside the session's log, with their
// repositories. To everybody in it a copy is a work tree like any other. Where the system can
// show it to commands at the path of the user's own, it is found there: what an installed
// package or a cache has of that path leads into the copy then, and not out of it.
type forker struct {
	*running
	began string // the checkpoint of the session's start
	from  *worktree.Tree
	dir   string      // where the agents work in it
	seen  string      // where they find that
	binds []proc.Bind // where they find it; nil for the user's own, and where it is not shown elsewhere
}

// Fork implements [loop.Forker].
func (f *forker) Fork(ctx context.Context, step loop.Step) (loop.Fork, error) {
	home := filepath.Join(f.outputs(), "forks", string(step))
	place := f.from.Views(f.runner)
	copied, start := place.Replica(home), filepath.Join(home, "start")
	began, err := os.ReadFile(start) // written when the copy is whole
	if errors.Is(err, fs.ErrNotExist) {
		began, err = f.make(ctx, place, copied, home, step)
		if err == nil {
			err = os.WriteFile(start, began, 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("fork %s: %w", f.from.Root(), err)
	}
	k := &fork{forker: f, copied: copied, step: step, start: string(began), dir: copied.Path(f.dir)}
	if err := k.open(ctx); err != nil {
		if k.tree != nil {
			_ = k.tree.Close() // it was only read
		}
		return nil, fmt.Errorf("open the fork of %s in %s: %w", f.from.Root(), copied.Root, err)
	}
	return k, nil
}

// make copies the work tree, and returns the checkpoint of what was copied.
func (f *forker) make(ctx context.Context, place *view.Place, copied *view.Replica, home string, step loop.Step) ([]byte, error) {
	if err := copied.Remove(); err != nil { // a part of one
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
		return nil, err
	}
	now, err := f.from.Capture(ctx)
	if err != nil {
		return nil, err
	}
	commit, err := f.from.Checkpoint(ctx, step.Sub("start"), now)
	if err == nil {
		_, err = place.Replicate(ctx, home)
	}
	return []byte(commit), err
}

// A fork is a copy of a work tree in which a part of the run plays.
type fork struct {
	*forker
	copied *view.Replica
	step   loop.Step
	start  string // the checkpoint of what was copied
	dir    string // where the agents work
	tree   *worktree.Tree
	at     loop.Workplace
}

// open opens the copy as a work tree, of which everything counts that has changed since the
// session began.
func (k *fork) open(ctx context.Context) (err error) {
	if k.tree, err = worktree.Open(ctx, k.options.Host, k.dir, k.options.Tell); err != nil {
		return err
	}
	k.tree.Begin(k.ID(), k.runner)
	if err = k.tree.KeepIn(k.kept.dir); err == nil {
		err = k.tree.Resume(ctx, k.began)
	}
	if err != nil {
		return err
	}
	s := site{tree: k.tree, deciders: k.deciders.in(k.tree.Root(), k.dir), dir: k.dir, starter: k.runner}
	var shown []proc.Bind
	if k.views.kind == view.Overlay {
		if shown, err = k.copied.Shown(k.running.tree.Root()); err != nil {
			return err
		}
		if len(k.binds) > 0 { // of a fork of a fork
			shown = append(shown, k.binds[1:]...)
		}
		s.dir, s.starter = k.seen, view.Bound{Starter: k.runner, Binds: shown}
	}
	if s.views, err = k.findViews(ctx, k.tree, shown); err != nil {
		return err
	}
	if k.at, err = k.workplace(s); err != nil {
		return err
	}
	k.at.Forker = &forker{running: k.running, began: k.began, from: k.tree, dir: k.dir, seen: k.seen, binds: shown}
	return nil
}

// Workplace implements [loop.Fork].
func (k *fork) Workplace() loop.Workplace { return k.at }

// Apply implements [loop.Fork].
func (k *fork) Apply(ctx context.Context) error {
	now, err := k.tree.Capture(ctx)
	if err != nil {
		return err
	}
	end, err := k.tree.Checkpoint(ctx, k.step.Sub("end"), now)
	if err != nil {
		return err
	}
	return k.from.Apply(ctx, k.start, end)
}

// Discard implements [loop.Fork]. Many files take a while to remove: nobody waits for that
// before the end of the run.
func (k *fork) Discard() error {
	err := k.tree.Close()
	if e := k.copied.PutAside(); e != nil {
		return errors.Join(err, e)
	}
	k.removals.Go(func() {
		if err := k.copied.Remove(); err != nil {
			k.tree.Note("could not remove a copy of the work tree: " + err.Error())
		}
	})
	return err
}
