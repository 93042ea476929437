package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Bring copies files, links and directories, given their paths from the root, from one work tree to
// another. It does not overwrite anything. The files share their blocks if the file system can do
// that. Both roots must be absolute and free of symbolic links. It does not write through links.
func Bring(ctx context.Context, from, to string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	probe := to + ".probe"
	c := &copied{trees: []*layer{{dir: from, own: to}}}
	c.sharing = tryClone(filepath.Join(from, paths[0]), probe) == nil
	defer os.RemoveAll(probe) //nolint:errcheck // an empty directory
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // only directories are made through it
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := c.bring(ctx, root, path); err != nil {
			return fmt.Errorf("bring %s from %s: %w", path, from, err)
		}
	}
	return nil
}

// bring copies one path.
func (c *copied) bring(ctx context.Context, root *os.Root, path string) error {
	from, dir := filepath.Join(c.trees[0].dir, path), filepath.Join(c.trees[0].own, filepath.Dir(path))
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if is, err := filepath.EvalSymlinks(dir); err != nil || is != dir {
		return errors.Join(err, fmt.Errorf("%s leads elsewhere", dir))
	}
	there, err := root.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.copyEntry(ctx, filepath.Dir(from), dir, fs.FileInfoToDirEntry(info), false)
	case err != nil || !there.IsDir() || !info.IsDir():
		return err
	}
	entries, err := os.ReadDir(from)
	for _, e := range entries {
		if err == nil {
			err = c.bring(ctx, root, filepath.Join(path, e.Name()))
		}
	}
	return err
}
