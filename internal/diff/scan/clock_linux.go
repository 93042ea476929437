package scan

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"codeloops/internal/repo/file"
)

// The file systems that are not named in package unix.
const (
	zfsMagic      = 0x2fc12fc1
	bcachefsMagic = 0xca451a4e
	smb2Magic     = 0xfe534d42
)

// ClockOf tells how far the times of files in a directory can be relied on. Local file
// systems take them from the kernel's tick, which is 10 ms at most, and late by some of
// them where a virtual machine waits for its processors; others ask a server. In memory
// (tmpfs) they do not tell of every change, as a file can be written to through a mapping
// without a trace; and nothing is known of what another program or system makes of them
// (fuse, 9p, vfat, ...).
func ClockOf(dir string) Clock {
	const tick = 100 * time.Millisecond
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return Clock{Slack: file.Slack}
	}
	switch int64(fs.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC:
		return Clock{Slack: tick, Keeps: true}
	case unix.OVERLAYFS_SUPER_MAGIC:
		return Clock{Slack: tick, Keeps: keepsTimes(dir)}
	case zfsMagic, bcachefsMagic, unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, smb2Magic:
		return Clock{Slack: file.Slack, Keeps: true}
	}
	return Clock{Slack: file.Slack}
}

// keepsTimes tries it, with a file that has no name: nothing shows in the directory.
// Its times are set back, and then it is written to through a mapping that has been
// read before.
func keepsTimes(dir string) bool {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return false
	}
	defer unix.Close(fd) //nolint:errcheck // nothing in it is wanted
	if _, err := unix.Write(fd, []byte{0}); err != nil {
		return false // a disk that is full would kill who writes to the mapping
	}
	mapped, err := unix.Mmap(fd, 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return false
	}
	defer unix.Munmap(mapped) //nolint:errcheck // likewise
	is := mapped[0]
	const longAgo = 1
	back := []unix.Timespec{{Sec: longAgo}, {Sec: longAgo}}
	if unix.UtimesNanoAt(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), back, 0) != nil {
		return false
	}
	mapped[0] = is + 1
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mtim.Sec > longAgo && st.Ctim.Sec > longAgo
}
