//go:build unix

package file

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// TryLockFile takes the lock on an open file, which lasts until it is released or the process
// ends. ok is false if another open file has it.
func TryLockFile(f *os.File, shared bool) (ok bool, err error) {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	return flock(f, how|syscall.LOCK_NB)
}

func lock(f *os.File) (ok bool, err error) { return flock(f, syscall.LOCK_EX) }

func flock(f *os.File, how int) (ok bool, err error) {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		}
		return false, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
}

// UnlockFile releases the lock on an open file. Closing the file is not enough: a process that was
// just forked holds it open, too, until its exec.
func UnlockFile(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // fails on a file system without locks
}
