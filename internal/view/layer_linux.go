package view

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// opaqueMark is the attribute of a directory that hides the one below it, in an overlay mounted with
// userxattr.
const opaqueMark = "user.overlay.opaque"

// whiteout reports whether a file of a layer is a whiteout, which hides the one below it.
func whiteout(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode()&fs.ModeCharDevice != 0 && st.Rdev == 0
}

func opaque(dir string) bool {
	var value [1]byte
	n, err := unix.Lgetxattr(dir, opaqueMark, value[:])
	return err == nil && n == 1 && value[0] == 'y'
}

func unsetOpaque(dir string) error {
	if err := unix.Lremovexattr(dir, opaqueMark); err != nil && !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// cover hides, in a directory of a replica, everything in the layers below, except for what shows
// and for open directories. It does not follow links, because commands may have made one.
func cover(root, dir string, lower, shows, open []string) error {
	at, err := openIn(root, dir)
	if at == nil || err != nil {
		return err
	}
	defer at.Close() //nolint:errcheck // only read
	entries, err := at.ReadDir(-1)
	if err != nil {
		return err
	}
	there := slices.Clone(shows)
	for _, e := range entries {
		there = append(there, e.Name())
		if e.IsDir() && !slices.Contains(shows, e.Name()) && !slices.Contains(open, e.Name()) {
			if err := closeDir(at, e.Name()); err != nil {
				return err
			}
		}
	}
	slices.Sort(there)
	for _, below := range lower {
		found, _ := os.ReadDir(filepath.Join(below, dir)) // commands cannot read it either
		for _, e := range found {
			if _, known := slices.BinarySearch(there, e.Name()); known {
				continue
			}
			if err := hide(at, e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// hide makes a whiteout in a directory.
func hide(above *os.File, name string) error {
	err := unix.Mknodat(int(above.Fd()), name, unix.S_IFCHR, 0)
	if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) { // a command may have made it read-only
		return &fs.PathError{Op: "hide", Path: filepath.Join(above.Name(), name), Err: err}
	}
	return nil
}

// closeDir makes a directory opaque, so that it hides those below it.
func closeDir(above *os.File, name string) error {
	fd, err := unix.Openat(int(above.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd) //nolint:errcheck // only read
		var value [1]byte
		if n, err := unix.Fgetxattr(fd, opaqueMark, value[:]); err == nil && n == 1 && value[0] == 'y' {
			return nil
		}
		err = unix.Fsetxattr(fd, opaqueMark, []byte("y"), 0)
	}
	if err != nil && !errors.Is(err, fs.ErrPermission) { // as above
		return &fs.PathError{Op: "close", Path: filepath.Join(above.Name(), name), Err: err}
	}
	return nil
}

// uncover removes the whiteouts in a directory of a replica, except for those of what shows.
func uncover(root, dir string, shows []string) error {
	at, err := openIn(root, dir)
	if at == nil || err != nil {
		return err
	}
	defer at.Close() //nolint:errcheck // nothing is written to it
	entries, err := at.ReadDir(-1)
	for _, e := range entries {
		if err != nil {
			break
		}
		info, gone := e.Info()
		if gone == nil && whiteout(info) && !slices.Contains(shows, e.Name()) {
			err = unix.Unlinkat(int(at.Fd()), e.Name(), 0)
		}
	}
	return err
}

// openIn opens a directory below another one, without following links. It returns nil if there is
// none that can be opened.
func openIn(root, dir string) (*os.File, error) {
	const how = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(root, how, 0)
	for name := range strings.SplitSeq(dir, "/") {
		if err != nil {
			break
		}
		above := fd
		fd, err = unix.Openat(above, name, how, 0)
		_ = unix.Close(above)
	}
	switch {
	case err == nil:
		return os.NewFile(uintptr(fd), filepath.Join(root, dir)), nil
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP), errors.Is(err, fs.ErrPermission):
		return nil, nil //nolint:nilnil // there is none
	}
	return nil, &fs.PathError{Op: "open", Path: filepath.Join(root, dir), Err: err}
}
