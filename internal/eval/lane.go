package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"codeloops/internal/config/host"
	"codeloops/internal/diff/restore"
	"codeloops/internal/git"
	"codeloops/internal/proc"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
)

// A lane is a copy of a user's work tree, with everything that git ignores, in which the work of one case after the other
// is laid out. It has a repository of its own. If the user's is gone, there is only what was kept of the work.
type lane struct {
	host *host.Host
	home string // with all that is the lane's
	root string
	dir  string // the agents' working directory
	tree *worktree.Tree
	base string // what HEAD is

	kept   string // the private repository of the case
	shared io.Closer
	start  string // that the tree was resumed from
	log    string // that was read last
	history
}

// openLane makes the lane for cases that worked in a directory.
func openLane(ctx context.Context, h *host.Host, runner *proc.Runner, home, dir string) (l *lane, err error) {
	l = &lane{host: h, home: home}
	user, err := worktree.Open(ctx, h, dir, func(string) {})
	if err == nil {
		place := user.Views(runner)
		copied, e := place.Replicate(ctx, filepath.Join(home, "copy"), nil)
		if err = errors.Join(e, user.Close()); err == nil {
			l.root, l.dir = copied.Root, copied.Path(dir)
		}
	} else if worktree.Gone(err) {
		l.root = filepath.Join(home, "copy", filepath.Base(dir))
		l.dir = l.root
		err = os.MkdirAll(l.root, 0o700)
		if err == nil {
			err = l.git(ctx, "init", "-q", "--template=")
		}
	}
	if err == nil {
		err = os.MkdirAll(l.dir, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("make a copy of %s to judge in: %w", dir, err)
	}
	return l, nil
}

func (l *lane) git(ctx context.Context, args ...string) error {
	_, err := git.Git{Environ: git.WithoutRepository(l.host.Environ)}.Run(ctx, git.Call{Dir: l.root, Args: append([]string{"-c", "core.hooksPath=" + os.DevNull}, args...)})
	return err
}

// layOut reads the work of a case from its log, and lays it out.
func (l *lane) layOut(ctx context.Context, c Case) (w Work, err error) {
	if l.log != c.Log { // the cases of a session follow each other
		if l.history, err = read(c.Log); err != nil {
			return w, err
		}
		l.log = c.Log
	}
	at := slices.IndexFunc(l.rounds, func(r round) bool { return r.Iteration == c.Iteration })
	if at < 0 {
		return w, fmt.Errorf("%s has no iteration %d any more", c.Log, c.Iteration)
	}
	was := l.rounds[at]
	return Work{
		Case: c, Dir: l.dir, Task: l.session.Prompt, Words: l.words(c.Iteration), By: was.Attempt.Agent, Account: was.Attempt.Stdout.Text, Checks: was.Checks,
	}, l.lay(ctx, c)
}

// lay makes the files those of a case.
func (l *lane) lay(ctx context.Context, c Case) error {
	err := l.takeFrom(ctx, c)
	if err == nil {
		err = l.stand(ctx, c.Base)
	}
	if err == nil && l.start != c.Start {
		if err = l.tree.Resume(ctx, c.Start); err == nil {
			l.start = c.Start
		}
	}
	if err == nil {
		err = l.restore(ctx, c.Checkpoint)
	}
	if err != nil {
		return fmt.Errorf("lay out %s: %w", c.ID, err)
	}
	return os.RemoveAll(l.tree.Aside)
}

// restore makes the files those of a checkpoint. Where that changes what git ignores, it is done once more: what was ignored until
// then was left alone, and is a file too many now.
func (l *lane) restore(ctx context.Context, checkpoint string) error {
	state, err := l.tree.Recall(checkpoint)
	if err != nil {
		return err
	}
	const most = 5 // a file of rules may have been ignored itself
	for range most {
		way, err := l.tree.PlanRestore(ctx, state)
		if err != nil {
			return err
		}
		if _, err := l.tree.ApplyPlan(ctx, restore.Plan{Title: "a recorded iteration", Changes: way.Changes}); err != nil {
			return err
		}
		if !slices.ContainsFunc(way.Changes, func(c restore.PathChange) bool { return path.Base(c.Path) == ".gitignore" }) {
			break
		}
	}
	return nil
}

// takeFrom has the lane find the states of a case.
func (l *lane) takeFrom(ctx context.Context, c Case) (err error) {
	if l.kept == c.Store {
		return nil
	}
	l.release()
	if l.shared, err = session.ShareCheckpoints(ctx, c.Store); err != nil {
		return err
	}
	l.kept = c.Store
	return l.open(ctx)
}

// stand sets HEAD and the index to where they were when the session began, as far as that is known.
func (l *lane) stand(ctx context.Context, base string) error {
	if base == "" || base == l.base {
		return nil
	}
	if l.git(ctx, "rev-parse", "--verify", "--quiet", base+"^{commit}") != nil {
		return nil //nolint:nilerr // that history is gone
	}
	if err := errors.Join(l.git(ctx, "update-ref", "--no-deref", "HEAD", base), l.git(ctx, "read-tree", base)); err != nil {
		return err
	}
	l.base = base
	return l.open(ctx)
}

// open opens the tree, which reads the repository only then.
func (l *lane) open(ctx context.Context) (err error) {
	if l.tree != nil {
		_ = l.tree.Close() // it was only read
	}
	l.start = ""
	if l.tree, err = worktree.Open(ctx, l.host, l.dir, func(string) {}); err != nil {
		return err
	}
	l.tree.Aside = filepath.Join(l.home, "aside")
	return l.tree.KeepIn(l.kept)
}

func (l *lane) release() {
	if l.shared != nil {
		_ = l.shared.Close() // the system releases it in any case
	}
	l.kept, l.shared = "", nil
}

// close removes the lane.
func (l *lane) close() error {
	if l.tree != nil {
		_ = l.tree.Close() // as in open
	}
	l.release()
	return os.RemoveAll(l.home)
}
