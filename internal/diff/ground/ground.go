//go:build linux

// Package ground notices what changes under a work tree without a trace in the
// times of its directories.
//
// That is what is mounted over a directory, or unmounted from it; a directory
// above the root that is moved, so that the root's path leads elsewhere; and a
// snapshot of a volume that takes the volume's place, with the times and the inodes
// of what it was made of.
package ground

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ErrFileSystem is a work tree on a file system that others may change, too, or
// with one mounted in it.
var ErrFileSystem = errors.New("not on a local file system")

// A Ground is what a work tree stood on when it was looked at first. It is used by
// one goroutine at a time.
type Ground struct {
	root   string
	site   site
	mounts mounts
}

// A volume is what is in one mount and, where a file system has several of them,
// in one subvolume.
type volume struct {
	mount        uint64 // 0 where the system does not say
	major, minor uint32 // the device
}

// A site is a directory in a volume.
type site struct {
	volume
	id    unix.Fsid // of the volume: the device of a subvolume that is deleted goes to the next one
	inode uint64
}

// Open looks at the work tree at root, an absolute path free of symlinks. The error
// wraps [ErrFileSystem], or says what the system does not tell.
func Open(root string) (*Ground, error) {
	g := &Ground{root: root}
	var err error
	if g.mounts, err = openMounts(root); err != nil {
		return nil, err
	}
	if g.site, err = siteOf(root); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// Close lets go of the system's table of mounts.
func (g *Ground) Close() { g.mounts.close() }

// Changed reports whether the work tree stands on anything else by now, or that
// cannot be told.
func (g *Ground) Changed() bool {
	now, err := siteOf(g.root)
	return err != nil || now != g.site || g.mounts.changed(g.root)
}

// Holds reports whether an open directory of the work tree is in the root's own
// volume. One that is elsewhere could not be unmounted as long as it is open, and a
// snapshot may take its place.
func (g *Ground) Holds(fd int) bool {
	v, _, err := volumeOf(fd, "")
	return err == nil && v.mount != 0 && v == g.site.volume
}

func siteOf(root string) (at site, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(root, &fs); err != nil {
		return at, fmt.Errorf("look at the file system of %s: %w", root, err)
	}
	at.id = fs.Fsid
	if at.volume, at.inode, err = volumeOf(unix.AT_FDCWD, root); err != nil {
		return at, fmt.Errorf("look at %s: %w", root, err)
	}
	return at, nil
}

// volumeOf returns the volume that a directory is in, with its number there.
func volumeOf(dir int, path string) (v volume, inode uint64, err error) {
	var st unix.Statx_t
	err = unix.Statx(dir, path, unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_MNT_ID, &st)
	v.major, v.minor = st.Dev_major, st.Dev_minor
	if st.Mask&unix.STATX_MNT_ID != 0 {
		v.mount = st.Mnt_id
	}
	return v, st.Ino, err
}
