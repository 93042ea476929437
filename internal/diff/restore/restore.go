// Package restore returns files of a work tree to an earlier state, all of them or none,
// and keeps a copy of whatever it replaces.
//
// It first copies the current files to a private directory, and writes the new ones to a
// private directory in the work tree, the stage. Only then does it move each old file
// into the stage and link the new one into place. A journal in the private directory
// records the progress: after a crash, the next process rolls the restore back, or cleans
// up after one that was complete.
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
	"slices"
	"strings"
	"time"

	"codeloops/internal/wording"
)

// A Kind is the type of what is at a path.
type Kind string

// The kinds in a work tree. A Place is an empty directory that holds the place of a
// nested repository.
const (
	Nothing Kind = ""
	File    Kind = "file"
	Link    Kind = "link"
	Place   Kind = "place"
)

// A State is the target state of a path.
type State struct {
	Kind Kind
	Perm fs.FileMode // of a file
	// Open returns the content of a file, or the target of a link.
	Open func(context.Context) (io.ReadCloser, error)
	Err  error // why the content is not available, or nil
}

// A PathChange says what was found at a path and what is to replace it.
type PathChange struct {
	Path   string // slash-separated, from the root of the work tree
	Before Kind
	After  State
}

// A Plan is the set of changes that a restore makes in a work tree.
type Plan struct {
	Title   string // what the files are put back to, for people
	Changes []PathChange
	// Confirm, if set, makes the restore strict. It is called once the current files have been
	// copied, before anything is changed, and can veto the restore. From then on, the restore
	// is rolled back if somebody else changes one of the paths: the error is [ErrInTheWay]
	// or [ErrChanged].
	Confirm func(context.Context) error
	// Dirs are the permissions of directories that may have to be made. For any other, umask
	// decides.
	Dirs map[string]fs.FileMode
}

// A Keep is the private directory in which restores keep the files that they replace. Only
// one process at a time may use it with the same work tree.
type Keep struct {
	Dir string // made if missing
	Now func() time.Time

	step func(string) error // called before each step, in tests
}

// Done is the result of a restore.
type Done struct {
	Kept string // the name of what was kept
	Dir  string // the directory with the kept files, under their paths
	// Stayed are the paths at which somebody else created or saved something during the
	// restore. It was left there.
	Stayed []string
	// Later are the paths whose kept file was written to during the restore.
	Later []string
}

// A RefusedError says why a restore was not started.
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

// Restore makes all of the changes in a work tree, or none. After any error but an
// [*UnfinishedError] the files are as they were.
func (k *Keep) Restore(ctx context.Context, workTree string, p Plan) (Done, error) {
	root, err := os.OpenRoot(workTree)
	if err != nil {
		return Done{}, err
	}
	defer root.Close() //nolint:errcheck // what was written through it is synced
	j, err := plan(root, p.Changes)
	if err != nil {
		return Done{}, err
	}
	j.Title, j.WorkTree, j.At = p.Title, workTree, k.Now().UTC()
	if err := k.begin(j); err != nil {
		return Done{}, fmt.Errorf("keep what is there: %w", err)
	}
	defer j.close()
	w := &work{journal: j, root: root, perms: p.Dirs, dirty: make(map[string]bool), strict: p.Confirm != nil, step: k.step}
	err = w.prepare(ctx)
	if err == nil && w.strict {
		err = p.Confirm(ctx)
	}
	if err == nil {
		err = w.apply(ctx)
	}
	if err == nil {
		err = w.save(done)
	}
	if err != nil {
		if back := w.rollBack(ctx); back != nil {
			return Done{}, &UnfinishedError{Kept: w.dir, cause: err, back: back}
		}
		return Done{}, fmt.Errorf("nothing was changed: %w", err)
	}
	stayed := w.stayed()
	if err := w.finish(ctx); err != nil {
		return Done{}, &UnfinishedError{Kept: w.dir, back: err}
	}
	return Done{Kept: w.name, Dir: w.keptFiles(), Stayed: stayed, Later: w.later}, nil
}

