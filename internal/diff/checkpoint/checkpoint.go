// Package checkpoint keeps a state of a work tree as a commit in a private repository, with
// everything that the commit reaches.
package checkpoint

import (
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
)

// Namespace is the prefix of references to checkpoints, in the private repository or, for sessions
// of earlier versions, in the user's.
const Namespace = "refs/codeloops/"

// author is the author of the commits, whatever the user's git identity is.
const author = "codeloops <codeloops@localhost>"

// A Checkpoint is a state and its description.
type Checkpoint struct {
	Ref     string // below [Namespace]; if it is taken, a number is appended
	State   *scan.Dir
	Message string
	// Head and Branch are the commit and the branch that HEAD is at, and Index is the tree that
	// `git write-tree` would make of the index; "" and zero if there is none.
	Head, Branch string
	Index        plumbing.Hash
	// Setup says how git is set up: a [Digest] for each name, which tells a person where to
	// look. Nil leaves it out.
	Setup map[string]string
	// Disk is what a tree object cannot say about the files. The store has its blobs. Nil leaves
	// it out.
	Disk *Disk
	// Kept is the state of an existing checkpoint in the private repository, or nil.
	Kept *scan.Dir
}

// Write writes the missing objects of the state, a commit, and the reference to it, and syncs all
// of it. The commit's tree is the one that `git write-tree` would write for the state, if no
// file is left out. It also returns the state as it was written.
func Write(ctx context.Context, objects *store.Store, at time.Time, c Checkpoint) (id plumbing.Hash, root *scan.Dir, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write checkpoint %s: %w", c.Ref, err)
		}
	}()
	k := writer{store: objects, at: at}
	if k.batch, err = k.store.Batch(); err != nil {
		return id, nil, err
	}
	if root, err = k.tree(ctx, "", c.State, c.Kept); err != nil {
		return id, nil, err
	}
	beside, err := k.addRaw(c)
	if err != nil {
		return id, nil, err
	}
	if id, err = k.commit(root.ID(), beside, c.message(k.leftOut)); err == nil {
		err = k.batch.Write(ctx)
	}
	if err == nil {
		err = k.batch.Refer(Namespace+c.Ref, id)
	}
	return id, root, err
}

// commit adds a commit object, in the format of git-commit-tree(1). The parent may be zero.
func (k *writer) commit(tree, parent plumbing.Hash, message string) (plumbing.Hash, error) {
	lines := fmt.Sprintf("tree %s\n", tree)
	if !parent.IsZero() {
		lines += fmt.Sprintf("parent %s\n", parent)
	}
	who := fmt.Sprintf("%s %d +0000", author, k.at.Unix())
	return k.batch.Add(plumbing.CommitObject, fmt.Appendf(nil, "%sauthor %s\ncommitter %s\n\n%s", lines, who, who, message))
}

// A writer collects the objects of one state.
type writer struct {
	store   *store.Store
	at      time.Time
	batch   *store.Batch
	leftOut []scan.PathFile
}

// tree adds a directory with everything below it. It returns the directory as it will be written.
// Kept, which may be nil, is the directory in an existing checkpoint, whose objects can be relied
// on. Other objects may have been removed.
func (k *writer) tree(ctx context.Context, path string, d, kept *scan.Dir) (*scan.Dir, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if kept != nil && kept.ID() == d.ID() {
		return d, nil
	}
	var files []scan.File
	var dirs []*scan.Dir
	for _, child := range d.Dirs {
		child, err := k.tree(ctx, path+child.Name+"/", child, kept.Dir(child.Name))
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, child)
	}
	for _, f := range d.Files() {
		if f.Mode == scan.Gitlink && !d.Dir(f.Name).Empty() { // a tree cannot have both it and its files
			k.leftOut = append(k.leftOut, scan.PathFile{Path: path + f.Name, File: f})
			continue
		}
		known := kept.Find(f.Name)
		if known != nil && known.ID == f.ID {
			files = append(files, f)
			continue
		}
		there, err := k.file(ctx, path+f.Name, f)
		if err != nil {
			return nil, fmt.Errorf("keep %s%s: %w", path, f.Name, err)
		}
		if there {
			files = append(files, f)
		}
	}
	written := scan.NewDir(d.Name, files, dirs)
	written.Seal()
	_, err := k.batch.Add(plumbing.TreeObject, written.Object())
	return written, err
}

// file makes sure that there is, or will be, an object with the file's content. It reports false if
// the file is left out: a large file that is in no object is only described in the message, so
// that checkpoints stay small.
func (k *writer) file(ctx context.Context, path string, f scan.File) (bool, error) {
	switch {
	case f.Mode == scan.Gitlink || k.batch.Owns(f.ID):
		return true, nil
	case f.Size() <= store.Large || k.store.Has(ctx, f.ID):
		return true, k.batch.Take(f.ID, path, f.Size())
	}
	k.leftOut = append(k.leftOut, scan.PathFile{Path: path, File: f})
	return false, nil
}
