package view

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"codeloops/internal/diff/repo/file"
)

// newChange completes a change by its path. In a git directory, the path is from there.
func newChange(path string, git bool, c change) change {
	c.path, c.git = path, git
	inside := path
	if !git {
		if inside, c.git = inRepository(path); !c.git {
			return c
		}
	}
	switch c.part = partOf(inside); {
	case c.same:
	case c.part == partIndex && c.was && c.is:
		c.part = indexPart(c.user, c.view)
	case c.part != "" && config.MatchString(inside):
		c.part = configPart(c.part, c.user, c.view)
	}
	return c
}

// sameFile reports whether two files are the same to whoever reads or runs them. What
// cannot be read is not.
func sameFile(a string, was fs.FileInfo, b string, is fs.FileInfo) bool {
	switch {
	case was.Mode() != is.Mode():
		return false
	case was.Mode()&fs.ModeSymlink != 0:
		x, errX := os.Readlink(a)
		y, errY := os.Readlink(b)
		return errX == nil && errY == nil && x == y
	case !was.Mode().IsRegular():
		return true
	}
	return was.Size() == is.Size() && sameContent(a, b)
}

func sameContent(a, b string) bool {
	x, err := os.Open(a)
	if err != nil {
		return false
	}
	defer x.Close() //nolint:errcheck // only read
	y, err := os.Open(b)
	if err != nil {
		return false
	}
	defer y.Close() //nolint:errcheck // only read
	same, err := file.Same(x, y)
	return err == nil && same
}

// remove removes a directory with all that is in it, also with directories that nobody
// may write in, as Go's module cache and overlays have them.
func remove(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	return errors.Join(unlock(dir), os.RemoveAll(dir))
}

// unlock gives the user every right to the directories in one, and to itself.
func unlock(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, _ error) error {
		if d == nil || !d.IsDir() { // what is in the way shows when it is removed
			return nil
		}
		return os.Chmod(name, 0o700) //nolint:gosec // a directory of our own
	})
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
