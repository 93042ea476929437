// Package diff tells exactly what has changed in a work tree since a session
// began, as git prints it.
//
// Work trees are compared, not commits: what was different from HEAD before
// the session is no part of a change, and what is committed during it is. The
// reading is done here, in parallel, and not by the git program, which is
// asked only for what it alone can do: filters, ident and other encodings,
// blobs of a partial clone, and an index in a form that package index does not
// read.
//
// The whole work tree is in scope: what is tracked, what is untracked and not
// ignored, and what was so when the session began. Of a repository inside it, a
// submodule or not, the files are, and the commit that it is at; see [nest].
//
// What attributes say of how a file is to be shown (diff, binary) is not asked: who
// works in the tree could hide a change by it.
//
// Taking the baseline or a capture writes nothing but, beyond what a
// [store.Store] keeps in memory, loose objects.
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

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/repo"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/shared"
	"codeloops/internal/diff/store"
	"codeloops/internal/loop"
)

// What Open finds instead of a repository that it can use.
var (
	ErrNotRepository = repo.ErrNotRepository
	ErrBare          = repo.ErrBare
)

// What a [Tree] is asked too early or too late.
var (
	ErrNoBaseline   = errors.New("no baseline has been taken")
	ErrUnknownState = errors.New("not a state that this session captured")
)

// A Git runs the git program and returns its standard output; a command that
// fails is an error that carries what it said.
type Git interface {
	Run(context.Context, GitCall) (stdout []byte, err error)
}

// A GitCall is one run of the git program.
type GitCall struct {
	Dir   string
	Args  []string
	Env   []string // "NAME=value", beyond the user's own
	Stdin []byte
}

// Options are what a [Tree] needs from outside. Env and Now must be set.
type Options struct {
	Env func(name string) (value string, ok bool) // as os.LookupEnv
	Now func() time.Time                          // the clock that the file system's times are of
	Git Git                                       // nil: what needs it is an error
	// Note is told, once for each purpose, that the git program was run. May
	// be nil. It can be called from several goroutines.
	Note func(string)
	// Settings are the files that tell agents how to work, and directories of such
	// files, in any directory in which agents look for them. Those that are ignored are
	// no part of a change, but it is told when they change.
	Settings []string
	// Times: a file is not read while its times say that it is what it was. By itself
	// where the file systems of work tree and repository keep times.
	Times Switch
}

// A Switch turns something on or off that has a sensible choice of its own.
type Switch uint8

// The positions of a Switch.
const (
	Auto Switch = iota
	On
	Off
)

// A Tree is a work tree with what is known of it since the baseline. Its
// methods may be called from several goroutines, and wait for each other.
type Tree struct {
	options Options
	dir     string // where the session began
	repo    *repo.Repository
	shared  shared.Mode // of what is written in it
	keeps   bool        // times count
	git     *gitRunner
	store   *store.Store
	head    repo.Head // when the tree was opened

	mu    sync.Mutex
	now   configured
	since time.Time // the session began, or this part of it; zero before that
	base  *scan.Dir
	// found is the baseline that was found here; nil for one that was read from a
	// checkpoint: it may be the index's own in parts, with stats that anybody can
	// have written there since.
	found *scan.Dir
	last  *scan.Dir
	also  *scan.Dir // in scope since a Restore
	// trackedThen is what the index had when the baseline was taken, nil when
	// that was not here.
	trackedThen *scan.Dir
	states      map[string]*scan.Dir // by loop.Change.State
	checkpoint  plumbing.Hash        // the last one
	kept        *scan.Dir            // the last state of which all objects were written
	tracked     tracked
	view        view                         // of the last scan
	rules       *rules                       // of the last scan
	settings    attr.Settings                // of the last scan
	texts       map[change][]loop.FileChange // of the last capture
	differs     differences                  // likewise

	setup, setupThen setup               // of the last scan, and when the session began
	decided          decided             // by the last one
	digests          map[string]digested // of the files that decide, by their paths
	nests            nests
	fakes            map[string][]string // see [Tree.nestSetup]
	sways, swaysThen sways               // of the last scan, and when the session began; the latter may be nil: not known
	elsewhere        string              // the git directory of the repository that git finds, if it is another one
	began            begun
	conversions      map[string]*conversion // of the files that git has converted, by their paths
	binaries         map[change]*loop.Unshown

	refs *repo.RefList

	session string // the checkpoint that it began with; "" before there is one
}

// Open finds the repository of dir, which may be any directory in its work
// tree; the whole work tree is in scope. Nothing is written. The error wraps
// [ErrNotRepository], [ErrBare] or a [*repo.UnsupportedError], or says what
// could not be read.
func Open(_ context.Context, dir string, o Options) (*Tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open the repository of %s: %w", dir, err)
	}
	opened := o.Now()
	r, err := repo.Open(dir, o.Env)
	if err != nil {
		return nil, fmt.Errorf("open the repository of %s: %w", dir, err)
	}
	head, err := r.Head()
	if err != nil {
		return nil, fmt.Errorf("open the repository of %s: %w", dir, err)
	}
	mode, err := shared.Of(r.Config)
	if err != nil {
		return nil, fmt.Errorf("open the repository of %s: %w", dir, err)
	}
	t := &Tree{
		options: o,
		dir:     dir,
		repo:    r,
		shared:  mode,
		keeps:   o.Times == On || o.Times == Auto && scan.Keeps(r.WorkTree) && scan.Keeps(r.GitDir) && scan.Keeps(r.CommonDir),
		now:     configured{r, opened},
		head:    head,
		git:     &gitRunner{git: o.Git, note: o.Note},
		digests: make(map[string]digested),
		refs:    r.RefList(tags, replacements),
	}
	if !t.keeps {
		t.now.read = t.looked()
	}
	if !foundBelow(r, o.Env) {
		t.git.lead(r, dir)
	}
	t.store = store.New(store.Options{
		ObjectsDir: r.ObjectsDir(), Dir: r.WorkTree, Git: t.git.purpose("to read objects of a partial clone"), Shared: t.shared, Now: o.Now,
	})
	return t, nil
}

