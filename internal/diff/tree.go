// Package diff finds out exactly what has changed in a work tree since a session began, and
// prints it as git does.
//
// It compares work trees, not commits: differences from HEAD that existed before the session are
// not part of a change, and what is committed during it is. It reads the files itself, in
// parallel. The git program compares texts, see package patch, and does what it alone can do:
// filters, ident and other encodings, blobs of a partial clone, and an index that package index
// cannot read.
//
// The whole work tree is in scope: files that are tracked, or untracked and not ignored, or were
// so when the session began. The files of a repository inside it, a submodule or not, are in
// scope, and so is the commit that it is at; see [nests].
//
// The attributes "diff" and "binary" are ignored: whoever works in the tree could use them to
// hide a change.
//
// Each scan is complete: it lists every directory, and reads the index, the configuration, ignore
// rules, attributes, hooks and references again. Only a file whose stat is what it was before
// the session began is not read again, if the file system can be trusted with that. The contents
// in git's index count only when a session begins.
//
// Nothing is written into the user's repository. What has to last is kept in a private one, see
// [Tree.KeepIn].
package diff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
	"codeloops/internal/loop"
	"codeloops/internal/repo"
)

// Errors of [Open].
var (
	ErrNotRepository = repo.ErrNotRepository
	ErrBare          = repo.ErrBare
)

// Errors of a [Tree] that is asked too early, or for an unknown state.
var (
	ErrNoCheckpoint = checkpoint.ErrGone
	ErrNoBaseline   = errors.New("no baseline has been taken")
	ErrUnknownState = errors.New("not a state that this session captured")
	ErrMissing      = errors.New("its content is missing: it was too large to be kept, or is gone") // of a file
)

// A Git runs the git program.
type Git = store.Git

// A GitCall is one run of the git program.
type GitCall = store.Call

// Options configure a [Tree]. Now must be set.
type Options struct {
	Environ []string
	Now     func() time.Time // the clock of the file system
	Git     Git              // nil: what needs it fails
	// Note is called once for each purpose that the git program is run for, possibly from
	// several goroutines. May be nil.
	Note func(string)
	// Settings are the names of files, or directories of files, that tell agents how to work.
	// If such a file is ignored, it is not part of a change, but a change to it is reported.
	Settings []string
	// Clock says how far the times of files in a directory can be trusted. Nil: it depends on
	// the file system.
	Clock func(dir string) scan.Clock
	// Sync syncs a file or a directory of the private repository. Nil: File.Sync.
	Sync func(*os.File) error
}

// A Tree is a work tree with what is known of it since the baseline. Its methods are safe for
// concurrent use.
type Tree struct {
	mu sync.Mutex
	watcher
	memory
	peeks peeks
}

// Open finds the repository of dir, which may be any directory of a work tree. The whole work tree
// is in scope. The error wraps [ErrNotRepository], [ErrBare] or a [*repo.UnsupportedError], or
// says what could not be read.
func Open(_ context.Context, dir string, o Options) (*Tree, error) {
	dir, err := filepath.Abs(dir)
	var t *Tree
	if err == nil {
		t, err = open(dir, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open the repository of %s: %w", dir, err)
	}
	return t, nil
}

func open(dir string, o Options) (*Tree, error) {
	r, err := openedAt(dir, o.Environ)
	if err != nil {
		return nil, err
	}
	head, err := r.Head()
	if err != nil {
		return nil, err
	}
	mode, err := sharedMode(r.Config)
	if err != nil {
		return nil, err
	}
	t := &Tree{watcher: watcher{place: place{
		options: o,
		dir:     dir,
		repo:    r.Repository,
		shared:  mode,
		clock:   clockOf(r.Repository, o.Clock),
		git:     &gitRunner{git: o.Git, note: o.Note},
	}}}
	t.states, t.recalled, t.disk.raw = make(map[string]*scan.Dir), make(map[string]checkpoint.Kept), make(map[string]checkpoint.Raw)
	t.head, t.nests.at, t.opened = head, &t.place, r
	if !foundBelow(r.Repository, o.Environ) {
		t.git.lead(r.Repository, dir)
	}
	t.store = store.New(store.Options{
		ObjectsDir: r.ObjectsDir, Git: o.Git, Sync: o.Sync,
		Dir: r.WorkTree, Promised: t.git.purpose("to read objects of a partial clone"),
	})
	return t, nil
}

// Close ends running peeks and closes the object store.
func (t *Tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.peeks.abandon()
	t.peeks.all.Wait()
	return t.store.Close()
}

// Baseline begins a session: it takes the state of the work tree that captures are compared with.
// The first Checkpoint of it identifies the session.
func (t *Tree) Baseline(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.baseline(ctx)
}

// BaselineAt is Baseline with the files of a commit of the repository, given its full id, in place of those that are
// there now: captures then also return what was done before. What git does not record, such as the files of a
// repository inside, is taken to have been as it is now.
func (t *Tree) BaselineAt(ctx context.Context, commit string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.baseline(ctx); err != nil {
		return err
	}
	base, err := checkpoint.Files(ctx, t.store, plumbing.NewHash(commit), t.tracked.root)
	if err != nil {
		return err
	}
	for _, nest := range t.nests.begun {
		if inside := t.state.Root.Dir(nest); inside != nil {
			base = base.Graft(nest, inside)
		}
	}
	t.base, t.found, t.head.Commit = base, nil, commit
	t.begin(base)
	return nil
}

func (t *Tree) baseline(ctx context.Context) error {
	t.start, t.state, t.nests = start{head: t.head}, scan.State{}, nests{at: &t.place}
	began := t.options.Now()
	head, err := t.repo.Head()
	if err != nil {
		return fmt.Errorf("read HEAD: %w", err)
	}
	t.head = head
	if err := t.scan(ctx, nil); err != nil {
		return fmt.Errorf("take the state of %s: %w", t.Root(), err)
	}
	t.base, t.found, t.trackedThen, t.cutThen = t.state.Root, t.state.Root, t.tracked.root, t.tracked.cut
	t.begin(t.base)
	t.since = began
	o := t.rules.Options()
	t.setupThen, t.overridesThen, t.ignoredThen = t.setupOf(t.opened), t.overridesOf(t.opened).setup, t.ignoredOf()
	t.nests.setUp(t.setupThen)
	t.outsideThen, t.ignoreCaseThen = o.Outside, o.IgnoreCase
	t.nests.begun = append([]string{}, t.nests.found...)
	return nil
}

// Capture returns the difference from the baseline.
func (t *Tree) Capture(ctx context.Context) (loop.Change, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil {
		return loop.Change{}, ErrNoBaseline
	}
	t.peeks.abandon()
	var c loop.Change
	err := t.scan(ctx, nil)
	if err == nil {
		t.states[t.state.Root.ID().String()] = t.state.Root // an equal state that was found earlier may have other permissions
		c, err = (&capture{watcher: &t.watcher}).change(ctx)
	}
	if err != nil {
		return loop.Change{}, fmt.Errorf("capture what changed in %s: %w", t.Root(), err)
	}
	return c.Counted(), nil
}
