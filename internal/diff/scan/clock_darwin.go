package scan

import (
	"slices"

	"golang.org/x/sys/unix"

	"codeloops/internal/file"
)

// ClockOf says how far the times of files in a directory can be trusted: only on the system's own
// file systems.
func ClockOf(dir string) Clock {
	var fs unix.Statfs_t
	keeps := unix.Statfs(dir, &fs) == nil && slices.Contains([]string{"apfs", "hfs"}, unix.ByteSliceToString(fs.Fstypename[:]))
	return Clock{Slack: file.Slack, Keeps: keeps}
}
