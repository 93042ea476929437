//go:build unix

package scan

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A handle is a directory. Its methods work relative to that directory, even if its path now names
// another one, and never follow symlinks.
type handle struct {
	above *handle // nil for the root
	name  string  // in the one above; for the root, the path
	depth int
	file  *os.File // nil while it is closed
	fd    int      // of the file
}

// openAll is the depth down to which every directory stays open while those below it are visited.
// Further down, only every openAll-th does, because the number of open files is limited.
const openAll = 16

// open opens a directory, given its path and the handle of the one above, nil for the root. It
// does not follow a symlink.
func open(path string, above *handle, name string) (*handle, error) {
	h := &handle{above: above, name: path}
	if above != nil {
		h.name, h.depth = name, above.depth+1
	}
	fd, err := h.open()
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	h.fd, h.file = fd, os.NewFile(uintptr(fd), path)
	return h, nil
}

func (h *handle) open() (fd int, err error) {
	at := unix.AT_FDCWD
	if h.above != nil {
		var done func()
		if at, done, err = h.above.hold(); err != nil {
			return 0, err
		}
		defer done()
	}
	return openAt(at, h.name, unix.O_DIRECTORY)
}

// hold returns a file descriptor of the directory, which is valid until done is called.
func (h *handle) hold() (fd int, done func(), err error) {
	if h.file != nil {
		return h.fd, func() {}, nil
	}
	if fd, err = h.open(); err != nil {
		return fd, nil, err
	}
	return fd, func() { _ = unix.Close(fd) }, nil
}

// leave closes the directory before those below it are visited, unless it may stay open.
func (h *handle) leave() {
	if h.depth > openAll && h.depth%openAll != 0 {
		h.close()
	}
}

func (h *handle) close() {
	if h.file != nil {
		_ = h.file.Close()
		h.file = nil
	}
}

func openAt(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func (h *handle) list() ([]fs.DirEntry, error) { return h.file.ReadDir(-1) }

// stat returns the stat of a file and its mode in git, which is 0 for a directory, FIFO, socket or
// device.
func (h *handle) stat(name string) (Stat, uint32, error) {
	var st unix.Stat_t
	err := unix.Fstatat(h.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	for errors.Is(err, unix.EINTR) {
		err = unix.Fstatat(h.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return Stat{}, 0, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return statOf(&st), modeOf(uint32(st.Mode)), nil
}

// openFile opens a regular file. It does not block on a FIFO that has taken its place.
func (h *handle) openFile(name string) (io.ReadCloser, Stat, error) {
	fd, err := openAt(h.fd, name, unix.O_NONBLOCK)
	if err != nil {
		return nil, Stat{}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && uint32(st.Mode)&unix.S_IFMT != unix.S_IFREG {
		err = errNotRegular
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, Stat{}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), statOf(&st), nil
}

func (h *handle) readlink(name string) (string, error) {
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(h.fd, name, target)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return string(target[:n]), nil
}

func statOf(st *unix.Stat_t) Stat {
	return Stat{
		Size:     st.Size,
		Modified: st.Mtim.Nano(),
		Changed:  st.Ctim.Nano(),
		Inode:    st.Ino,
		Perm:     oddPerm(uint32(st.Mode)),
	}
}

func modeOf(mode uint32) uint32 {
	switch {
	case mode&unix.S_IFMT == unix.S_IFLNK:
		return Symlink
	case mode&unix.S_IFMT != unix.S_IFREG:
		return 0
	case mode&unix.S_IXUSR != 0:
		return Executable
	}
	return Regular
}