// looked returns the time of a look at what a stamp may stand for later. Where a file
// system does not keep times, it is so long ago that none does.
func (t *Tree) looked() time.Time {
	if !t.keeps {
		return time.Unix(0, 0)
	}
	return t.options.Now()
}

// Close closes the files of the object store.
func (t *Tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.store.Close()
}

// Root returns the absolute path of the work tree, free of symbolic links.
func (t *Tree) Root() string { return t.repo.WorkTree }

// GitDir returns the absolute path of the work tree's git directory.
func (t *Tree) GitDir() string { return t.repo.GitDir }

// CommonDir returns the absolute path of the git directory that the work tree shares
// with others of its repository; it is GitDir where there is one work tree alone.
func (t *Tree) CommonDir() string { return t.repo.CommonDir }

// LockDir returns the directory for locks of the work tree, in its git directory.
// Where several users share the repository it is made, so that they share it, too;
// elsewhere it may be missing.
func (t *Tree) LockDir() (string, error) {
	const name = "codeloops"
	dir := filepath.Join(t.GitDir(), name)
	if t.shared == (shared.Mode{}) {
		return dir, nil
	}
	root, err := os.OpenRoot(t.GitDir())
	if err == nil {
		err = errors.Join(t.shared.MkdirAll(root, name), root.Close())
	}
	if err != nil {
		return "", fmt.Errorf("make %s: %w", dir, err)
	}
	return dir, nil
}

// BaseCommit returns the commit that HEAD was at when the tree was opened, as
// 40 hexadecimal digits; "" on a branch without commits.
func (t *Tree) BaseCommit() string { return t.head.Commit }

// Head returns the commit and the branch that HEAD is at now, either of which
// may be "". Restore does not move it.
func (t *Tree) Head() (commit, branch string, err error) {
	head, err := t.repo.Head()
	if err != nil {
		return "", "", fmt.Errorf("read HEAD: %w", err)
	}
	return head.Commit, head.Branch, nil
}

// Baseline takes the state of the work tree that later captures are compared
// with. The first Checkpoint of it says which session it is that begins.
func (t *Tree) Baseline(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.base, t.last, t.session, t.nests, t.since = nil, nil, "", nests{}, time.Time{}
	began := t.options.Now()
	state, err := t.scan(ctx, nil)
	if err != nil {
		return fmt.Errorf("take the state of %s: %w", t.Root(), err)
	}
	t.begin(state.Root)
	t.since = began
	t.found = t.last
	t.trackedThen = t.tracked.root
	t.setupThen, t.swaysThen = t.setup, t.sways
	t.begins(state)
	t.nests.begin()
	return nil
}

// Capture returns what differs from the baseline.
func (t *Tree) Capture(ctx context.Context) (loop.Change, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.base == nil {
		return loop.Change{}, ErrNoBaseline
	}
	state, err := t.scan(ctx, t.also)
	if err != nil {
		return loop.Change{}, fmt.Errorf("capture what changed in %s: %w", t.Root(), err)
	}
	t.states[stateOf(state.Root)] = state.Root
	warnings := few(state.Warnings)
	git := t.aboutGit()
	warnings = append(warnings, git...)
	warnings = append(warnings, few(t.setup.fakes(t.setupThen, t.fakes))...)
	files, err := t.differences(ctx, state.Root)
	if err != nil {
		return loop.Change{}, fmt.Errorf("capture what changed in %s: %w", t.Root(), err)
	}
	unshown, err := t.unshown(ctx, state, files)
	if err != nil {
		return loop.Change{}, fmt.Errorf("capture what changed in %s: %w", t.Root(), err)
	}
	warnings = append(warnings, unshownWarnings(unshown)...)
	return total(loop.Change{Files: files, State: stateOf(state.Root), Position: t.position(), Warnings: warnings, Git: git, Unshown: unshown}), nil
}

// aboutGit says what git goes by in another way than when the session began.
func (t *Tree) aboutGit() (sentences []string) {
	if t.swaysThen == nil {
		t.swaysThen = t.sways
	}
	for _, changed := range []string{
		t.setup.changedSince(t.setupThen, t.decided.by.Config),
		t.sways.changedSince(t.swaysThen),
	} {
		if changed != "" {
			sentences = append(sentences, changed)
		}
	}
	return sentences
}

// total adds up the lines of a change's files.
func total(c loop.Change) loop.Change {
	for _, f := range c.Files {
		c.Insertions += f.Insertions
		c.Deletions += f.Deletions
	}
	return c
}

// stateOf names a state by the tree object that `git write-tree` would write
// for it.
func stateOf(root *scan.Dir) string { return root.ID().String() }
