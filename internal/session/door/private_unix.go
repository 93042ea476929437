//go:build unix

package door

import (
	"io/fs"
	"os"
	"syscall"
)

// private reports whether a directory belongs to the user and nobody else has access.
func private(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
