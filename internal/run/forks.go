package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/run/worktree"
	"codeloops/internal/view"
)

// A forker creates forks of a work tree: copies beside the session's log, each with its own
// repository. To everybody in a fork, the copy is an ordinary work tree. If the system allows it,
// commands see the copy at the path of the user's own tree, so that paths in installed packages
// and caches lead into the copy and not out of it. Files that no capture looks at are then not
// copied, but show through.
type forker struct {
	*running
	began string // checkpoint of the session's start
	from  *worktree.Tree
	dir   string      // the agents' working directory in it
	seen  string      // the path at which they see that
	sight *view.Sight // how they see it; nil for the user's own tree, and if it is not shown elsewhere
}

// Fork implements [loop.Forker].
func (f *forker) Fork(ctx context.Context, step loop.Step) (loop.Fork, error) {
	home := filepath.Join(f.outputs(), "forks", string(step)+"."+f.ID()) // names are unique: see view.Replicate
	place := f.from.Views(f.runner)
	copied, start := place.Replica(home), filepath.Join(home, "start")
	began, err := os.ReadFile(start) // written when the copy is complete
	earlier := err == nil            // a run has left it
	if errors.Is(err, fs.ErrNotExist) {
		if f.opened(step) {
			return nil, worktree.Vanished(step, "is gone")
		}
		if err = copied.Remove(); err == nil { // remains of an incomplete copy
			copied, began, err = f.make(ctx, place, home, step)
		}
		if err == nil {
			err = file.Write(start, began, 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("fork %s: %w", f.from.Root(), err)
	}
	k := &fork{forker: f, home: home, copied: copied, step: step, start: string(began), dir: copied.Path(f.dir)}
	if err := k.open(ctx); err != nil {
		if k.tree != nil {
			_ = k.tree.Close() // it was only read
		}
		if earlier {
			err = worktree.Lost(step, copied.Root, err)
		}
		return nil, fmt.Errorf("open the fork of %s in %s: %w", f.from.Root(), copied.Root, err)
	}
	f.sites.forked(+1)
	return k, nil
}

// opened reports whether an earlier run of the session has played in the fork of a step and not
// closed it.
func (f *forker) opened(step loop.Step) bool {
	return f.earlier != nil && slices.Contains(f.earlier.Forks(), step)
}

// make copies the work tree, and returns the checkpoint of the copied state.
func (f *forker) make(ctx context.Context, place *view.Place, home string, step loop.Step) (copied *view.Replica, commit []byte, err error) {
	now, err := f.from.Capture(ctx)
	if err != nil {
		return nil, nil, err
	}
	id, err := f.from.Checkpoint(ctx, step.Sub("start"), now)
	if err != nil {
		return nil, nil, err
	}
	var unseen func(string) bool
	if f.layers(ctx) {
		unseen = f.from.Unseen()
	}
	copied, err = place.Replicate(ctx, home, unseen)
	return copied, []byte(id), err
}

// layers reports whether agents can see a fork as a layer above the user's work tree.
func (f *forker) layers(ctx context.Context) bool {
	f.layersOnce.Do(func() {
		marked, err := f.views.Marked(ctx)
		f.hasLayers = err == nil && len(marked) == 0 && f.views.Layers(ctx, filepath.Join(f.outputs(), "forks", "trial"))
	})
	return f.hasLayers
}

// A fork is a copy of a work tree in which a part of the run plays.
type fork struct {
	*forker
	home   string // removed with the fork
	copied *view.Replica
	step   loop.Step
	start  string // the checkpoint of what was copied
	dir    string // the agents' working directory
	tree   *worktree.Tree
	at     loop.Workplace
}

// open opens the copy as a work tree in which everything counts that has changed since the
// session began.
func (k *fork) open(ctx context.Context) (err error) {
	if k.tree, err = worktree.Open(ctx, k.options.Host, k.dir, k.options.Tell); err != nil {
		return err
	}
	k.tree.Fork, k.tree.Aside = k.step, filepath.Join(k.home, "kept")
	k.tree.Begin(k.ID())
	if err = k.tree.Recover(ctx); err == nil {
		err = k.tree.KeepIn(k.kept.dir)
	}
	if err == nil {
		err = k.tree.Resume(ctx, k.began)
	}
	if err != nil {
		return err
	}
	s := site{tree: k.tree, deciders: k.deciders.in(k.tree.Root(), k.dir), root: k.tree.Root(), dir: k.dir, starter: k.runner}
	var sight *view.Sight
	if k.views.Kind() == view.Overlay {
		if sight, err = k.copied.Sight(k.running.tree.Root(), k.sight); err != nil {
			return err
		}
		k.tree.Ready = sight.Uncover
		s.root, s.dir, s.starter = k.running.tree.Root(), k.seen, view.SightStarter{Starter: k.runner, Sight: sight}
	}
	if s.views, err = k.findViews(ctx, k.tree, sight); err != nil {
		return err
	}
	k.tree.Marked = s.views.Marked
	if k.at, err = k.workplace(s); err != nil {
		return err
	}
	k.at.Forker = &forker{running: k.running, began: k.began, from: k.tree, dir: k.dir, seen: k.seen, sight: sight}
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

// Discard implements [loop.Fork]. The files are removed in the background; only the end of the
// run waits for that.
func (k *fork) Discard() error {
	k.sites.forked(-1)
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
