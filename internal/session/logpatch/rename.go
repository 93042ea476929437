package logpatch

import (
	"context"
	"slices"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

// Renamed returns the change with each file that git takes to be renamed as one entry, in the place of
// the new name. The files of c are not changed. A file whose content the log does not hold is only
// matched if nothing but its name has changed.
func Renamed(ctx context.Context, c loop.Change) (loop.Change, error) {
	gone, added := candidates(c.Files)
	if len(gone) == 0 || len(added) == 0 {
		return c, nil
	}
	pairs, err := patch.Renames(ctx, gone, added)
	if err != nil {
		return c, err
	}
	renamed, err := patch.Files(ctx, "", pairs...)
	if err != nil {
		return c, err
	}
	c.Files = slices.Clone(c.Files)
	for _, f := range renamed {
		c.Files = slices.DeleteFunc(c.Files, func(was loop.FileChange) bool { return was.Path == f.OldPath })
		c.Files[slices.IndexFunc(c.Files, func(is loop.FileChange) bool { return is.Path == f.Path })] = f
	}
	return c.Counted(), nil
}

// fileOf returns what the patch of a deleted or an added file holds. Size is that of the content, if it does not hold it.
func fileOf(f loop.FileChange, size int64) patch.File {
	side, whole := Only(f)
	if !whole {
		side.TooLarge, side.Size = true, size
	}
	return patch.File{Path: f.Path, Side: side}
}

// candidates returns the deleted and the added files, except changes of type, which are both
// for one path.
func candidates(files []loop.FileChange) (gone, added []patch.File) {
	for i, f := range files {
		if i > 0 && files[i-1].Path == f.Path || i+1 < len(files) && files[i+1].Path == f.Path {
			continue
		}
		switch f.Status {
		case loop.FileDeleted:
			gone = append(gone, fileOf(f, f.OldSize))
		case loop.FileAdded:
			added = append(added, fileOf(f, f.NewSize))
		case loop.FileModified, loop.FileRenamed:
		}
	}
	return gone, added
}
