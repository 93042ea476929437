package restore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/file"
	"codeloops/internal/wording"
)

// ErrPath is a path that, on some system at least, leads out of the work tree or into a git
// directory.
var ErrPath = errors.New("a work tree cannot have a file at this path")

// going are the paths that will be moved away.
type going map[string]bool

// check returns why a change cannot be made.
func (g going) check(root *os.Root, change PathChange) error {
	if !Proper(change.Path) {
		return ErrPath
	}
	kind, err := g.kind(root, change.Path)
	switch {
	case err != nil:
		return err
	case kind == other, change.Before == Nothing && kind == Place:
		err = g.emptied(root, change.Path)
	case change.Before == Nothing && kind != Nothing && !g.folded(root, change.Path):
		err = ErrInTheWay
	case change.Before != Nothing && kind != change.Before:
		err = ErrChanged
	}
	if err != nil {
		return err
	}
	dir := string(above(root, change.Path)[0].Path)
	if err := writable(filepath.Join(root.Name(), filepath.FromSlash(dir))); err != nil {
		return fmt.Errorf("cannot write in %s: %w", wording.Path(dir), err)
	}
	return change.After.Err
}

// kind returns the kind of what is at a path. Every path above it must be a directory, or
// be moved away. Nothing is below what is moved away, even if it is a link to a directory.
func (g going) kind(root *os.Root, name string) (Kind, error) {
	for at, r := range name {
		if r != '/' {
			continue
		}
		dir := name[:at]
		switch info, err := root.Lstat(dir); {
		case file.Missing(err) || err == nil && g[dir]:
			return Nothing, nil
		case err != nil:
			return Nothing, err
		case !info.IsDir():
			return Nothing, fmt.Errorf("%s: %w", wording.Path(dir), ErrInTheWay)
		}
	}
	return kindAt(root, name)
}

// emptied returns an error if something would be left in a directory.
func (g going) emptied(root *os.Root, dir string) error {
	return fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == dir && !d.IsDir():
			return ErrInTheWay
		case d.IsDir() || g[name]:
			return nil
		}
		return fmt.Errorf("%s: %w", wording.Path(name), ErrInTheWay)
	})
}

// folded reports whether what is at a path is a file that will be moved away, under a name
// that differs in case.
func (g going) folded(root *os.Root, name string) bool {
	for away := range g {
		if strings.EqualFold(name, away) && sameFile(root, name, away) {
			return true
		}
	}
	return false
}

// sameFile reports whether there is one file at two paths.
func sameFile(root *os.Root, a, b string) bool {
	one, errA := root.Lstat(a)
	two, errB := root.Lstat(b)
	return errA == nil && errB == nil && os.SameFile(one, two)
}

// A folder is a directory with the permissions that it has, or had.
type folder struct {
	Path Name        `json:"path"`
	Perm fs.FileMode `json:"permissions"`

	device uint64
}

// above returns the existing directories above a path, the nearest first.
func above(root *os.Root, at string) (dirs []folder) {
	for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err == nil && info.IsDir() {
			dirs = append(dirs, folder{Name(dir), info.Mode().Perm(), file.StampOf(info).Dev})
		}
	}
	return append(dirs, folder{Path: ".", device: file.At(root.Name()).Dev})
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
	if path.Clean(name) != name || !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsRune(name, 0) ||
		filepath.Separator != '/' && strings.ContainsRune(name, filepath.Separator) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(name, "/"), takenForGit)
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
