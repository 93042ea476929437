//go:build linux && (amd64 || arm64)

package scan

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls of the system that there are as many of as files or directories
// are made without allocating. Where what they look at is at hand they do not
// tell the scheduler either, which would take as long as the call.

// lstat is [unix.Fstatat] of what h.name is, relative to a directory.
func (h *handle) lstat(dir int) (failure syscall.Errno) {
	name, st := unsafe.Pointer(&h.name[0]), unsafe.Pointer(&h.st) //nolint:gosec // for the system
	if h.local {
		_, _, failure = syscall.RawSyscall6(unix.SYS_NEWFSTATAT, uintptr(dir), uintptr(name), uintptr(st), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
	} else {
		_, _, failure = syscall.Syscall6(unix.SYS_NEWFSTATAT, uintptr(dir), uintptr(name), uintptr(st), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
	}
	runtime.KeepAlive(h)
	return failure
}

// openat is [unix.Openat].
func (h *handle) openat(dir int, path string, flags int) (int, error) {
	h.name, h.prefix = append(append(h.name[:0], path...), 0), 0
	name := unsafe.Pointer(&h.name[0]) //nolint:gosec // for the system
	var fd uintptr
	var failure syscall.Errno
	if h.local {
		fd, _, failure = syscall.RawSyscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(name), uintptr(flags|unix.O_LARGEFILE), 0, 0, 0)
	} else {
		fd, _, failure = syscall.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(name), uintptr(flags|unix.O_LARGEFILE), 0, 0, 0)
	}
	runtime.KeepAlive(h)
	if failure != 0 {
		return -1, failure
	}
	return int(fd), nil
}

// fstat is [unix.Fstat].
func (h *handle) fstat(fd int) error {
	st := unsafe.Pointer(&h.st) //nolint:gosec // for the system
	var failure syscall.Errno
	if h.local {
		_, _, failure = syscall.RawSyscall(unix.SYS_FSTAT, uintptr(fd), uintptr(st), 0)
	} else {
		_, _, failure = syscall.Syscall(unix.SYS_FSTAT, uintptr(fd), uintptr(st), 0)
	}
	runtime.KeepAlive(h)
	return orNil(failure)
}

func orNil(failure syscall.Errno) error {
	if failure != 0 {
		return failure
	}
	return nil
}
