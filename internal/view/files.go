package view

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"codeloops/internal/repo/file"
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
	case c.part != "" && config().MatchString(inside):
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

// removeMany is remove for a directory in which there may be many files. A link is removed as such.
func removeMany(dir string) error {
	if info, err := os.Lstat(dir); err == nil && info.IsDir() {
		if root, err := os.OpenRoot(dir); err == nil {
			empty(root, make(chan struct{}, removers))
			_ = root.Close() // only read
		}
	}
	return remove(dir)
}

// removers are at work there. They mostly wait: a file system that tells its
// disk at once what is free, as with the mount option discard, has each file wait for that.
const removers = 16

// empty removes what it can of what is in a directory. No link leads out of it.
func empty(dir *os.Root, busy chan struct{}) {
	entries, _ := fs.ReadDir(dir.FS(), ".") // what is left shows when the directory is removed
	var others sync.WaitGroup
	for _, e := range entries {
		one := func() {
			if e.IsDir() {
				if below, err := dir.OpenRoot(e.Name()); err == nil {
					empty(below, busy)
					_ = below.Close() // only read
				}
			}
			_ = dir.Remove(e.Name())
		}
		select {
		case busy <- struct{}{}:
			others.Go(func() {
				one()
				<-busy
			})
		default:
			one()
		}
	}
	others.Wait()
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
