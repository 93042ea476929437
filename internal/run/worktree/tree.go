// Package worktree is a work tree as a run holds it: locked, in its place, and with what
// there was to note.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"codeloops/internal/config/host"
	"codeloops/internal/diff"
	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/store"
	"codeloops/internal/loop"
	"codeloops/internal/policy/tamper"
	"codeloops/internal/proc"
	"codeloops/internal/repo"
	"codeloops/internal/session"
)

// A Tree is the [loop.Tree] of a run: the tree itself, with what it had to
// note told once, beside the next change.
type Tree struct {
	*diff.Tree
	// Ready, if set, is called before files are put into the tree.
	Ready func() error
	// Fork is the step that is played in the tree, if that is a fork; "" is the user's own.
	Fork loop.Step
	// Aside is where what is taken from the tree is kept; "" is the user's directory for it.
	Aside string

	host    *host.Host
	git     *Git
	dir     string      // where the agents work, free of symbolic links
	root    os.FileInfo // of the directory that was at the root's path
	session string      // the session's id, for the names of checkpoints; "" is none
	private string      // where checkpoints are; "" before that is said

	tell      func(string) // is told what was left of a restore
	recovered bool         // there was something left

	mu    sync.Mutex
	notes []string
}

// Open opens the work tree of a directory. tell is told what has become of a restore that
// broke off there. The caller closes the tree.
func Open(ctx context.Context, h *host.Host, dir string, tell func(sentence string)) (*Tree, error) {
	t := &Tree{host: h, tell: tell}
	t.git = &Git{Environ: h.Environ, note: t.Note}
	tree, err := diff.Open(ctx, dir, diff.Options{
		Env: h.LookupEnv, Now: h.Now, Git: t.git, Note: t.Note, Settings: tamper.AgentSettings(),
	})
	if err != nil {
		return nil, err
	}
	t.Tree = tree
	if t.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("look at the working directory: %w", err), tree.Close())
	}
	if t.root, err = os.Lstat(tree.Root()); err != nil {
		return nil, errors.Join(fmt.Errorf("look at the work tree: %w", err), tree.Close())
	}
	return t, nil
}

// Begin makes the tree that of a session, whose runner ends what git leaves running.
func (t *Tree) Begin(id string, runner *proc.Runner) {
	t.session, t.git.runner = id, runner
}

// Recovered reports whether something was left here of a restore, which has been gone on
// with.
func (t *Tree) Recovered() bool { return t.recovered }

// Agents are the directories that agents can write to: the work tree, and its git
// directories.
func (t *Tree) Agents() []string { return []string{t.Root(), t.GitDir(), t.CommonDir()} }

// Lock keeps other runs out of the work tree, and goes on with what was left there of a
// restore that broke off.
func (t *Tree) Lock(ctx context.Context, by string, at time.Time) (*session.Lock, error) {
	w := session.WorkTree{Root: t.Root(), GitDir: t.GitDir(), Shared: t.LockMode(), Own: t.host.Data("locks")}
	lock, err := w.Acquire(by, at)
	if err != nil {
		return nil, err
	}
	if err := t.Recover(ctx); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Door is the path of the socket of whoever has the lock; "" where the user has no directory
// for it.
func (t *Tree) Door() (string, error) {
	return session.WorkTree{Root: t.Root(), Own: t.host.Data("locks")}.Door()
}

// Held returns who is at work in the work tree of a directory; nil where nobody is.
func Held(h *host.Host, dir string) *session.HeldError {
	r, err := repo.Open(dir, h.LookupEnv)
	if err != nil {
		return nil //nolint:nilerr // no session runs outside of a repository
	}
	return session.WorkTree{Root: r.WorkTree, GitDir: r.GitDir, Own: h.Data("locks")}.Held()
}

// Note tells something once, beside the next change.
func (t *Tree) Note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes = append(t.notes, text)
}

