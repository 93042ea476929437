// Package worktree is a work tree as a run uses it: locked, in its place, and with notes about
// it.
package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"codeloops/internal/config/host"
	"codeloops/internal/diff"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/policy/tamper"
	"codeloops/internal/session"
	"codeloops/internal/view"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Tree is the [loop.Tree] of a run. Each note is reported once, with the next change.
type Tree struct {
	*diff.Tree
	// Ready is called before files are restored into the tree.
	Ready func() error
	// Fork is the step of the fork that the tree belongs to; "": it is the user's own tree.
	Fork loop.Step
	// Marked, if set, lists what has attributes that would hide it in views.
	Marked func(context.Context) ([]string, error)
	// Aside is where files removed from the tree go; "": the user's directory for them.
	Aside string

	host    *host.Host
	git     git.Git
	place   place
	session string // the session's ID, for the names of checkpoints; "": none
	private string // the checkpoints' repository; "": not set yet
	shared  shared // when the session began, or was resumed
	notes

	tell      func(string) // reports an interrupted restore
	recovered bool         // there was one
}

// A place is where a work tree was when the run began.
type place struct {
	dir  string      // the agents' working directory, without symbolic links
	root os.FileInfo // the root directory
}

// notes are reported once, with the next change.
type notes struct {
	mu  sync.Mutex
	all []string
}

// Note reports something once, with the next change.
func (n *notes) Note(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, text)
}

func (n *notes) take() (all []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all, n.all = n.all, nil
	return all
}

// Open opens the work tree of a directory. tell reports what became of a restore that was
// interrupted there. The caller closes the tree.
func Open(ctx context.Context, h *host.Host, dir string, tell func(sentence string)) (*Tree, error) {
	if _, err := git.Program(); err != nil {
		return nil, err
	}
	t := &Tree{host: h, tell: tell, Ready: func() error { return nil }}
	t.git = git.Git{Environ: h.Environ}
	tree, err := diff.Open(ctx, dir, diff.Options{
		Environ: h.Environ, Now: h.Now, Settings: tamper.Standard().Agents.Names,
	})
	if err != nil {
		return nil, err
	}
	t.Tree = tree
	if t.place.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("look at the working directory: %w", err), tree.Close())
	}
	if t.place.root, err = os.Lstat(tree.Root()); err != nil {
		return nil, errors.Join(fmt.Errorf("look at the work tree: %w", err), tree.Close())
	}
	return t, nil
}

// CheckDir returns an error if the directory that a tree was opened for is not in it: git then looks
// at other files than agents who work there.
func CheckDir(t *Tree) error {
	if Below(t.Root(), t.place.dir) {
		return nil
	}
	return hint.Errorf("core.worktree, or GIT_WORK_TREE, says so: go there, or unset it",
		"%s is not in %s, which git takes for the work tree", t.place.dir, t.Root())
}

// Begin assigns the tree to a session.
func (t *Tree) Begin(id string) { t.session = id }

// Recovered reports whether an interrupted restore was finished here.
func (t *Tree) Recovered() bool { return t.recovered }

// Agents returns the directories that agents can write to: the work tree and its git directories.
func (t *Tree) Agents() []string { return []string{t.Root(), t.GitDir(), t.CommonDir()} }

// Lock keeps other runs out of the work tree, and finishes a restore that was interrupted there.
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

// Door is the path of the lock holder's socket; "" if the user has no directory for it.
func (t *Tree) Door() (string, error) {
	return session.WorkTree{Root: t.Root(), Own: t.host.Data("locks")}.Door()
}

// Held returns who holds the lock on a directory's work tree; nil if nobody does.
func Held(h *host.Host, dir string) *session.HeldError {
	r, err := git.Open(dir, h.Environ)
	if err != nil {
		return nil //nolint:nilerr // no session runs outside of a repository
	}
	return session.WorkTree{Root: r.WorkTree, GitDir: r.GitDir, Own: h.Data("locks")}.Held()
}

// Checkpoint implements [loop.Tree]: the state becomes the commit
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

// keepLarge saves new large files of a fork, which checkpoints leave out otherwise: the fork may
// be gone when it is to be applied.
func (t *Tree) keepLarge(ctx context.Context, c loop.Change) error {
	if t.Fork == "" {
		return nil
	}
	for _, f := range c.Files {
		name := filepath.Join(t.Root(), filepath.FromSlash(f.Path))
		if info, err := os.Lstat(name); f.NewSize <= diff.Large || err != nil || !info.Mode().IsRegular() {
			continue
		}
		// If the content has changed since the capture, it is saved under another ID, and not
		// found.
		if _, err := t.git.In(ctx, t.private, "--git-dir=.", "-c", "core.compression=1", "hash-object", "-w", "--no-filters", "--", name); err != nil {
			return fmt.Errorf("keep %s: %w", f.Path, err)
		}
	}
	return nil
}

// Start is the step of the state at the beginning of a session.
const Start loop.Step = "0"

