//go:build unix

package session

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// DiskFull reports whether err says that the disk, or the quota of the user or process, is
// full.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// tryLock takes the lock on an open file, which lasts until it is released or the process
// ends. ok is false if another open file has it.
func tryLock(f *os.File, shared bool) (ok bool, err error) {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
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

// unlock releases the lock on an open file. Closing the file is not enough: a process that was
// just forked holds it open, too, until its exec.
func unlock(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) // fails on a file system without locks
}

// identity returns what the system identifies a directory by, whatever paths lead to it.
func identity(dir string) (string, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("%s has no number", dir)
	}
	return fmt.Sprintf("%x-%x", st.Dev, st.Ino), nil
}
