// Package checkpoint keeps a state of a work tree as a commit in a private repository,
// which has all that the commit reaches.
package checkpoint

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
	"codeloops/internal/wording"
)

// Namespace is where the references to checkpoints are: in the private repository
// and, of sessions of earlier versions, in the user's.
const Namespace = "refs/codeloops/"

// author signs the commits, whoever the user is to git.
const author = "codeloops <codeloops@localhost>"

// A Writer writes the checkpoints of one work tree.
type Writer struct {
	Store *store.Store
	Now   func() time.Time
}

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
func (w *Writer) Write(ctx context.Context, c Checkpoint) (id plumbing.Hash, root *scan.Dir, err error) {
	if id, root, err = w.write(ctx, c); err != nil {
		return id, nil, fmt.Errorf("write checkpoint %s: %w", c.Ref, err)
	}
	return id, root, nil
}

func (w *Writer) write(ctx context.Context, c Checkpoint) (id plumbing.Hash, root *scan.Dir, err error) {
	batch, err := w.Store.Batch()
	if err != nil {
		return id, nil, err
	}
	k := keeping{Writer: w, batch: batch}
	if root, err = k.tree(ctx, "", c.State, c.Kept); err != nil {
		return id, nil, err
	}
	var parents []plumbing.Hash
	beside, err := k.beside(c)
	if err != nil {
		return id, nil, err
	}
	if !beside.IsZero() {
		parents = append(parents, beside)
	}
	c.Message = appendLeftOut(appendDisk(appendSetup(appendHead(c), c.Setup), c.Disk), k.leftOut)
	if id, err = batch.Add(plumbing.CommitObject, w.commit(root.ID(), parents, c.Message)); err == nil {
		err = batch.Write(ctx)
	}
	if err == nil {
		err = w.Store.Refer(Namespace+c.Ref, id)
	}
	return id, root, err
}

// headLine and branchLine begin the lines that say where HEAD was.
const (
	headLine   = "Head: "
	branchLine = "Branch: "
)

// appendHead returns the message with what is said of HEAD and the index.
func appendHead(c Checkpoint) string {
	var lines string
	if c.Head != "" {
		lines += headLine + c.Head + "\n"
	}
	if c.Branch != "" {
		lines += branchLine + wording.Name(c.Branch) + "\n"
	}
	if !c.Index.IsZero() {
		lines += "Index: " + c.Index.String() + "\n"
	}
	if lines != "" {
		lines = "\n" + lines
	}
	return strings.TrimRight(c.Message, "\n") + "\n" + lines
}

// commit returns a commit object; the format is that of git-commit-tree(1).
func (w *Writer) commit(tree plumbing.Hash, parents []plumbing.Hash, message string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, parent := range parents {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	at := w.Now().UTC()
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n", author, at.Unix(), author, at.Unix())
	b.WriteString(strings.TrimRight(message, "\n") + "\n")
	return []byte(b.String())
}
