//go:build unix

package scan

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A handle is a directory, open or not. What an open one looks at is relative
// to that very directory, whatever its path has come to name, and never a
// symlink's target. One that is not open is good enough for a look at the files
// of a directory that has just been found unchanged.
type handle struct {
	path string
	file *os.File // nil until it is opened
	fd   int
}

func newHandle(path string) *handle { return &handle{path: path, fd: unix.AT_FDCWD} }

// ensure opens the directory.
func (h *handle) ensure() error {
	if h.file != nil {
		return nil
	}
	f, err := os.OpenFile(h.path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	h.file, h.fd = f, int(f.Fd())
	return nil
}

func (h *handle) close() {
	if h.file != nil {
		_ = h.file.Close()
	}
}

// list returns the entries of the open directory with its stat from before.
func (h *handle) list() ([]fs.DirEntry, Stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(h.fd, &st); err != nil {
		return nil, Stat{}, &fs.PathError{Op: "fstat", Path: h.path, Err: err}
	}
	entries, err := h.file.ReadDir(-1)
	return entries, statOf(&st), err
}

// stat does not follow a symlink. The directory itself has the name "".
func (h *handle) stat(name string) (Stat, kind, error) {
	path := name
	switch {
	case name == "":
		path = h.path
	case h.file == nil:
		path = h.path + "/" + name
	}
	var st unix.Stat_t
	for {
		err := unix.Fstatat(h.fd, path, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			return statOf(&st), kindOf(uint32(st.Mode)), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return Stat{}, unknown, &fs.PathError{Op: "lstat", Path: name, Err: err}
		}
	}
}

// open opens a regular file; a FIFO that took its place does not block.
func (h *handle) open(name string) (*os.File, Stat, error) {
	if err := h.ensure(); err != nil {
		return nil, Stat{}, err
	}
	fd, err := unix.Openat(h.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, Stat{}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return nil, Stat{}, &fs.PathError{Op: "fstat", Path: name, Err: err}
	}
	if k := kindOf(uint32(st.Mode)); k != regular && k != executable {
		_ = unix.Close(fd)
		return nil, Stat{}, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return os.NewFile(uintptr(fd), name), statOf(&st), nil
}

func (h *handle) readlink(name string) (string, error) {
	if err := h.ensure(); err != nil {
		return "", err
	}
	for size := 256; ; size *= 2 {
		b := make([]byte, size)
		n, err := unix.Readlinkat(h.fd, name, b)
		if err != nil {
			return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
		}
		if n < size {
			return string(b[:n]), nil
		}
	}
}

func statOf(st *unix.Stat_t) Stat {
	return Stat{
		Size:     st.Size,
		Modified: st.Mtim.Nano(),
		Changed:  st.Ctim.Nano(),
		Inode:    st.Ino,
	}
}

func kindOf(mode uint32) kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		if mode&unix.S_IXUSR != 0 {
			return executable
		}
		return regular
	case unix.S_IFLNK:
		return symlink
	case unix.S_IFDIR:
		return directory
	}
	return other
}
