//go:build unix

package door

import (
	"io/fs"
	"os"
	"syscall"
)

// private reports whether a directory is the user's, and nobody else can do anything in it.
func private(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
