//go:build linux

package hint

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

var errFileSystem = errors.New("not on a local file system")

// local returns the file systems of which the kernel sees every change.
func local() []string {
	return []string{"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "f2fs", "overlay"}
}

// mounts tells whether anything has been mounted or unmounted that bears on a
// work tree: that hides directories without an event.
type mounts struct {
	root     string
	fd       int
	relevant string
}

const mountinfo = "/proc/self/mountinfo"

func openMounts(root string) (*mounts, error) {
	fd, err := unix.Open(mountinfo, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: mountinfo, Err: err}
	}
	m := &mounts{root: root, fd: fd}
	m.stirred() // by what was before
	if m.relevant, err = m.read(); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *mounts) close() { _ = unix.Close(m.fd) }

func (m *mounts) read() (string, error) {
	content, err := os.ReadFile(mountinfo)
	if err != nil {
		return "", err
	}
	return relevant(string(content), m.root)
}

// changed reports whether the mounts are not those of the beginning, or cannot
// be told.
func (m *mounts) changed() bool {
	if !m.stirred() {
		return false
	}
	now, err := m.read()
	return err != nil || now != m.relevant
}

// stirred reports whether anything has been mounted or unmounted anywhere since
// the last question, as proc_pid_mountinfo(5) says.
func (m *mounts) stirred() bool {
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
			return "", fmt.Errorf("%s, %s: %w", point, typ, errFileSystem)
		}
		lines.WriteString(line)
	}
	if !slices.Contains(local(), kind) {
		return "", fmt.Errorf("%s, %s: %w", root, kind, errFileSystem)
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

// userWatches is how many directories a user may watch; where the system does
// not say, a number that it is never below by default.
func userWatches() int {
	const usual = 8192
	content, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return usual
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return usual
	}
	return n
}