// An UnfinishedError is a restore that failed and could not be rolled back, or not be cleaned
// up. The next [Keep.Recover] continues.
type UnfinishedError struct {
	Kept        string // the directory with the original files
	cause, back error
}

func (e *UnfinishedError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("all files are put back, but the files they replaced could not be removed: %v\nthey are kept in %s", e.back, e.Kept)
	}
	return fmt.Sprintf("%v\nand not all of the original files could be put back: %v\nthey are kept in %s", e.cause, e.back, e.Kept)
}

// Unwrap returns both causes.
func (e *UnfinishedError) Unwrap() []error { return []error{e.cause, e.back} }

// work is one restore in one work tree, running or interrupted.
type work struct {
	*journal
	root     *os.Root
	perms    map[string]fs.FileMode // see [Plan.Dirs]
	dirty    map[string]bool        // directories to sync
	unsynced unsynced
	strict   bool     // see [Plan.Confirm]
	later    []string // see [Done.Later]
	step     func(string) error
}

// kind returns the kind of what is at a path now. It is an error if the path leads through a
// symbolic link.
func (w *work) kind(name string) (Kind, error) { return going(nil).kind(w.root, name) }

// at announces a step that changes something.
func (w *work) at(step string) error {
	if w.step == nil {
		return nil
	}
	return w.step(step)
}

// each goes through all moves, up to the first error, which then says what was done to which path.
func (w *work) each(doing string, do func(i int, m *move) error) error {
	for i := range w.Moves {
		m := &w.Moves[i]
		if err := do(i, m); err != nil {
			return fmt.Errorf("%s%s: %w", doing, wording.Path(string(m.Path)), err)
		}
	}
	return nil
}

// plan checks the changes, and returns the journal of them.
func plan(root *os.Root, changes []PathChange) (*journal, error) {
	changes = slices.SortedFunc(slices.Values(changes), func(a, b PathChange) int { return cmp.Compare(a.Path, b.Path) })
	away := make(going)
	for _, change := range changes {
		if change.Before != Nothing {
			away[change.Path] = true
		}
	}
	refused := &RefusedError{}
	for _, change := range changes {
		if err := away.check(root, change); err != nil {
			refused.Problems = append(refused.Problems, fmt.Sprintf("%s: %v", wording.Path(change.Path), err))
			refused.causes = append(refused.causes, err)
		}
	}
	if refused.causes != nil {
		return nil, refused
	}
	j := &journal{Token: rand.Text()[:10]}
	var comes []move
	were := make(map[Name]folder)
	for _, change := range changes {
		dirs := above(root, change.Path)
		top := dirs[0] // the highest on the same file system
		for _, dir := range dirs {
			if dir.device != top.device {
				break
			}
			top = dir
		}
		for _, dir := range dirs[:len(dirs)-1] {
			were[dir.Path] = dir
		}
		stage := slices.Index(j.Stages, top.Path)
		if stage < 0 {
			stage = len(j.Stages)
			j.Stages = append(j.Stages, top.Path)
		}
		m := move{Path: Name(change.Path), Before: change.Before, After: change.After.Kind, Perm: change.After.Perm, Stage: stage, to: change.After}
		if m.After == Nothing {
			j.Moves = append(j.Moves, m)
		} else {
			comes = append(comes, m)
		}
	}
	slices.Reverse(j.Moves)
	j.Moves = append(j.Moves, comes...)
	j.Dirs = slices.SortedFunc(maps.Values(were), func(a, b folder) int { return cmp.Compare(a.Path, b.Path) })
	return j, nil
}

// Reasons for not making a restore: somebody else has worked in the work tree.
var (
	ErrInTheWay = errors.New("something is in the way that is no part of the session's files")
	ErrChanged  = errors.New("it has changed since it was looked at: try again")
)
