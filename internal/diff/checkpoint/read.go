package checkpoint

import (
	"bytes"
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

// A Kept is what the commit of a checkpoint says.
type Kept struct {
	// Setup is how git was set up, as in [Checkpoint]; nil when it is not said.
	Setup map[string]string
	// At is when it was written, down to the second; zero when that is not said.
	At time.Time

	commit, tree plumbing.Hash
	leftOut      []scan.Placed
}

// Read reads the commit of a checkpoint.
func Read(ctx context.Context, objects *store.Store, commit plumbing.Hash) (Kept, error) {
	content, err := objects.Commit(ctx, commit)
	if err != nil {
		return Kept{}, fmt.Errorf("read checkpoint %s: %w", commit, err)
	}
	tree, err := treeOf(content)
	if err != nil {
		return Kept{}, fmt.Errorf("read checkpoint %s: %w", commit, err)
	}
	head, message, _ := bytes.Cut(content, []byte("\n\n"))
	return Kept{At: writtenAt(string(head)), Setup: parseSetup(string(message)), commit: commit, tree: tree, leftOut: parseLeftOut(string(message))}, nil
}

// Nested returns the paths of the repositories whose files are kept with their
// commits.
func (k Kept) Nested() (paths []string) {
	for _, f := range k.leftOut {
		if f.Mode == scan.Gitlink {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// State returns the state that is kept. It shares with like, which may be nil, what
// is the same.
func (k Kept) State(ctx context.Context, objects *store.Store, like *scan.Dir) (*scan.Dir, error) {
	state, err := scan.Load(ctx, k.tree, like, objects.Tree)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", k.commit, err)
	}
	return state.With(k.leftOut), nil
}

// treeOf reads the first line of a commit: "tree <id>".
func treeOf(commit []byte) (plumbing.Hash, error) {
	line, _, _ := bytes.Cut(commit, []byte{'\n'})
	id, found := bytes.CutPrefix(line, []byte("tree "))
	if !found || !plumbing.IsHash(string(id)) {
		return plumbing.ZeroHash, errCommit
	}
	return plumbing.NewHash(string(id)), nil
}

// writtenAt reads the line of a commit that names the committer, the time behind it.
func writtenAt(head string) time.Time {
	_, line, _ := strings.Cut(head, "\ncommitter ")
	line, _, _ = strings.Cut(line, "\n")
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(fields[len(fields)-2], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
