package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
)

var errCommit = errors.New("bad commit object")

// ErrGone is a checkpoint that is in neither repository.
var ErrGone = errors.New("the checkpoint is not there any more")

// A Kept is what the commit of a checkpoint says.
type Kept struct {
	Setup        map[string]string // as in [Checkpoint]; nil if not known
	Disk         *Disk             // as in [Checkpoint]; nil if not known
	Head, Branch string            // as in [Checkpoint], Branch made printable; "" if not known
	At           time.Time         // when it was written, in seconds; zero if not known

	commit, tree plumbing.Hash
	leftOut      []scan.PathFile
}

// Read reads the commit of a checkpoint.
func Read(ctx context.Context, objects *store.Store, commit plumbing.Hash) (Kept, error) {
	content, err := objects.Commit(ctx, commit)
	if err != nil && !objects.Has(ctx, commit) {
		err = fmt.Errorf("%w: %w", ErrGone, err)
	}
	if err != nil {
		return Kept{}, fmt.Errorf("read checkpoint %s: %w", commit, err)
	}
	tree, err := treeOf(content)
	if err != nil {
		return Kept{}, fmt.Errorf("read checkpoint %s: %w", commit, err)
	}
	head, text, _ := strings.Cut(string(content), "\n\n")
	return Kept{
		At: writtenAt(head), Setup: parseSetup(text), Disk: DiskOf(text), Head: field(text, headLine), Branch: field(text, branchLine),
		commit: commit, tree: tree, leftOut: LeftOut(text),
	}, nil
}

// treeOf returns the tree that a commit object names.
func treeOf(content []byte) (plumbing.Hash, error) {
	first, _, _ := strings.Cut(string(content), "\n")
	tree, found := strings.CutPrefix(first, "tree ")
	if !found || !plumbing.IsHash(tree) {
		return plumbing.ZeroHash, errCommit
	}
	return plumbing.NewHash(tree), nil
}

// Files returns the files of any commit. Its message says nothing: anybody may have written it. The state shares equal
// directories with like, which may be nil.
func Files(ctx context.Context, objects *store.Store, commit plumbing.Hash, like *scan.Dir) (*scan.Dir, error) {
	var tree plumbing.Hash
	content, err := objects.Commit(ctx, commit)
	if err == nil {
		tree, err = treeOf(content)
	}
	if err != nil {
		return nil, fmt.Errorf("read commit %s: %w", commit, err)
	}
	return scan.Load(ctx, tree, like, objects.Tree)
}

// field returns the rest of the first line with a prefix.
func field(message, begin string) string {
	_, rest, _ := strings.Cut("\n"+message, "\n"+begin)
	rest, _, _ = strings.Cut(rest, "\n")
	return rest
}

// Nested returns the paths of nested repositories whose commits and files are kept.
func (k Kept) Nested() (paths []string) {
	for _, f := range k.leftOut {
		if f.Mode == scan.Gitlink {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// State returns the kept state. It shares equal directories with like, which may be nil.
func (k Kept) State(ctx context.Context, objects *store.Store, like *scan.Dir) (*scan.Dir, error) {
	if !objects.Owns(k.commit) { // it is of an earlier version
		_ = objects.Adopt(ctx, k.tree) // if that fails, its objects are read one by one
	}
	state, err := scan.Load(ctx, k.tree, like, objects.Tree)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", k.commit, err)
	}
	return state.With(k.leftOut), nil
}

// Last returns the state of the last checkpoint in the private repository, or nil. It shares equal
// directories with like.
func Last(ctx context.Context, objects *store.Store, like *scan.Dir) *scan.Dir {
	commit := objects.Newest(Namespace)
	if commit.IsZero() {
		return nil
	}
	kept, err := Read(ctx, objects, commit)
	if err != nil {
		return nil
	}
	state, _ := scan.Load(ctx, kept.tree, like, objects.Tree)
	return state
}

// writtenAt returns the commit time, if we are the committer.
func writtenAt(head string) time.Time {
	_, line, _ := strings.Cut(head, "\ncommitter "+author+" ")
	seconds, _, _ := strings.Cut(line, " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(at, 0)
}
