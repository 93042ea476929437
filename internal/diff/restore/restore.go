// Package restore makes files of a work tree what they once were, all of them or none,
// and keeps whatever stood in their place.
//
// First what is there is copied to a private directory, and what is to come is written
// to a private directory of the work tree, a stage. Only then each file is moved into
// the stage, and the new one linked into its place. A journal in the private directory
// says what has begun: whoever finds it puts the files back that were there, or clears
// up behind a restore that was done.
package restore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"codeloops/internal/wording"
)

// A Kind is what stands at a path.
type Kind string

// The kinds that a work tree can have. A Place is an empty directory, where a
// repository was, or is to be.
const (
	Nothing Kind = ""
	File    Kind = "file"
	Link    Kind = "link"
	Place   Kind = "place"
)

// A State is what a path is to be.
type State struct {
	Kind Kind
	Perm fs.FileMode // of a file
	// Open returns the content of a file, or the target of a link.
	Open func(context.Context) (io.ReadCloser, error)
	Err  error // why there is no content; nil: there is
}

// A PathChange says what was found at a path and what is to be there.
type PathChange struct {
	Path   string // slash-separated, from the root of the work tree
	Before Kind
	After  State
}

// A Plan is the set of changes that a restore makes in a work tree.
type Plan struct {
	Title   string // what the files are put back to, for people
	Changes []PathChange
	// Still, unless it is nil, is asked when what is there is kept, and nothing is changed yet. Then
	// all is put back where somebody saves something in the same moment: the error is [ErrInTheWay] or
	// [ErrChanged].
	Still func(context.Context) error
	// Dirs are the permissions of directories that may have to be made; of others they
	// are what umask gives.
	Dirs map[string]fs.FileMode
}

// A Keep is the private directory in which restores keep what they take away. No two
// processes may use the same work tree with it at a time.
type Keep struct {
	Dir string // made when it is missing
	Now func() time.Time

	step func(string) error // before each step, in tests
}

// Done is the result of a restore.
type Done struct {
	Kept string // the name of what was taken away; "" where nothing was
	Dir  string // where that is, as files with their paths
	// Stayed are the paths at which something came up while the restore went on: it is
	// still there, and not what was to be.
	Stayed []string
	// Later are the paths of which something is kept that was written while the restore went on.
	Later []string
}

// A RefusedError says why a restore was not begun.
type RefusedError struct {
	Problems []string
	causes   []error
}

// Unwrap returns the problems' causes.
func (e *RefusedError) Unwrap() []error { return e.causes }

func (e *RefusedError) Error() string {
	const most = 10
	lines := e.Problems[:min(most, len(e.Problems))]
	if more := len(e.Problems) - len(lines); more > 0 {
		lines = append(slices.Clone(lines), fmt.Sprintf("and %d more", more))
	}
	return "nothing was changed, because not all files can be put back:\n" + strings.Join(lines, "\n")
}

// Restore makes the changes in a work tree, or none of them. An error that is no
// [*UnfinishedError] leaves the files as they were.
func (k *Keep) Restore(ctx context.Context, workTree string, p Plan) (Done, error) {
	changes := slices.SortedFunc(slices.Values(p.Changes), func(a, b PathChange) int { return cmp.Compare(a.Path, b.Path) })
	root, err := os.OpenRoot(workTree)
	if err != nil {
		return Done{}, err
	}
	defer root.Close() //nolint:errcheck // what was written through it is synced
	j, err := plan(root, changes)
	if err != nil {
		return Done{}, err
	}
	j.Title, j.WorkTree, j.At = p.Title, workTree, k.Now().UTC()
	on, err := k.begin(j)
	if err != nil {
		return Done{}, fmt.Errorf("keep what is there: %w", err)
	}
	defer on.close()
	w := &work{journal: on, root: root, perms: p.Dirs, alone: p.Still != nil, step: k.step}
	err = w.prepare(ctx, changes)
	if err == nil && w.alone {
		err = p.Still(ctx)
	}
	if err == nil {
		err = w.apply(ctx)
	}
	if err == nil {
		err = w.save(done)
	}
	if err != nil {
		if back := w.back(); back != nil {
			return Done{}, &UnfinishedError{Kept: w.dir, cause: err, back: back}
		}
		return Done{}, fmt.Errorf("nothing was changed: %w", err)
	}
	stayed := w.stayed()
	if err := w.finish(context.WithoutCancel(ctx)); err != nil {
		return Done{}, &UnfinishedError{Kept: w.dir, back: err}
	}
	return Done{Kept: w.name, Dir: w.keptFiles(), Stayed: stayed, Later: w.later}, nil
}

// UnfinishedError says that a restore broke off and could not put everything back. The
// next [Keep.Recover] goes on with it.
type UnfinishedError struct {
	Kept        string // where everything is that was there
	cause, back error
}

func (e *UnfinishedError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("all files are put back, but what was moved aside could not be cleared away: %v\nit is kept in %s", e.back, e.Kept)
	}
	return fmt.Sprintf("%v\nnor could all files be put back that were there: %v\nthey are kept in %s", e.cause, e.back, e.Kept)
}

// Unwrap returns both causes.
func (e *UnfinishedError) Unwrap() []error { return []error{e.cause, e.back} }

// work is one restore in one work tree, going on or broken off.
type work struct {
	*journal
	root  *os.Root
	perms map[string]fs.FileMode // of directories that may have to be made
	alone bool                   // see [Plan.Still]
	dirty map[string]bool        // directories that are to be synced
	later []string               // see [Done.Later]
	step  func(string) error
}

// at is called before each step that changes something.
func (w *work) at(step string) error {
	if w.step == nil {
		return nil
	}
	return w.step(step)
}

// plan checks the changes, and returns the journal of them.
func plan(root *os.Root, changes []PathChange) (*record, error) {
	c := &checking{root: root, going: make(map[string]bool)}
	for _, change := range changes {
		if change.Before != Nothing {
			c.going[change.Path] = true
		}
	}
	refused := &RefusedError{}
	for _, change := range changes {
		if err := c.check(change); err != nil {
			refused.Problems = append(refused.Problems, fmt.Sprintf("%s: %v", wording.Path(change.Path), err))
			refused.causes = append(refused.causes, err)
		}
	}
	if refused.causes != nil {
		return nil, refused
	}
	r := &record{Token: rand.Text()[:10]}
	dirs := make(map[string]fs.FileMode)
	stages := make(map[uint64]int)
	for _, change := range changes {
		m := move{Path: name(change.Path), Before: change.Before, After: change.After.Kind, Perm: change.After.Perm}
		dir, device := c.above(path.Dir(change.Path))
		at, known := stages[device]
		if !known {
			at = len(r.Stages)
			stages[device] = at
			r.Stages = append(r.Stages, name(c.top(dir, device)))
		}
		m.Stage = at
		r.Moves = append(r.Moves, m)
		for dir := path.Dir(change.Path); dir != "."; dir = path.Dir(dir) {
			if info, err := root.Lstat(dir); err == nil && info.IsDir() {
				dirs[dir] = info.Mode().Perm()
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		r.Dirs = append(r.Dirs, folder{name(dir), dirs[dir]})
	}
	return r, nil
}

// What somebody else has done in the work tree, so that a restore is not made.
var (
	ErrInTheWay = errors.New("something is in the way that is no part of the session's files")
	ErrChanged  = errors.New("it has changed since it was looked at: try again")
)
