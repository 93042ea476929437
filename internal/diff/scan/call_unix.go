//go:build unix && !(linux && (amd64 || arm64))

package scan

import "golang.org/x/sys/unix"

func (h *handle) lstat(dir int, path string) error {
	return unix.Fstatat(dir, path, &h.st, unix.AT_SYMLINK_NOFOLLOW)
}

func (h *handle) lstatBelow(name string) error { return h.lstat(h.at, h.rel+"/"+name) }

func (h *handle) openat(dir int, path string, flags int) (int, error) {
	return unix.Openat(dir, path, flags, 0)
}

func (h *handle) fstat(fd int) error { return unix.Fstat(fd, &h.st) }
