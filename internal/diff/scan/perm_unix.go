//go:build unix

package scan

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Umask returns the permissions that new files do not get.
func Umask() fs.FileMode { return umask() }

//nolint:gochecknoglobals // a process has one, and it is asked for with every file
var umask = sync.OnceValue(func() fs.FileMode {
	status, _ := os.ReadFile("/proc/self/status") // where there is one, nothing has to be set
	if _, text, ok := strings.Cut(string(status), "\nUmask:"); ok {
		text, _, _ = strings.Cut(text, "\n")
		if mask, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32); err == nil {
			return fs.FileMode(mask) & fs.ModePerm
		}
	}
	mask := unix.Umask(0o077) // what is made in between is private
	unix.Umask(mask)
	return fs.FileMode(mask) & fs.ModePerm
})

// oddPerm returns the permissions of a regular file that has others than umask gives,
// else 0.
func oddPerm(mode uint32) uint16 {
	perm, git := fs.FileMode(mode)&fs.ModePerm, modeOf(mode)
	if git != Regular && git != Executable || perm == Usual(git, umask()) {
		return 0
	}
	return odd | uint16(perm)
}
