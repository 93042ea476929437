//go:build unix

package scenarios

import (
	"io/fs"
	"syscall"
)

// number is the number that the system knows a file by.
func number(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}
