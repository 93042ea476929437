package session

import (
	"os"

	"golang.org/x/sys/unix"
)

// readSparsely tells the system that only a little of a file will be read, so that it does not
// read ahead.
func readSparsely(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM) // only advice
}
