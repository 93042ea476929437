//go:build linux || darwin

package restore

import (
	"math"

	"golang.org/x/sys/unix"
)

// writable returns why no file can be made in a directory, as far as can be told.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// free returns how many bytes find room in a directory.
func free(dir string) (bytes int64, known bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil || st.Blocks == 0 {
		return 0, false
	}
	size := st.Bavail * uint64(st.Bsize)
	return int64(min(size, math.MaxInt64)), true
}
