//go:build unix && !(linux && (amd64 || arm64))

package scan

import (
	"errors"

	"golang.org/x/sys/unix"
)

// lstat is [unix.Fstatat] of what h.name is, relative to a directory.
func (h *handle) lstat(dir int) (failure unix.Errno) {
	errors.As(unix.Fstatat(dir, string(h.name[:len(h.name)-1]), &h.st, unix.AT_SYMLINK_NOFOLLOW), &failure)
	return failure
}

func (h *handle) openat(dir int, path string, flags int) (int, error) {
	return unix.Openat(dir, path, flags, 0)
}

func (h *handle) fstat(fd int) error { return unix.Fstat(fd, &h.st) }
