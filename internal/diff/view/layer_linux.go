package view

import (
	"errors"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// opaqueMark is what an overlay mounted with userxattr has on a directory that hides
// the one below it.
const opaqueMark = "user.overlay.opaque"

// whiteout reports whether a file of a layer says that there is none.
func whiteout(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode()&fs.ModeCharDevice != 0 && st.Rdev == 0
}

func opaque(dir string) bool {
	var value [1]byte
	n, err := unix.Lgetxattr(dir, opaqueMark, value[:])
	return err == nil && n == 1 && value[0] == 'y'
}

func unsetOpaque(dir string) error {
	if err := unix.Lremovexattr(dir, opaqueMark); err != nil && !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}
