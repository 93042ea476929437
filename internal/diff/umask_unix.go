//go:build unix

package diff

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Umask returns the permission bits that new files do not get.
func Umask() fs.FileMode { return umask() }

//nolint:gochecknoglobals // a process has one, and it is needed for every file
var umask = sync.OnceValue(func() fs.FileMode {
	status, _ := os.ReadFile("/proc/self/status") // if there is one, umask need not be set to be read
	if _, text, ok := strings.Cut(string(status), "\nUmask:"); ok {
		text, _, _ = strings.Cut(text, "\n")
		if mask, err := strconv.ParseUint(strings.TrimSpace(text), 8, 32); err == nil {
			return fs.FileMode(mask) & fs.ModePerm
		}
	}
	mask := unix.Umask(0o077) // files made in between are private
	unix.Umask(mask)
	return fs.FileMode(mask) & fs.ModePerm
})
