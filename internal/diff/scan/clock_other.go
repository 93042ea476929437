//go:build !linux

package scan

import (
	"runtime"
	"time"
)

// clockOf tells how far the times of a file system can be relied on: some
// round them to two seconds, and NTFS is late with those of directories.
func clockOf(string) clock {
	return clock{slack: 3 * time.Second, dirs: runtime.GOOS == "darwin"}
}
