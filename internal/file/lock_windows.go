package file

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// far is the locked byte. Windows keeps others from reading what is locked, so it is far behind the end of
// the file.
func far() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

// TryLockFile takes the lock on an open file, which lasts until it is released or the process
// ends. ok is false if another open file has it.
func TryLockFile(f *os.File, shared bool) (ok bool, err error) {
	if shared {
		return lockFile(f, windows.LOCKFILE_FAIL_IMMEDIATELY)
	}
	return lockFile(f, windows.LOCKFILE_FAIL_IMMEDIATELY|windows.LOCKFILE_EXCLUSIVE_LOCK)
}

func lock(f *os.File) (ok bool, err error) { return lockFile(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

func lockFile(f *os.File, flags uint32) (ok bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, far())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return true, nil
}

// UnlockFile releases the lock on an open file.
func UnlockFile(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, far()) // fails on a file system without locks
}
