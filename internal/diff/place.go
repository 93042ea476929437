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
	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
	"codeloops/internal/loop"
	"codeloops/internal/repo"
	"codeloops/internal/wording"
)

// A place is a work tree with the tools to read it. It does not change after Open.
type place struct {
	options Options
	dir     string // where the session began
	repo    *repo.Repository
	shared  fs.FileMode // of a lock in it
	clock   scan.Clock  // of the file systems of the work tree and of the repository
	git     *gitRunner
	store   *store.Store
	alone   bool // scans use one processor, see [Tree.Peek]
}

// A start is what was recorded when the session began, to compare later scans with. It reveals what
// was later hidden, or changed, without a trace in git.
type start struct {
	since time.Time // when the session began, or was resumed; zero before that
	head  repo.Head // when the baseline was taken, or else when the tree was opened
	base  *scan.Dir
	// found is the baseline if a scan has found it. It is nil if a checkpoint was read: that
	// state can share directories with the index, whose stats anybody can have written since.
	found *scan.Dir
	// trackedThen is the content of the index when the baseline was taken, nil if that was
	// in another process.
	trackedThen *scan.Dir
	// cutThen are the files that a sparse checkout left out of the work tree; nil if there were none.
	cutThen        *scan.Dir
	setupThen      setup
	overridesThen  setup    // nil if not known
	ignoredThen    setup    // digests of what no diff shows, see [watcher.ignoredOf]; nil if not known
	outsideThen    []string // ignore rules from outside the work tree, the user's first
	ignoreCaseThen bool
	// beganBy is the latest time at which the session can have begun, set where the stats that
	// files had then are not known.
	beganBy time.Time
	session string // the first checkpoint of the session, or ""
}

// BaseCommit returns the commit that HEAD was at when the baseline was taken, or else when the
// tree was opened, as 40 hexadecimal digits. It is "" on a branch without commits.
func (s *start) BaseCommit() string { return s.head.Commit }

// A seen is the result of the last scan, and everything that it depends on.
type seen struct {
	state     scan.State // zero if there is none since the session began, or was resumed
	cutSince  []string   // the files in it that [watcher.asBefore] has added, sorted
	tracked   tracked
	rules     *ignore.Rules
	how       attr.Conversion // of files
	opened    opened
	nests     nests
	elsewhere string // the git directory that git finds, if it is another one
	// withheld are the files whose content is not shown, see [capture.exposed]. It is replaced, never changed.
	withheld map[string]bool
}

// An opened is a repository with the settings that it has at some time.
type opened struct {
	*repo.Repository
	*repo.Config
}

func openedAt(dir string, environ []string) (opened, error) {
	r, err := repo.Open(dir, environ)
	if err != nil {
		return opened{}, err
	}
	settings, err := r.Config()
	return opened{r, settings}, err
}

// Repository returns the repository with the settings that it had at the last scan, or else when the tree was opened.
func (t *Tree) Repository() (*repo.Repository, *repo.Config) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.opened.Repository, t.opened.Config
}

// A watcher scans a work tree repeatedly.
type watcher struct {
	place
	start
	seen
}

// A memory holds the states that the session knows by name, and what is known of checkpoints.
type memory struct {
	states   map[string]*scan.Dir // by loop.Change.State
	kept     *scan.Dir            // the last state whose objects were all written
	disk     disk
	recalled map[string]checkpoint.Kept // the checkpoints of states, see [Tree.Recall]
}

// name registers a state and returns its [loop.Change.State].
func (m *memory) name(root *scan.Dir) string {
	state := root.ID().String() // of the tree object that `git write-tree` would write
	if _, known := m.states[state]; !known {
		m.states[state] = root
	}
	return state
}

// version returns what is known of a state.
func (m *memory) version(state string) version {
	return version{m.states[state], m.recalled[state].Disk}
}

// clockOf returns the worst of the clocks of a repository's file systems.
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

// Root returns the absolute path of the work tree, free of symbolic links.
func (p *place) Root() string { return p.repo.WorkTree }

// GitDir returns the absolute path of the work tree's git directory.
func (p *place) GitDir() string { return p.repo.GitDir }

// CommonDir returns the absolute path of the git directory that all work trees of the repository
// share, also of a task. It is GitDir unless this is a linked work tree.
func (p *place) CommonDir() string { return p.repo.Family }

// LockMode returns the permissions of a lock file in the git directory: everybody who shares the
// repository must be able to take it.
func (p *place) LockMode() os.FileMode { return p.shared }

// sharedMode returns the permissions of a private file under core.sharedRepository, by
// git-config(1) and the option --shared of git-init(1). Values that git rejects are errors.
// Windows has no such permissions.
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
		return 0, fmt.Errorf("git configuration %s = %q would keep the owner from reading or writing files, which git rejects", key, value)
	case notBool != nil:
		return 0, fmt.Errorf("%w, nor umask, group, all or an octal number", notBool)
	case yes:
		return group, nil
	}
	return own, nil
}

// Head returns the commit and the branch that HEAD is at now. Either may be "".
func (p *place) Head() (commit, branch string, err error) {
	head, err := p.repo.Head()
	if err != nil {
		return "", "", fmt.Errorf("read HEAD: %w", err)
	}
	return head.Commit, head.Branch, nil
}

// The references that matter besides HEAD.
const (
	tags         = "refs/tags/"
	replacements = "refs/replace/" // replaced objects
)

// position returns where the repository stood at the last scan.
func (w *watcher) position() loop.Position {
	var all strings.Builder
	refs := w.repo.Refs(tags)
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		fmt.Fprintf(&all, "%q %q\n", name, refs[name])
	}
	return loop.Position{Head: w.where(), Index: w.tracked.digest(), Tags: checkpoint.Digest(all.String())}
}

// where says in words where HEAD is.
func (p *place) where() string {
	head, err := p.repo.Head()
	switch {
	case err != nil:
		return "a place that cannot be read"
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

// Blob returns the content of a blob of the baseline or the repository, given its full id.
func (p *place) Blob(ctx context.Context, id string) ([]byte, error) {
	return p.store.Blob(ctx, plumbing.NewHash(id))
}
