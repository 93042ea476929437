package scan

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"codeloops/internal/file"
)

// File systems that package unix does not name.
const (
	zfsMagic      = 0x2fc12fc1
	bcachefsMagic = 0xca451a4e
	smb2Magic     = 0xfe534d42
)

// ClockOf says how far the times of files in a directory can be trusted. Local file systems take
// them from the kernel's tick, which is 10 ms at most, or a few ticks late on a busy virtual
// machine. Network file systems ask a server. On tmpfs, a write through a mapping does not change
// them. Other file systems (fuse, 9p, vfat, ...) give no guarantee.
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

// keepsTimes tries out, with an unnamed temporary file, whether a write through a mapping that was
// read before changes the times.
func keepsTimes(dir string) bool {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return false
	}
	defer unix.Close(fd) //nolint:errcheck // a temporary file
	if _, err := unix.Write(fd, []byte{0}); err != nil {
		return false // on a full disk, writing to the mapping would kill the process
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
