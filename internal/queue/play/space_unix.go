//go:build unix && !netbsd && !openbsd && !solaris

package play

import "golang.org/x/sys/unix"

// space returns the bytes that are free for a directory, as far as the system tells.
func space(dir string) (free uint64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}
