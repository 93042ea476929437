//go:build unix

package file

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// open never blocks: a FIFO without a writer opens at once and is then seen
// not to be a regular file.
func open(path string, noFollow bool) (*os.File, error) {
	flags := os.O_RDONLY | syscall.O_NONBLOCK
	if noFollow {
		flags |= syscall.O_NOFOLLOW
	}
	f, err := os.OpenFile(path, flags, 0)
	if noFollow && errors.Is(err, syscall.ELOOP) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	return f, err
}
