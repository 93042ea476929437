package scan

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// clockOf tells how far the times of a file system can be relied on. Local
// ones take them from the kernel's tick, which is 10 ms at most, and change
// them with everything that is written; others ask a server, or round to
// seconds.
func clockOf(root string) clock {
	local := []int64{
		unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(root, &fs); err == nil && slices.Contains(local, int64(fs.Type)) {
		return clock{slack: 20 * time.Millisecond, dirs: true}
	}
	return clock{slack: 3 * time.Second}
}
