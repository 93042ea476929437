package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
)

var errCommit = errors.New("bad commit object")

// Read returns the state that the commit of a checkpoint keeps. It shares with
// what like returns, which may be nil, what is the same. That is asked for once
// the commit has been read.
func Read(ctx context.Context, objects *store.Store, commit plumbing.Hash, like func() *scan.Dir) (*scan.Dir, error) {
	content, err := objects.Commit(ctx, commit)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", commit, err)
	}
	tree, err := treeOf(content)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", commit, err)
	}
	state, err := scan.Load(ctx, tree, like(), objects.Tree)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint %s: %w", commit, err)
	}
	_, message, _ := bytes.Cut(content, []byte("\n\n"))
	return state.With(parseLeftOut(string(message))), nil
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