// Checkpoint implements [loop.Tree]: the state stands as the commit
// refs/codeloops/<session>/<step>; the step of an iteration is its number.
func (t *Tree) Checkpoint(ctx context.Context, step loop.Step, c loop.Change) (string, error) {
	if err := t.keepLarge(ctx, c); err != nil {
		return "", err
	}
	name, kind := fmt.Sprintf("%s/%s", t.session, step), "step"
	if step.Parent() == "" && step.Iteration() > 0 || step == Start {
		kind = "iteration"
	}
	return t.Tree.Checkpoint(ctx, c.State, name, fmt.Sprintf("codeloops session %s, %s %s", t.session, kind, step))
}

// keepLarge keeps what is new in a fork and that a checkpoint leaves out otherwise: when it is to be
// applied, there may be no fork any more.
func (t *Tree) keepLarge(ctx context.Context, c loop.Change) error {
	if t.Fork == "" {
		return nil
	}
	for _, f := range c.Files {
		name := filepath.Join(t.Root(), filepath.FromSlash(f.Path))
		if info, err := os.Lstat(name); f.NewSize <= store.Large || err != nil || !info.Mode().IsRegular() {
			continue
		}
		// Bytes that are not those of the state any more are kept under another id, and not found.
		if _, err := t.git.In(ctx, t.private, "--git-dir=.", "-c", "core.compression=1", "hash-object", "-w", "--no-filters", "--", name); err != nil {
			return fmt.Errorf("keep %s: %w", f.Path, err)
		}
	}
	return nil
}

// Start is the step of the state with which a session begins.
const Start loop.Step = "0"

// Capture implements [loop.Tree].
func (t *Tree) Capture(ctx context.Context) (loop.Change, error) {
	if err := t.stands(); err != nil {
		return loop.Change{}, err
	}
	c, err := t.Tree.Capture(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	c.Warnings = append(c.Warnings, t.notes...)
	t.notes = nil
	return c, Lost(t.Fork, t.Root(), err)
}

// Gone reports whether an error says that a work tree, or its repository, is not there any more.
func Gone(err error) bool {
	return errors.Is(err, diff.ErrNotRepository) || errors.Is(err, fs.ErrNotExist)
}

// Lost is the end of the run where an error says that a fork, whose work tree is root, is not there
// any more, or that its repository is none that can be read; "" is no fork.
func Lost(fork loop.Step, root string, err error) error {
	if fork == "" || !Gone(err) && !unusable(root, err) {
		return err
	}
	return Vanished(fork, "is no repository any more")
}

// unusable reports whether an error says that what is in the repository of a work tree keeps it from
// being read.
func unusable(root string, err error) bool {
	if bad, ok := errors.AsType[*repo.SyntaxError](err); ok {
		return Below(root, bad.File)
	}
	_, unsupported := errors.AsType[*repo.UnsupportedError](err)
	return unsupported || errors.Is(err, diff.ErrBare)
}

// Vanished is the end of the run where a fork can be played in no more; what says why.
func Vanished(fork loop.Step, what string) error {
	return loop.Stop(loop.StopForkLost, "", fmt.Sprintf(
		"the copy of the work tree in which %s was played %s, and what was done there is lost: was it the agent?", fork.Forks(), what))
}

// KeepIn has the tree keep its checkpoints in a private repository.
func (t *Tree) KeepIn(dir string) error {
	t.private = dir
	return t.Tree.KeepIn(dir)
}

// reference returns the name under which a checkpoint is kept; "" where that is not found.
func (t *Tree) reference(ctx context.Context, commit string) string {
	out, err := t.git.In(ctx, t.private, "--git-dir=.", "for-each-ref", "--count=1", "--format=%(refname)", "--points-at="+commit, checkpoint.Namespace)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// Peek is [diff.Tree.Peek] in the place where the run began.
func (t *Tree) Peek(ctx context.Context, since diff.Mark, was diff.Glance) (diff.Glance, error) {
	if err := t.stands(); err != nil {
		return diff.Glance{}, err
	}
	return t.Tree.Peek(ctx, since, was)
}

// stands reports that the run would go on in another place than it began in: agents,
// checks and captures find the work tree by its path. One that is gone is for the
// capture to tell.
func (t *Tree) stands() error {
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
