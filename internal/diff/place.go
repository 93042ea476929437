package diff

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
	"codeloops/internal/loop"
	"codeloops/internal/repo"
	"codeloops/internal/wording"
)

// A place is where a work tree is, and what works on it: it does not change after Open.
type place struct {
	options Options
	dir     string // where the session began
	repo    *repo.Repository
	shared  fs.FileMode // of a lock in it
	clock   scan.Clock  // of the file systems of the work tree and of the repository
	git     *gitRunner
	store   *store.Store
	alone   bool // looks take one processor, see [Tree.Peek]
}

// A start is the state of things when the session began, with which later scans are
// compared.
type start struct {
	since time.Time // the session began, or this part of it; zero before that
	head  repo.Head // of then, or of when the tree was opened
	base  *scan.Dir
	// found is the baseline that was found here; nil for one that was read from a
	// checkpoint: it may be the index's own in parts, with stats that anybody can
	// have written there since.
	found *scan.Dir
	// trackedThen is what the index had when the baseline was taken, nil when
	// that was not here.
	trackedThen   *scan.Dir
	setupThen     setup
	overridesThen setup // nil: not known
	began         begun
	session       string // the checkpoint that it began with; "" before there is one
}

// BaseCommit returns the commit that HEAD was at when the baseline was taken, or else
// when the tree was opened, as 40 hexadecimal digits; "" on a branch without commits.
func (s *start) BaseCommit() string { return s.head.Commit }

// A seen is the result of the last scan: the state, and everything that decides how it
// is seen.
type seen struct {
	last      *scan.Dir
	tracked   tracked
	rules     *rules
	how       attr.Conversion // of files
	config    *repo.Config
	setup     setup
	overrides overrides
	nests     nests
	within    []string            // directories that ignore themselves, see [scan.State.Hidden]
	whole     []string            // those that were passed over, see [scan.State.Passed]
	fakes     map[string][]string // see [Tree.nestSetup]
	elsewhere string              // the git directory of the repository that git finds, if it is another one
}

// A watcher looks at a work tree again and again: it finds its state, and how git sees
// it.
type watcher struct {
	place
	start
	seen
}

// A memory holds the states that the session knows by name, and which of them are kept.
type memory struct {
	states map[string]*scan.Dir // by loop.Change.State
	kept   *scan.Dir            // the last state of which all objects were written
	disk   disk
	said   map[string]checkpoint.Kept // of the states that were recalled
}

// name returns the [loop.Change.State] that names a state, which is known from then on.
func (m *memory) name(root *scan.Dir) string {
	state := root.ID().String() // of the tree object that `git write-tree` would write
	if _, known := m.states[state]; !known {
		if m.states == nil {
			m.states = make(map[string]*scan.Dir)
		}
		m.states[state] = root
	}
	return state
}

// clockOf returns the worst of the clocks.
func clockOf(r *repo.Repository, of func(dir string) scan.Clock) scan.Clock {
	if of == nil {
		of = scan.ClockOf
	}
	c := scan.Clock{Keeps: true}
	for _, dir := range []string{r.WorkTree, r.GitDir, r.CommonDir} {
		own := of(dir)
		c = scan.Clock{Slack: max(c.Slack, own.Slack), Keeps: c.Keeps && own.Keeps}
	}
	return c
}

// Since returns the earliest time that a file can bear that is written from now on.
func (p *place) Since() time.Time { return p.options.Now().Add(-p.clock.Slack) }

// Root returns the absolute path of the work tree, free of symbolic links.
func (p *place) Root() string { return p.repo.WorkTree }

// GitDir returns the absolute path of the work tree's git directory.
func (p *place) GitDir() string { return p.repo.GitDir }

// CommonDir returns the absolute path of the git directory that the work tree shares
// with others of its repository; it is GitDir where there is one work tree alone.
func (p *place) CommonDir() string { return p.repo.CommonDir }

// LockMode returns the permissions of a lock in the git directory: whoever shares the
// repository may take it.
func (p *place) LockMode() os.FileMode { return p.shared }

// sharedMode returns the permissions that a configuration asks for, by git-config(1) and the
// option --shared of git-init(1), of a file that nobody else would have a part in. What git
// refuses is an error. On Windows there are no such permissions.
func sharedMode(c *repo.Config) (fs.FileMode, error) {
	const key, own, group, all = "core.sharedRepository", 0o600, 0o660, 0o664
	value, _ := c.String(key)
	n, err := strconv.ParseInt(strings.TrimLeft(value, " \t"), 8, 64)
	octal := err == nil // 0 to 2 are what old repositories have
	yes, notBool := c.Bool(key, false)
	switch {
	case runtime.GOOS == "windows", value == "umask", octal && n == 0:
		return own, nil
	case value == "group", octal && n == 1:
		return group, nil
	case value == "all", value == "world", value == "everybody", octal && n == 2:
		return all, nil
	case octal && n&own == own:
		return fs.FileMode(n & 0o666), nil
	case octal:
		return 0, fmt.Errorf("git configuration %s = %q keeps the owner of files from reading or writing them, which git refuses", key, value)
	case notBool != nil:
		return 0, fmt.Errorf("%w, nor umask, group, all or an octal number", notBool)
	case yes:
		return group, nil
	}
	return own, nil
}

// Head returns the commit and the branch that HEAD is at now, either of which
// may be "".
func (p *place) Head() (commit, branch string, err error) {
	head, err := p.repo.Head()
	if err != nil {
		return "", "", fmt.Errorf("read HEAD: %w", err)
	}
	return head.Commit, head.Branch, nil
}

// The references that are looked at, beside HEAD.
const (
	tags         = "refs/tags/"
	replacements = "refs/replace/" // objects that git shows others in the place of
)

// position says where the repository stood at the last scan.
func (w *watcher) position() loop.Position {
	var all strings.Builder
	refs := w.repo.RefsBelow(tags)
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		fmt.Fprintf(&all, "%q %q\n", name, refs[name])
	}
	return loop.Position{Head: w.where(), Index: w.tracked.digest(), Tags: checkpoint.Digest(all.String())}
}

// where says where HEAD is.
func (p *place) where() string {
	head, err := p.repo.Head()
	switch {
	case err != nil:
		return "what cannot be read"
	case head.Commit == "":
		return fmt.Sprintf("%q without commits", head.Branch)
	}
	return whereIs(head.Commit, wording.Name(head.Branch))
}

func whereIs(commit, branch string) string {
	if branch == "" {
		return short(commit)
	}
	return fmt.Sprintf("%q at %s", branch, short(commit))
}

func short(commit string) string { return commit[:min(len(commit), 12)] }

// Blob returns the content of a blob by its whole id: of a file of the
// baseline, or of whatever else the repository holds.
func (p *place) Blob(ctx context.Context, id string) ([]byte, error) {
	return p.store.Blob(ctx, plumbing.NewHash(id))
}
