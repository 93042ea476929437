// Package diff finds out exactly what has changed in a work tree since a session began, and
// prints it as git does.
//
// It compares work trees, not commits: differences from HEAD that existed before the session are
// not part of a change, and what is committed during it is. Git looks at the files, in a git directory
// of the session's own: nothing is written into the user's repository, and no settings, filters,
// attributes and hooks of anybody count or run. So a diff shows the bytes on the disk, always.
//
// The whole work tree is in scope: files that are tracked, or untracked and not ignored, or were
// so when the session began. The files of a repository inside it, a submodule or not, are in
// scope, and so is the commit that it is at; see [basis].
//
// Each look is complete: it begins with what git knew of the files when the session began, and reads the user's index,
// configuration, ignore rules, hooks and references again. The contents in the user's index count only when a session
// begins.
//
// What has to last is kept in a private repository, see [Tree.KeepIn].
package diff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/file"
	"codeloops/internal/git"
	"codeloops/internal/loop"
)

// Errors of [Open].
var (
	ErrNotRepository = git.ErrNotRepository
	ErrBare          = git.ErrBare
)

// Errors of a [Tree] that is asked too early, or for an unknown state.
var (
	ErrNoBaseline   = errors.New("no baseline has been taken")
	ErrUnknownState = errors.New("not a state that this session captured")
	ErrMissing      = errors.New("its content is missing: it was too large to be kept, or is gone") // of a file
)

// Options configure a [Tree]. Now must be set.
type Options struct {
	Environ []string
	Now     func() time.Time // the clock of the file system
	// Settings are the names of files, or directories of files, that tell agents how to work.
	// If such a file is ignored, it is not part of a change, but a change to it is reported.
	Settings []string
	// Sync syncs a file or a directory of the private repository. Nil: File.Sync.
	Sync func(*os.File) error
}

// A Tree is a work tree with what is known of it since the baseline. Its methods are safe for
// concurrent use.
type Tree struct {
	mu sync.Mutex
	watcher
	memory
}

// A place is a work tree with the tools to read it. It does not change once a session has begun.
type place struct {
	options    Options
	dir        string // where the session began
	repo       *git.Repository
	private    *private
	shadow     *shadow // nil before it is needed
	objects    *objects
	largeFiles *largeFiles
}

// A start is what the session began with, to compare later looks with.
type start struct {
	head      git.Head // when the baseline was taken, or else when the tree was opened
	began     beginning
	basis     *basis
	permsThen permissions // of the baseline
	session   string      // the first checkpoint of the session, or ""
	newest    string      // the last checkpoint of earlier sessions, whose files are kept, or ""
}

// A seen is the result of the last look, and what it depends on.
type seen struct {
	sight     *sight // nil if there is none since the session began, or was resumed
	tracked   tracked
	opened    opened
	files     fileSystem
	at        git.Head          // HEAD
	atErr     error             // why it could not be read
	refs      map[string]string // tags and replaced objects; what cannot be read is none
	excludes  string            // the user's ignore rules
	elsewhere string            // the git directory that git finds, if it is another one
	// withheld are the files whose content is not shown, see [capture.exposed]. It is replaced, never changed.
	withheld map[string]bool
}

// A watcher looks at a work tree repeatedly.
type watcher struct {
	place
	start
	seen
}

// A memory holds the states that the session knows by name, and what is known of checkpoints.
type memory struct {
	states   map[string]*state  // by loop.Change.State
	recalled map[string]*record // the checkpoints of states, see [Tree.Recall]
	kept     plumbing.Hash      // the last tree whose objects were all kept
	keptIn   string             // the pack that was made for that, or "."
}

func (m *memory) know(s *state) { m.states[s.id] = s }

// An opened is a repository with the settings that it has at some time.
type opened struct {
	*git.Repository
	*git.Config
}

// partial reports whether the repository may lack contents that it fetches on demand.
func (o opened) partial() bool {
	return o.Config != nil && slices.ContainsFunc(o.Entries(), func(e git.Entry) bool { return strings.HasSuffix(e.Key, ".promisor") })
}

func openedAt(dir string, environ []string) (opened, error) {
	r, settings, err := git.OpenConfigured(dir, environ)
	return opened{r, settings}, err
}

// Open finds the repository of dir, which may be any directory of a work tree. The whole work tree
// is in scope. The error wraps [ErrNotRepository], [ErrBare] or a [*git.UnsupportedError], or
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
	if o.Sync == nil {
		o.Sync = (*os.File).Sync
	}
	t := &Tree{watcher: watcher{place: place{
		options: o, dir: dir, repo: r.Repository, private: &private{sync: o.Sync},
		largeFiles: &largeFiles{known: map[file.Stamp]plumbing.Hash{}, now: func() int64 { return o.Now().Add(-file.Slack).UnixNano() }},
	}}}
	t.states, t.recalled = map[string]*state{}, map[string]*record{}
	t.head, t.opened, t.basis = head, r, &basis{}
	return t, nil
}

// KeepIn sets the directory of the private repository, which keeps checkpoints. Without it they are lost when the tree
// is closed. Call it before Baseline, and [Sweep] when nobody uses the repository.
func (t *Tree) KeepIn(dir string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.close()
	t.private = &private{dir: dir, sync: t.options.Sync}
	return err
}

// make makes the private repository and the shadow.
func (t *Tree) make() error {
	if err := t.private.open(); err != nil || t.shadow != nil {
		return err
	}
	s, err := newShadow(t.private.dir, t.options.Environ, t.options.Now)
	if err != nil {
		return err
	}
	t.shadow, t.objects = s, newObjects(s.dir, t.private.dir)
	return nil
}

// Close removes what no checkpoint has.
func (t *Tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.close()
}

func (t *Tree) close() (err error) {
	if t.shadow != nil {
		err = errors.Join(t.objects.close(), os.RemoveAll(t.shadow.dir))
		t.shadow, t.objects = nil, nil
	}
	t.tracked, t.kept, t.keptIn = tracked{}, plumbing.ZeroHash, ""
	return errors.Join(err, t.private.close())
}

// see looks at the work tree.
func (w *watcher) see(ctx context.Context, also *state) error {
	if err := w.reopen(); err != nil {
		return err
	}
	if err := w.tracked.read(ctx, w.shadow, w.opened.Repository, w.options.Environ); err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	s, err := w.snapshot(ctx, w.basis, also)
	if err != nil {
		return err
	}
	for _, a := range s.areas {
		_ = os.Remove(a.index)
	}
	w.sight = s
	return nil
}

// Capture returns the difference from the baseline.
func (t *Tree) Capture(ctx context.Context) (loop.Change, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.basis.state == nil {
		return loop.Change{}, ErrNoBaseline
	}
	var c loop.Change
	err := t.see(ctx, nil)
	if err == nil {
		t.know(t.sight.state)
		t.basis.last = t.sight.state
		c, err = (&capture{watcher: &t.watcher}).change(ctx)
	}
	if err != nil {
		return loop.Change{}, fmt.Errorf("capture what changed in %s: %w", t.Root(), err)
	}
	return c.Counted(), nil
}

// BaseState returns the [loop.Change.State] of the baseline, or "" before there is one.
func (t *Tree) BaseState() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.basis.state == nil {
		return ""
	}
	return t.basis.state.id
}
