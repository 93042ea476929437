// Package checkpoint keeps a state of a work tree as a commit that no branch
// knows.
package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
)

// Namespace is where the references to checkpoints are. Git keeps what they
// refer to, and neither fetches nor pushes them by itself.
const Namespace = "refs/codeloops/"

// author signs the commits, whoever the user is to git.
const author = "codeloops <codeloops@localhost>"

// ErrContent is a file whose content cannot be kept: it was not kept when it
// was read, and is no longer what it was.
var ErrContent = errors.New("content is not at hand")

// A Writer writes the checkpoints of one work tree.
type Writer struct {
	Root      string // of the work tree
	CommonDir string // where the references are
	Store     *store.Store
	Now       func() time.Time
}

// A Checkpoint is a state with what is to be said of it.
type Checkpoint struct {
	Ref     string // below [Namespace]; an existing one is moved
	State   *scan.Dir
	Parents []plumbing.Hash
	Message string
}

// Write writes the blobs and trees that are missing, a commit, and the
// reference to it. The commit's tree is the one that `git write-tree` would
// write for the state.
func (w *Writer) Write(ctx context.Context, c Checkpoint) (plumbing.Hash, error) {
	if err := w.trees(ctx, "", c.State); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("write checkpoint %s: %w", c.Ref, err)
	}
	id, err := w.Store.Write(plumbing.CommitObject, w.commit(c))
	if err != nil {
		return id, fmt.Errorf("write checkpoint %s: %w", c.Ref, err)
	}
	refs := filesystem.NewStorage(osfs.New(w.CommonDir, osfs.WithBoundOS()), cache.NewObjectLRU(0))
	name := plumbing.ReferenceName(Namespace + c.Ref)
	if err := refs.SetReference(plumbing.NewHashReference(name, id)); err != nil {
		return id, fmt.Errorf("write checkpoint %s: %w", c.Ref, err)
	}
	return id, nil
}

// commit returns a commit object; the format is that of git-commit-tree(1).
func (w *Writer) commit(c Checkpoint) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", c.State.ID())
	for _, p := range c.Parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	at := w.Now().UTC()
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n", author, at.Unix(), author, at.Unix())
	b.WriteString(strings.TrimRight(c.Message, "\n") + "\n")
	return []byte(b.String())
}

// trees writes a directory after all that is below it, so that a tree that is
// there has its content with it, on which later checkpoints rely.
func (w *Writer) trees(ctx context.Context, path string, d *scan.Dir) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.Store.Has(d.ID()) {
		return nil
	}
	for _, child := range d.Dirs {
		if err := w.trees(ctx, path+child.Name+"/", child); err != nil {
			return err
		}
	}
	for i := range d.Files {
		if err := w.blob(ctx, path, &d.Files[i]); err != nil {
			return err
		}
	}
	_, err := w.Store.Write(plumbing.TreeObject, d.Object())
	return err
}

func (w *Writer) blob(ctx context.Context, dir string, f *scan.File) error {
	if f.Mode == scan.Gitlink || w.Store.Has(f.ID) {
		return nil
	}
	kept, err := w.Store.Persist(f.ID)
	if err != nil || kept {
		return err
	}
	if f.Size() > store.Large {
		return w.large(dir, f)
	}
	if _, err := w.Store.Blob(ctx, f.ID); err != nil { // git may fetch it
		return fmt.Errorf("keep %s%s: %w", dir, f.Name, err)
	}
	return nil
}

// large reads a file that was too large to be kept once more.
func (w *Writer) large(dir string, f *scan.File) error {
	path := dir + f.Name
	root, err := os.OpenRoot(w.Root)
	if err != nil {
		return fmt.Errorf("keep %s: %w", path, err)
	}
	defer root.Close() //nolint:errcheck // opened for reading: nothing to lose
	file, err := root.Open(path)
	if err != nil {
		return fmt.Errorf("keep %s: %w", path, err)
	}
	defer file.Close() //nolint:errcheck // likewise
	id, err := w.Store.Stream(file, f.Size())
	if err == nil && id != f.ID {
		err = ErrContent
	}
	if err != nil {
		return fmt.Errorf("keep %s: %w", path, err)
	}
	return nil
}
