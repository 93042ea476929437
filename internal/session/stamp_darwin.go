package session

import (
	"io/fs"
	"syscall"
)

// inner returns what only the system sets of a file: the time of its last change of any kind,
// in nanoseconds, and its number.
func inner(st fs.FileInfo) (changed int64, number uint64) {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return sys.Ctimespec.Nano(), sys.Ino
	}
	return st.ModTime().UnixNano(), 0
}