// Capture implements [loop.Tree].
func (t *Tree) Capture(ctx context.Context) (loop.Change, error) {
	if err := t.place.check(t.Root()); err != nil {
		return loop.Change{}, err
	}
	var marked []string
	var unmarked error
	var searching sync.WaitGroup
	if t.Marked != nil {
		searching.Go(func() { marked, unmarked = t.Marked(ctx) })
	}
	c, err := t.Tree.Capture(ctx)
	searching.Wait()
	c.Warnings = slices.Concat(c.Warnings, t.take(), t.shared.since(ctx, t))
	if now := view.Standing(t.Root(), t.place.dir); err == nil && now != t.place.dir {
		c.Warnings = append(c.Warnings, fmt.Sprintf("the working directory %s is gone: agents and checks start in %s", t.place.dir, now))
	}
	if len(marked) > 0 {
		c.Warnings = append(c.Warnings, "extended attributes (user.overlay.*) would hide files from critics and checks, so these work in a copy: "+wording.List(marked, 5))
	}
	return c, Lost(t.Fork, t.Root(), cmp.Or(err, unmarked))
}

// Baseline begins a session, as in package diff.
func (t *Tree) Baseline(ctx context.Context) error {
	t.shared = sharedOf(t)
	return t.Tree.Baseline(ctx)
}

// Resume continues a session, as in package diff. What work trees share is compared with what it is now.
func (t *Tree) Resume(ctx context.Context, commit string) error {
	t.shared = sharedOf(t)
	return t.Tree.Resume(ctx, commit)
}

// Gone reports whether an error says that a work tree, or its repository, no longer exists.
func Gone(err error) bool {
	return errors.Is(err, diff.ErrNotRepository) || errors.Is(err, fs.ErrNotExist)
}

// Lost turns an error into the end of the run if it says that a fork, with its work tree at root,
// is gone or has an unreadable repository; fork is "" for other trees.
func Lost(fork loop.Step, root string, err error) error {
	if fork == "" || !Gone(err) && !unusable(root, err) {
		return err
	}
	return Vanished(fork, "is no repository any more")
}

// unusable reports whether an error is caused by the content of a work tree's repository.
func unusable(root string, err error) bool {
	if bad, ok := errors.AsType[*git.SyntaxError](err); ok {
		return Below(root, bad.File)
	}
	_, unsupported := errors.AsType[*git.UnsupportedError](err)
	return unsupported || errors.Is(err, diff.ErrBare)
}

// Vanished ends the run because a fork is unusable; what says why.
func Vanished(fork loop.Step, what string) error {
	return loop.Stop(loop.StopForkLost, "", fmt.Sprintf(
		"the copy of the work tree in which %s was played %s, and what was done there is lost: was it the agent?", fork.Forks(), what))
}

// KeepIn has the tree save its checkpoints in a private repository.
func (t *Tree) KeepIn(dir string) error {
	t.private = dir
	return t.Tree.KeepIn(dir)
}

// Peek is [diff.Tree.Peek], as long as the tree is in its place.
func (t *Tree) Peek(ctx context.Context, since diff.Mark, was diff.Glance) (diff.Glance, error) {
	if err := t.place.check(t.Root()); err != nil {
		return diff.Glance{}, err
	}
	return t.Tree.Peek(ctx, since, was)
}

// putBack is the hint for a work tree that is no longer in its place.
const putBack = "it was another one when the run began: was it the agent? Put that one back, then `codeloops resume`"

// check returns an error if the run would continue in another directory than it began in:
// agents, checks and captures find the work tree by its path. A missing directory is reported by
// the capture.
func (p place) check(root string) error {
	now, err := os.Lstat(root)
	if err == nil && !os.SameFile(now, p.root) {
		return hint.Errorf(putBack, "another directory is in the place of the work tree %s", root)
	}
	if there := p.renamed(root, err); there != "" {
		return hint.Errorf("put it back: mv "+wording.Shell(there)+" "+wording.Shell(root)+", then `codeloops resume` there",
			"the work tree %s was renamed to %s during the run: was it the agent?", root, there)
	}
	if there, err := filepath.EvalSymlinks(p.dir); err == nil && there != p.dir {
		return hint.Errorf(putBack, "the working directory %s leads to %s now", p.dir, there)
	}
	return nil
}

// renamed returns where the work tree is now, if it is missing and in the same directory under another name.
func (p place) renamed(root string, missing error) string {
	if missing == nil {
		return ""
	}
	entries, _ := os.ReadDir(filepath.Dir(root))
	for _, e := range entries {
		if info, err := e.Info(); err == nil && os.SameFile(info, p.root) {
			return filepath.Join(filepath.Dir(root), e.Name())
		}
	}
	return ""
}

// Views returns the place for views of the work tree.
func (t *Tree) Views(starter view.Starter) *view.Place {
	home := t.host.Cache("views")
	inside := func(of string) bool { return Below(of, home) }      // the home directory may be a work tree
	if slices.ContainsFunc(t.Agents(), inside) || !canHold(home) { // or be read-only
		home = filepath.Join(os.TempDir(), fmt.Sprintf("codeloops-views-%d", os.Getuid()))
	}
	return &view.Place{
		Root: t.Root(), GitDir: t.GitDir(), CommonDir: t.CommonDir(), Home: home, Starter: starter, Ignored: t.OutOfScope,
	}
}

// canHold reports whether something can be made in a directory, which is made if it is missing.
func canHold(dir string) bool {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false
	}
	made, err := os.MkdirTemp(dir, "probe-")
	return err == nil && os.Remove(made) == nil
}
