//go:build linux && (amd64 || arm64)

package scan

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lstat looks at a path as [unix.Fstatat] does, though without allocating and,
// where a look does not take long, without telling the scheduler: there are as
// many looks as files.
func (h *handle) lstat(path string) error {
	h.name = append(append(h.name[:0], path...), 0)
	name, st := unsafe.Pointer(&h.name[0]), unsafe.Pointer(&h.st) //nolint:gosec // for the system
	var failure syscall.Errno
	if h.local {
		_, _, failure = syscall.RawSyscall6(sysFstatat, uintptr(h.fd), uintptr(name), uintptr(st), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
	} else {
		_, _, failure = syscall.Syscall6(sysFstatat, uintptr(h.fd), uintptr(name), uintptr(st), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
	}
	runtime.KeepAlive(h)
	if failure != 0 {
		return failure
	}
	return nil
}

// openat opens a path as [unix.Openat] does, without allocating.
func (h *handle) openat(dir int, path string, flags int) (int, error) {
	h.name = append(append(h.name[:0], path...), 0)
	name := unsafe.Pointer(&h.name[0]) //nolint:gosec // for the system
	fd, _, failure := syscall.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(name), uintptr(flags|unix.O_LARGEFILE), 0, 0, 0)
	runtime.KeepAlive(h)
	if failure != 0 {
		return -1, failure
	}
	return int(fd), nil
}
