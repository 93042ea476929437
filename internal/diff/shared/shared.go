// Package shared gives what is made in a git repository the permissions that its
// users share it by.
package shared

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"

	"codeloops/internal/diff/repo"
)

// key is the setting, by git-config(1) and the option --shared of git-init(1).
const key = "core.sharedRepository"

// What is granted beyond the umask, of a file that is not read-only.
const (
	group = 0o660
	all   = 0o664
)

// A Mode is what a repository says of the permissions in it. The zero Mode leaves
// them to the umask, as every one does on Windows, where there are no such permissions.
type Mode struct {
	bits  fs.FileMode // of a file
	exact bool        // whatever the umask is
}

// Of returns the mode that a configuration asks for. What git refuses is an error.
func Of(c *repo.Config) (Mode, error) {
	if runtime.GOOS == "windows" {
		return Mode{}, nil
	}
	value, _ := c.String(key)
	switch value {
	case "umask":
		return Mode{}, nil
	case "group":
		return Mode{bits: group}, nil
	case "all", "world", "everybody":
		return Mode{bits: all}, nil
	}
	n, err := strconv.ParseInt(strings.TrimLeft(value, " \t"), 8, 64)
	if err != nil {
		yes, err := c.Bool(key, false)
		switch {
		case err != nil:
			return Mode{}, fmt.Errorf("%w, nor umask, group, all or an octal number", err)
		case yes:
			return Mode{bits: group}, nil
		}
		return Mode{}, nil
	}
	switch n { // as old repositories have it
	case 0:
		return Mode{}, nil
	case 1:
		return Mode{bits: group}, nil
	case 2:
		return Mode{bits: all}, nil
	}
	if n&0o600 != 0o600 {
		return Mode{}, fmt.Errorf("git configuration %s = %q keeps the owner of files from reading or writing them, which git refuses", key, value)
	}
	return Mode{bits: fs.FileMode(n & 0o666), exact: true}, nil
}

// of returns the permissions of something new that has those of the umask.
func (m Mode) of(now fs.FileMode) fs.FileMode {
	more := m.bits
	if now&0o200 == 0 {
		more &^= 0o222 // it is for reading
	}
	if now.IsDir() {
		more |= more & 0o444 >> 2
	}
	mode := now.Perm() | more
	if m.exact {
		mode = more
	}
	mode |= now & fs.ModeSetgid
	if now.IsDir() && mode&0o060 != 0 {
		mode |= fs.ModeSetgid // what is made in it belongs to the group, too
	}
	return mode
}

// change changes something new of which info tells what it is.
func (m Mode) change(info fs.FileInfo, chmod func(fs.FileMode) error) error {
	mode := m.of(info.Mode())
	if mode == info.Mode()&(fs.ModePerm|fs.ModeSetgid) {
		return nil
	}
	return chmod(mode)
}

// Chmod gives a file that was made as the umask has it its permissions.
func (m Mode) Chmod(f *os.File) error {
	if m == (Mode{}) {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return m.change(info, f.Chmod)
}

// MkdirAll makes a directory below root, with those above it that are missing. One
// that is there stays as it is.
func (m Mode) MkdirAll(root *os.Root, dir string) error {
	if info, err := root.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if above := path.Dir(dir); above != "." {
		if err := m.MkdirAll(root, above); err != nil {
			return err
		}
	}
	err := root.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) { // now; or it is no directory, as whoever uses it will see
		return nil
	}
	if err != nil || m == (Mode{}) {
		return err
	}
	info, err := root.Lstat(dir)
	if err != nil {
		return err
	}
	return m.change(info, func(mode fs.FileMode) error { return root.Chmod(dir, mode) })
}
