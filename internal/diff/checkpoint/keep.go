package checkpoint

import (
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
)

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
