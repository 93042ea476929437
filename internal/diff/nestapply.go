package diff

import (
	"errors"
	"io/fs"
	"os"
	"path"

	"codeloops/internal/diff/scan"
)

// staysAt reports whether a change is one of the commit alone that a repository inside
// is at: Restore puts its files back, and never its HEAD.
func (t *Tree) staysAt(c scan.Change) bool {
	if c.After == nil || c.After.Mode != scan.Gitlink {
		return false
	}
	if c.Before != nil {
		return c.Before.Mode == scan.Gitlink
	}
	info, err := os.Lstat(t.absolute(c.Path)) // its directory is back, and no repository
	return err == nil && info.IsDir()
}

// isNest reports whether a directory is to be the place of a repository.
func (u *undo) isNest(dir string) bool {
	f := u.target.Find(dir)
	return f != nil && f.Mode == scan.Gitlink
}

// makeNest makes the directory of what was a repository inside, or the place for one.
func (u *undo) makeNest(c scan.Change) error {
	if err := u.makeDirs(path.Dir(c.Path)); err != nil {
		return err
	}
	if c.Before != nil {
		if err := u.root.Remove(c.Path); err != nil {
			return err
		}
	}
	return u.root.Mkdir(c.Path, 0o777)
}

// removeNest removes the directory of a repository that came later, if that has
// nothing of its own in it.
func (u *undo) removeNest(name string) error {
	if err := u.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errRepository
	}
	return nil
}
