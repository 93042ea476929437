// Package checkpoint keeps a state of a work tree as a commit in a private repository,
// which has all that the commit reaches.
package checkpoint

import (
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
)

// Namespace is where the references to checkpoints are: in the private repository
// and, of sessions of earlier versions, in the user's.
const Namespace = "refs/codeloops/"

// author signs the commits, whoever the user is to git.
const author = "codeloops <codeloops@localhost>"

// A Checkpoint is a state and its description.
type Checkpoint struct {
	Ref     string // below [Namespace]; where there is one, it gets a number behind it
	State   *scan.Dir
	Message string
	// Head is the commit that HEAD is at, Branch the one that it is on, and Index the
	// tree that `git write-tree` would make of the index; "" and zero where there is
	// none.
	Head, Branch string
	Index        plumbing.Hash
	// Setup is how git is set up: a [Digest] for each name that tells a person what
	// it is of. Nil: that is not to be said.
	Setup map[string]string
	// Disk is what a tree object does not say of the files. Its blobs are remembered by
	// the store. Nil: it is not to be said.
	Disk *Disk
	// Kept is a state that a checkpoint of the private repository has. May be nil.
	Kept *scan.Dir
}

// Write writes what is missing of the state, a commit, and the reference to it, all of
// it down to the disk. The commit's tree is the one that `git write-tree` would
// write for the state, if no file is left out. It returns the state as it was
// written, too.
func Write(ctx context.Context, objects *store.Store, at time.Time, c Checkpoint) (id plumbing.Hash, root *scan.Dir, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write checkpoint %s: %w", c.Ref, err)
		}
	}()
	k := keeping{store: objects, at: at}
	if k.batch, err = k.store.Batch(); err != nil {
		return id, nil, err
	}
	if root, err = k.tree(ctx, "", c.State, c.Kept); err != nil {
		return id, nil, err
	}
	beside, err := k.beside(c)
	if err != nil {
		return id, nil, err
	}
	if id, err = k.commit(root.ID(), beside, c.message(k.leftOut)); err == nil {
		err = k.batch.Write(ctx)
	}
	if err == nil {
		err = k.store.Refer(Namespace+c.Ref, id)
	}
	return id, root, err
}

// commit adds a commit object, with a parent that may be zero; the format is that of
// git-commit-tree(1).
func (k *keeping) commit(tree, parent plumbing.Hash, message string) (plumbing.Hash, error) {
	lines := fmt.Sprintf("tree %s\n", tree)
	if !parent.IsZero() {
		lines += fmt.Sprintf("parent %s\n", parent)
	}
	who := fmt.Sprintf("%s %d +0000", author, k.at.Unix())
	return k.batch.Add(plumbing.CommitObject, fmt.Appendf(nil, "%sauthor %s\ncommitter %s\n\n%s", lines, who, who, message))
}
