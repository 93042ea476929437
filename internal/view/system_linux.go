package view

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// share makes a file that shares the blocks of another one, see ioctl_ficlone(2).
func share(from, to string) (err error) {
	in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = unix.IoctlFileClone(int(out.Fd()), int(in.Fd())); err != nil {
		err = &fs.PathError{Op: "clone", Path: from, Err: err}
	}
	return errors.Join(err, out.Close())
}

// spread makes ext4 place the subdirectories of a directory far from each other. Without a journal,
// ext4 checks each recently freed inode of a group before it allocates one: copying next to a copy
// that was just removed took five times as long.
func spread(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // only read
	if flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS); err == nil {
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags|topDir) // otherwise it is slower
	}
}

// topDir is FS_TOPDIR_FL of linux/fs.h, see chattr(1).
const topDir = 0x00020000
