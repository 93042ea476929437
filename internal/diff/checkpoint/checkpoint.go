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

// A keeping gathers the objects of one state.
type keeping struct {
	store   *store.Store
	at      time.Time
	batch   *store.Batch
	leftOut []scan.Placed
}

// tree adds a directory with all that is below it. It returns the directory as it is
// to be written. The one that is kept, which may be nil, is there with all that is in
// it: a reference protects it. Of any other it is not known what is left.
func (k *keeping) tree(ctx context.Context, path string, d, kept *scan.Dir) (*scan.Dir, error) {
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
		if f.Mode == scan.Gitlink && !d.Dir(f.Name).Empty() { // of it and its files a tree can have but one
			k.leftOut = append(k.leftOut, scan.Placed{Path: path + f.Name, File: f})
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

// file makes sure that there is or will be an object of the file's content, or
// leaves the file out: of a large one that is in none the commit only says what it was,
// so that a checkpoint costs no more than what changed.
func (k *keeping) file(ctx context.Context, path string, f scan.File) (bool, error) {
	switch {
	case f.Mode == scan.Gitlink || k.batch.Owns(f.ID):
		return true, nil
	case f.Size() <= store.Large || k.store.Has(ctx, f.ID):
		return true, k.batch.Take(f.ID, path, f.Size())
	}
	k.leftOut = append(k.leftOut, scan.Placed{Path: path, File: f})
	return false, nil
}
