package session

import (
	"os"

	"golang.org/x/sys/unix"
)

// readSparsely says that only a little of a file will be read: the system need
// not read ahead.
func readSparsely(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM) // no more than advice
}
