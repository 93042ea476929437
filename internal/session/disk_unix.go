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
