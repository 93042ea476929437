package scan

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Keeps reports whether the times of files in a directory tell of every change of
// their contents, as those of the system's own file systems do.
func Keeps(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && slices.Contains([]string{"apfs", "hfs"}, unix.ByteSliceToString(fs.Fstypename[:]))
}
