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
	above *handle // nil for the root
	at    int     // the directory above, open, to which this one is relative
	rel   string  // the name there; of the root, the path
	gap   int     // so many directories above are not open
	fd    int     // of the open directory
	bare  bool    // it is open only for what is below it to be looked up
	own   bool    // the directory above is open for this handle only
	st    unix.Stat_t
}

// closed is the file descriptor of a directory that is not open.
const closed = unix.AT_FDCWD

// reset makes h the handle of another directory, which is not open. The one above
// stays as it is while h is in use; there is none above the root, which is found by
// its path.
func (h *handle) reset(path, name string, above *handle) {
	h.above, h.at, h.rel, h.fd = above, closed, path, closed
	h.gap, h.bare, h.own = 0, false, false
	if above != nil {
		h.at, h.rel = above.fd, name
		if !above.isOpen() {
			h.gap = above.gap + 1
		}
	}
}

func (h *handle) isOpen() bool { return h.fd != closed }

// isFar reports whether it is a long way from the last open directory.
func (h *handle) isFar() bool {
	const long = 32
	return h.gap >= long
}

// reach opens the directory above, where so many are open that it is not. Its path
// would not do: a symlink may have taken the place of any directory in it.
func (h *handle) reach() error {
	if h.at != closed || h.gap == 0 {
		return nil
	}
	way := make([]*handle, h.gap)
	for i, up := h.gap-1, h.above; i >= 0; i, up = i-1, up.above {
		way[i] = up
	}
	at := way[0].at
	for i, next := range way {
		fd, err := h.openAt(at, next.rel, passing|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
		if i > 0 {
			_ = unix.Close(at)
		}
		if err != nil {
			return &fs.PathError{Op: "open", Path: h.rel, Err: err}
		}
		at = fd
	}
	h.at, h.own = at, true
	return nil
}

// ensure opens the directory to be listed.
func (h *handle) ensure() error {
	if h.isOpen() && !h.bare {
		return nil
	}
	return h.openAs(unix.O_RDONLY)
}

// openAs opens the directory, again if it is open.
func (h *handle) openAs(flags int) error {
	dir, path := h.fd, "."
	if !h.isOpen() {
		if err := h.reach(); err != nil {
			return err
		}
		dir, path = h.at, h.rel
	}
	fd, err := h.openAt(dir, path, flags|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return &fs.PathError{Op: "open", Path: h.rel, Err: err}
	}
	h.close()
	h.fd = fd
	return nil
}

// glance returns the stat of the directory. Where much below it will be looked
// at, it stays open, though not to be listed: that is faster then.
func (h *handle) glance(much bool) (Stat, kind, error) {
	if !much && !h.isOpen() {
		if err := h.reach(); err != nil {
			return Stat{}, unknown, err
		}
		return h.stat("")
	}
	if !h.isOpen() {
		if err := h.openAs(passing); err != nil {
			return Stat{}, unknown, err
		}
		h.bare = true
	}
	if err := unix.Fstat(h.fd, &h.st); err != nil {
		return Stat{}, unknown, &fs.PathError{Op: "fstat", Path: h.rel, Err: err}
	}
	return statOf(&h.st), kindOf(uint32(h.st.Mode)), nil
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
		fd, err := unix.Openat(dir, name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func (h *handle) close() {
	if h.isOpen() {
		_ = unix.Close(h.fd)
	}
	if h.own {
		_ = unix.Close(h.at)
		h.at = closed
	}
	h.fd, h.bare, h.own = closed, false, false
}

// list returns the entries of the open directory with its stat from before.
// They hold until s is used again.
func (h *handle) list(s *scratch) ([]entry, Stat, error) {
	if err := unix.Fstat(h.fd, &h.st); err != nil {
		return nil, Stat{}, &fs.PathError{Op: "fstat", Path: h.rel, Err: err}
	}
	st := statOf(&h.st)
	entries, err := h.entries(s)
	return entries, st, err
}

// has reports whether a file is what is known of it.
func (h *handle) has(f *File) bool {
	st, k, err := h.stat(f.Name)
	return err == nil && f.is(st, k)
}

// stat does not follow a symlink. The directory itself has the name "".
func (h *handle) stat(name string) (Stat, kind, error) {
	dir, path := h.at, h.rel
	switch {
	case name != "" && h.isOpen():
		dir, path = h.fd, name
	case name != "":
		path += "/" + name
	}
	err := unix.Fstatat(dir, path, &h.st, unix.AT_SYMLINK_NOFOLLOW)
	for errors.Is(err, unix.EINTR) {
		err = unix.Fstatat(dir, path, &h.st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return Stat{}, unknown, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return statOf(&h.st), kindOf(uint32(h.st.Mode)), nil
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
	if err := unix.Fstat(fd, &h.st); err != nil {
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
