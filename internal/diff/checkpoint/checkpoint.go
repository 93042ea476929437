// Package checkpoint keeps a state of a work tree as a commit that no branch
// knows.
package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/shared"
	"codeloops/internal/diff/shown"
	"codeloops/internal/diff/store"
)

// Namespace is where the references to checkpoints are. Git keeps what they
// refer to, and neither fetches nor pushes them by itself.
const Namespace = "refs/codeloops/"

// author signs the commits, whoever the user is to git.
const author = "codeloops <codeloops@localhost>"

// ErrContent is a large file that is to be kept whole, and is no longer what it
// was.
var ErrContent = errors.New("content has changed since")

// A Writer writes the checkpoints of one work tree.
type Writer struct {
	Root      string      // of the work tree
	CommonDir string      // where the references are
	Shared    shared.Mode // of what is written there
	Store     *store.Store
	Now       func() time.Time
}

// A Checkpoint is a state with what is to be said of it.
type Checkpoint struct {
	Ref     string // below [Namespace]; an existing one is moved
	State   *scan.Dir
	Parents []plumbing.Hash
	Message string
	// Branch is the one that HEAD is on, and Index the tree that `git write-tree` would
	// make of the index; "" and zero where there is none. They are for a person to read.
	Branch string
	Index  plumbing.Hash
	// Setup is how git is set up: a [Digest] for each name that tells a person what
	// it is of. Nil: that is not to be said.
	Setup map[string]string
	// Whole are the paths of files that are kept even if they are above
	// [store.Large] and in no object. Of others the commit only says what they
	// were, so that a checkpoint costs no more than what changed.
	Whole map[string]bool
	// Kept is a state of which everything was written before, by Write. May be
	// nil.
	Kept *scan.Dir
}

// Write writes the blobs and trees that are missing, a commit, and the
// reference to it. The commit's tree is the one that `git write-tree` would
// write for the state, if no file is left out. It returns the state as it was
// written, too. The error is a [*RefError] when the reference cannot be there.
func (w *Writer) Write(ctx context.Context, c Checkpoint) (plumbing.Hash, *scan.Dir, error) {
	k := keeping{Writer: w, batch: w.Store.Batch(), whole: c.Whole}
	root, err := k.begin(ctx, c.State, c.Kept)
	if err != nil {
		return plumbing.ZeroHash, nil, fmt.Errorf("write checkpoint %s: %w", c.Ref, err)
	}
	c.Message = appendLeftOut(appendSetup(appendHead(c.Message, c.Branch, c.Index), c.Setup), k.leftOut)
	id := k.batch.Add(plumbing.CommitObject, w.commit(root.ID(), c))
	if err := k.batch.Write(ctx); err != nil {
		return id, nil, fmt.Errorf("write checkpoint %s: %w", c.Ref, err)
	}
	if err := (refs{dir: w.CommonDir, shared: w.Shared}).set(ctx, Namespace+c.Ref, id); err != nil {
		return id, nil, fmt.Errorf("write checkpoint %s: %w", c.Ref, err)
	}
	return id, root, nil
}

func appendHead(message, branch string, index plumbing.Hash) string {
	message = strings.TrimRight(message, "\n") + "\n"
	if branch != "" || !index.IsZero() {
		message += "\n"
	}
	if branch != "" {
		message += "Branch: " + shown.Name(branch) + "\n"
	}
	if !index.IsZero() {
		message += "Index: " + index.String() + "\n"
	}
	return message
}

// commit returns a commit object; the format is that of git-commit-tree(1).
func (w *Writer) commit(tree plumbing.Hash, c Checkpoint) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range c.Parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	at := w.Now().UTC()
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n", author, at.Unix(), author, at.Unix())
	b.WriteString(strings.TrimRight(c.Message, "\n") + "\n")
	return []byte(b.String())
}
