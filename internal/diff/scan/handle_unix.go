//go:build unix

package scan

import (
	"errors"
	"io"
	"io/fs"

	"golang.org/x/sys/unix"
)

// A handle is a directory, open or not. What an open one looks at is relative
// to that very directory, whatever its path has come to name, and never a
// symlink's target. One that is not open is good enough for a look at the files
// of a directory that has just been found unchanged.
type handle struct {
	path  string // of the operating system
	at    int    // an open directory, to which the next one is relative
	rel   string // the path, in short
	fd    int    // of the open directory
	bare  bool   // it is open only for what is below it to be looked up
	lent  bool   // a [Kept] closes it
	local bool   // see clock.local
	// shared: a file that was looked at has another name somewhere, by which it
	// may be changed, too.
	shared bool

	// For calls of the system.
	name   []byte // with a zero at its end
	prefix int    // so much of it is rel and a slash; 0 when it is anything else
	st     unix.Stat_t
}

// closed is the file descriptor of a directory that is not open: paths are
// absolute then.
const closed = unix.AT_FDCWD

// reset makes h the handle of another directory, which is not open. The one
// above may be nil or closed.
func (h *handle) reset(path, name string, above *handle, local bool) {
	h.path, h.at, h.rel, h.fd = path, closed, path, closed
	h.bare, h.lent, h.local, h.shared, h.prefix = false, false, local, false, 0
	if above != nil && above.isOpen() {
		h.at, h.rel = above.fd, name
	}
}

func (h *handle) isOpen() bool { return h.fd != closed }

// ensure opens the directory to be listed.
func (h *handle) ensure() error {
	if h.isOpen() && !h.bare {
		return nil
	}
	dir, path := h.at, h.rel
	if h.bare {
		dir, path = h.fd, "."
	}
	fd, err := h.openAt(dir, path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return &fs.PathError{Op: "open", Path: h.path, Err: err}
	}
	h.close()
	h.fd = fd
	return nil
}

// ensureAny opens the directory unless it is open in any way.
func (h *handle) ensureAny() error {
	if h.isOpen() {
		return nil
	}
	return h.ensure()
}

func (h *handle) openAt(dir int, name string, flags int) (int, error) {
	for {
		fd, err := h.openat(dir, name, flags)
		if err != unix.EINTR { //nolint:errorlint // it is never wrapped
			return fd, err
		}
	}
}

func (h *handle) close() {
	if h.isOpen() && !h.lent {
		_ = unix.Close(h.fd)
	}
	h.fd, h.bare, h.lent = closed, false, false
}

// list returns the entries of the open directory with its stat from before.
// They hold until s is used again.
func (h *handle) list(s *scratch) ([]entry, Stat, error) {
	if err := h.fstat(h.fd); err != nil {
		return nil, Stat{}, &fs.PathError{Op: "fstat", Path: h.path, Err: err}
	}
	st := statOf(&h.st)
	entries, err := h.entries(s)
	return entries, st, err
}

// stat does not follow a symlink. The directory itself has the name "".
func (h *handle) stat(name string) (Stat, kind, error) {
	for {
		err := h.look(name)
		if err == nil {
			k := kindOf(uint32(h.st.Mode))
			h.shared = h.shared || h.linked() && k != directory
			return statOf(&h.st), k, nil
		}
		if !errors.Is(err, unix.EINTR) {
			return Stat{}, unknown, &fs.PathError{Op: "lstat", Path: name, Err: err}
		}
	}
}

// linked reports whether the file that was looked at last has another name.
func (h *handle) linked() bool { return h.st.Nlink > 1 }

// look sets the stat of what stat is asked for.
func (h *handle) look(name string) error {
	switch {
	case name == "":
		return h.lstat(h.at, h.rel)
	case h.isOpen():
		return h.lstat(h.fd, name)
	}
	return h.lstatBelow(name)
}

// open opens a regular file; a FIFO that took its place does not block.
func (h *handle) open(name string) (io.ReadCloser, Stat, error) {
	if err := h.ensureAny(); err != nil {
		return nil, Stat{}, err
	}
	fd, err := h.openAt(h.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC)
	if err != nil {
		return nil, Stat{}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if err := h.fstat(fd); err != nil {
		_ = unix.Close(fd)
		return nil, Stat{}, &fs.PathError{Op: "fstat", Path: name, Err: err}
	}
	if k := kindOf(uint32(h.st.Mode)); k != regular && k != executable {
		_ = unix.Close(fd)
		return nil, Stat{}, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return reader(fd), statOf(&h.st), nil
}

// A reader reads a regular file. An os.File would first ask the system what it
// is.
type reader int

// Read implements [io.Reader].
func (r reader) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(r), b)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(b) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// Close implements [io.Closer].
func (r reader) Close() error { return unix.Close(int(r)) }

func (h *handle) readlink(name string) (string, error) {
	if err := h.ensureAny(); err != nil {
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
