package checkpoint

import (
	"context"
	"fmt"
	"os"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
)

// A keeping gathers the objects of one state.
type keeping struct {
	*Writer
	batch   *store.Batch
	whole   map[string]bool // paths
	leftOut []scan.Placed
}

// begin gathers what the root is made of. What it has in common with a state that
// is there as a whole need not be looked for.
func (k *keeping) begin(ctx context.Context, root, kept *scan.Dir) (*scan.Dir, error) {
	if kept != nil && !k.Store.Has(ctx, kept.ID()) {
		kept = nil
	}
	return k.tree(ctx, "", root, kept)
}

// tree adds a directory after all that is below it, so that a tree that is
// there has its content with it, on which later checkpoints rely. It returns
// the directory as it is to be written. The one that is kept, which may be nil,
// is there.
func (k *keeping) tree(ctx context.Context, path string, d, kept *scan.Dir) (*scan.Dir, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if kept != nil && kept.ID() == d.ID() || k.Store.Freshen(ctx, plumbing.TreeObject, d.ID()) {
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
		if d.Nested(&f) { // where a tree can have but one of them
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
	k.batch.Add(plumbing.TreeObject, written.Object())
	return written, nil
}

// file makes sure that there is or will be an object of the file's content, or
// leaves the file out.
func (k *keeping) file(ctx context.Context, path string, f scan.File) (bool, error) {
	if f.Mode == scan.Gitlink || k.Store.Freshen(ctx, plumbing.BlobObject, f.ID) {
		return true, nil
	}
	if k.batch.Persist(f.ID) {
		return true, nil
	}
	switch {
	case f.Size() <= store.Large:
		_, err := k.Store.Blob(ctx, f.ID) // git may fetch it
		return true, err
	case k.whole[path]:
		return true, k.large(ctx, path, f)
	}
	k.leftOut = append(k.leftOut, scan.Placed{Path: path, File: f})
	return false, nil
}

// large reads a file that was too large to be kept once more.
func (k *keeping) large(ctx context.Context, path string, f scan.File) error {
	root, err := os.OpenRoot(k.Root)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // opened for reading: nothing to lose
	file, err := root.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // likewise
	id, err := k.Store.Stream(ctx, file, f.Size())
	if err == nil && id != f.ID {
		err = ErrContent
	}
	return err
}
