package restore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"codeloops/internal/file"
	"codeloops/internal/wording"
)

// A checker finds out whether changes can be made.
type checker struct {
	root  *os.Root
	going map[string]bool // paths that will be moved away
}

// ErrPath is a path that, on some system at least, leads out of the work tree or into a git
// directory.
var ErrPath = errors.New("a work tree cannot have a file at this path")

func (c *checker) check(change PathChange) error {
	if !Proper(change.Path) {
		return ErrPath
	}
	kind, err := c.kind(change.Path)
	switch {
	case err != nil:
		return err
	case kind == other, change.Before == Nothing && kind == Place:
		err = c.emptied(change.Path)
	case change.Before == Nothing && kind != Nothing && !c.folded(change.Path):
		err = ErrInTheWay
	case change.Before != Nothing && kind != change.Before:
		err = ErrChanged
	}
	if err != nil {
		return err
	}
	dir, _ := c.above(path.Dir(change.Path))
	if err := writable(filepath.Join(c.root.Name(), filepath.FromSlash(dir))); err != nil {
		return fmt.Errorf("cannot write in %s: %w", wording.Path(dir), err)
	}
	return change.After.Err
}

// kind returns the kind of what is at a path. Every path above it must be a directory, or
// be moved away. Nothing is below what is moved away, even if it is a link to a directory.
func (c *checker) kind(name string) (Kind, error) {
	for at, r := range name {
		if r != '/' {
			continue
		}
		dir := name[:at]
		switch info, err := c.root.Lstat(dir); {
		case file.Missing(err) || err == nil && c.going[dir]:
			return Nothing, nil
		case err != nil:
			return Nothing, err
		case !info.IsDir():
			return Nothing, fmt.Errorf("%s: %w", wording.Path(dir), ErrInTheWay)
		}
	}
	return kindAt(c.root, name)
}

func (c *checker) isDir(name string) bool {
	info, err := c.root.Lstat(name)
	return err == nil && info.IsDir()
}

// emptied returns an error if something would be left in a directory.
func (c *checker) emptied(dir string) error {
	if !c.isDir(dir) {
		return ErrInTheWay
	}
	return fs.WalkDir(c.root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !c.going[name] {
			err = fmt.Errorf("%s: %w", wording.Path(name), ErrInTheWay)
		}
		return err
	})
}

// folded reports whether what is at a path is a file that will be moved away, under a name
// that differs in case.
func (c *checker) folded(name string) bool {
	there, err := c.root.Lstat(name)
	if err != nil {
		return false
	}
	for other := range c.going {
		if strings.EqualFold(name, other) {
			if info, err := c.root.Lstat(other); err == nil && os.SameFile(info, there) {
				return true
			}
		}
	}
	return false
}

// above returns the directory, or else the nearest existing one above it, with the device
// that it is on.
func (c *checker) above(dir string) (there string, device uint64) {
	for ; ; dir = path.Dir(dir) {
		if info, err := c.root.Lstat(dir); err == nil && info.IsDir() {
			return dir, file.StampOf(info).Dev
		}
		if dir == "." {
			return dir, 0
		}
	}
}

// top returns the highest directory above one that is on the same file system.
func (c *checker) top(dir string, device uint64) string {
	for dir != "." {
		up, other := c.above(path.Dir(dir))
		if other != device {
			break
		}
		dir = up
	}
	return dir
}

// other is what a restore neither moves nor makes: a directory that is not empty, a pipe, a
// device.
const other Kind = "other"

func kindAt(root *os.Root, name string) (Kind, error) {
	info, err := root.Lstat(name)
	switch {
	case file.Missing(err):
		return Nothing, nil
	case err != nil:
		return Nothing, err
	case info.Mode().IsRegular():
		return File, nil
	case info.Mode().Type() == fs.ModeSymlink:
		return Link, nil
	case info.IsDir() && empty(root, name):
		return Place, nil
	}
	return other, nil
}

// empty reports whether a directory holds nothing. It reads no more than one entry: a restore asks for
// each file in it.
func empty(root *os.Root, name string) bool {
	dir, err := root.Open(name)
	if err != nil {
		return false
	}
	defer dir.Close() //nolint:errcheck // only read
	_, err = dir.ReadDir(1)
	return errors.Is(err, io.EOF)
}

// Proper reports whether git would check out a file at this path on every system.
func Proper(name string) bool {
	if name == "" || path.Clean(name) != name || !filepath.IsLocal(filepath.FromSlash(name)) ||
		strings.ContainsRune(name, 0) || filepath.Separator != '/' && strings.ContainsRune(name, filepath.Separator) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if takenForGit(part) {
			return false
		}
	}
	return true
}

// takenForGit reports whether some file system takes a name for .git: HFS+ ignores some
// characters, NTFS ignores dots and spaces at the end and anything after a colon, and git~1
// is the short name of .git.
func takenForGit(name string) bool {
	name = strings.Map(func(r rune) rune {
		if r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(name, ":")
	name = strings.ToLower(strings.TrimRight(name, ". "))
	return name == ".git" || name == "git~1"
}
