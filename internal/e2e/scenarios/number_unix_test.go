//go:build unix

package scenarios

import (
	"io/fs"
	"syscall"
)

// number returns a file's inode number.
func number(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}
