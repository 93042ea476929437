package session

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// DiskFull reports whether err says that the disk, or the user's quota, is full.
func DiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// tryLock takes the lock on an open file, which lasts until it is released or the process
// ends. ok is false if another open file has it. Windows keeps others from reading what is
// locked, so the locked byte is far behind the end of the file.
func tryLock(f *os.File, shared bool) (ok bool, err error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	far := &windows.Overlapped{OffsetHigh: 1 << 30}
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, far)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return true, nil
}

// unlock releases the lock on an open file.
func unlock(f *os.File) {
	far := &windows.Overlapped{OffsetHigh: 1 << 30}
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, far) // fails on a file system without locks
}

// identity returns what the system identifies a directory by, whatever paths lead to it.
func identity(dir string) (string, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: dir, Err: err}
	}
	const anyone = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, 0, anyone, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return "", &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer windows.CloseHandle(h) //nolint:errcheck // only read
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return "", &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	return fmt.Sprintf("%x-%x%08x", info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow), nil
}
