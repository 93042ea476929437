//go:build unix

package leftovers

import (
	"io/fs"
	"os"
	"syscall"
)

// owned reports whether something is the user's.
func owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
