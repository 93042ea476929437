//go:build linux

package ground

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// local returns the file systems of which the kernel sees every change.
func local() []string {
	return []string{"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "f2fs", "overlay"}
}

// mounts is the system's table of what is mounted, see proc_pid_mountinfo(5).
type mounts struct {
	fd       int
	relevant string // what bears on the work tree
}

const mountinfo = "/proc/self/mountinfo"

func openMounts(root string) (mounts, error) {
	fd, err := unix.Open(mountinfo, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return mounts{}, &os.PathError{Op: "open", Path: mountinfo, Err: err}
	}
	m := mounts{fd: fd}
	m.stirred() // by what was before
	if m.relevant, err = readMounts(root); err != nil {
		m.close()
	}
	return m, err
}

func (m mounts) close() { _ = unix.Close(m.fd) }

func readMounts(root string) (string, error) {
	content, err := os.ReadFile(mountinfo)
	if err != nil {
		return "", err
	}
	return relevant(string(content), root)
}

// changed reports whether what is mounted is not what was in the beginning, or
// cannot be told.
func (m mounts) changed(root string) bool {
	if !m.stirred() {
		return false
	}
	now, err := readMounts(root)
	return err != nil || now != m.relevant
}

// stirred reports whether anything has been mounted or unmounted anywhere since
// the last question.
func (m mounts) stirred() bool {
	fds := []unix.PollFd{{Fd: int32(m.fd), Events: unix.POLLPRI}}
	for {
		_, err := unix.Poll(fds, 0)
		if !errors.Is(err, unix.EINTR) {
			return err != nil || fds[0].Revents&(unix.POLLPRI|unix.POLLERR) != 0
		}
	}
}

// relevant returns the lines about the file systems that the work tree is on:
// the one that its root is in, and those that are mounted below. They must be
// local.
func relevant(mounts, root string) (string, error) {
	var lines strings.Builder
	above, kind := "", ""
	for line := range strings.Lines(mounts) {
		point, typ, ok := parseMount(line)
		switch {
		case !ok:
			return "", fmt.Errorf("unknown form of mounts: %q", line)
		case within(root, point):
			if len(point) >= len(above) {
				above, kind = point, typ
			}
		case !within(point, root):
			continue
		case !slices.Contains(local(), typ):
			return "", fmt.Errorf("%s, %s: %w", point, typ, ErrFileSystem)
		}
		lines.WriteString(line)
	}
	if !slices.Contains(local(), kind) {
		return "", fmt.Errorf("%s, %s: %w", root, kind, ErrFileSystem)
	}
	return lines.String(), nil
}

// parseMount reads "36 35 98:0 /mnt1 /mnt/parent rw,noatime master:1 - ext3 …".
func parseMount(line string) (point, kind string, ok bool) {
	mount, fs, found := strings.Cut(line, " - ")
	fields, types := strings.Fields(mount), strings.Fields(fs)
	if !found || len(fields) < 5 || len(types) == 0 {
		return "", "", false
	}
	return unescape(fields[4]), types[0], true
}

// unescape replaces \ooo, which stands for white space and backslashes.
func unescape(s string) string {
	var b bytes.Buffer
	for {
		before, after, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if len(after) >= 3 {
			if c, err := strconv.ParseUint(after[:3], 8, 8); err == nil {
				b.WriteByte(byte(c))
				s = after[3:]
				continue
			}
		}
		b.WriteByte('\\')
		s = after
	}
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}
