package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A keeper that lays overlays has mounts of its own, in a user namespace of its own
// (user_namespaces(7)): there it may mount, with nobody's leave. It keeps all numbers of
// users and groups that it may keep, which for others than root is their own alone; it
// lifts the mounts of a command when nothing of that is left.
//
// Whoever mounts an overlay is the one who copies and makes files above it: that takes
// all capabilities over files.
func overlaying() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Setsid:      true,
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: numbers("uid_map", os.Geteuid()),
		GidMappings: numbers("gid_map", os.Getegid()),
		// Only root can say of others who they are, and groups need to be left alone otherwise.
		GidMappingsEnableSetgroups: os.Geteuid() == 0,
		AmbientCaps: []uintptr{
			unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP,
			unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_MKNOD, unix.CAP_SETFCAP,
		},
	}
}

// numbers are those of users, or groups, that a namespace shares with this one.
func numbers(kind string, own int) (all []syscall.SysProcIDMap) {
	if os.Geteuid() == 0 {
		text, _ := os.ReadFile("/proc/self/" + kind) // or its own will do
		for line := range strings.Lines(string(text)) {
			var inside, outside, count int
			if _, err := fmt.Sscan(line, &inside, &outside, &count); err == nil {
				all = append(all, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: count})
			}
		}
	}
	if len(all) == 0 {
		all = []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}
	}
	return all
}

// lay makes the mounts of a view, and gives up, on this thread, what a command could undo
// that with: it must not see what is below.
func lay(v View) error {
	if !v.apart() {
		return nil
	}
	for _, b := range slices.Backward(v.Binds) { // the first one may hide what others show
		if err := unix.Mount(b.Of, b.Dir, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("show %s as %s: %w", b.Of, b.Dir, err)
		}
	}
	for _, o := range v.Overlays {
		lower := []string{escaped(o.Dir)}
		if o.Lower != nil {
			lower = nil
			for _, dir := range o.Lower {
				lower = append(lower, escaped(dir))
			}
		}
		// Nobody comes back to what is written above after a power cut. Without volatile the end
		// of each overlay would wait until all of the file system that Upper is in is on the disk.
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr,volatile", strings.Join(lower, ":"), escaped(o.Upper), escaped(o.Work))
		if err := unix.Mount("overlay", o.Dir, "overlay", 0, options); err != nil {
			return fmt.Errorf("lay an overlay above %s: %w", o.Dir, err)
		}
	}
	for _, dir := range v.Hidden {
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0700,size=1m"); err != nil {
			return fmt.Errorf("hide %s: %w", dir, err)
		}
	}
	return harmless()
}

// lift undoes lay, and reports whether nothing of it is left.
func lift(v View) bool {
	dirs := slices.Clone(v.Hidden)
	for _, o := range v.Overlays {
		dirs = append(dirs, o.Dir)
	}
	for _, b := range v.Binds {
		dirs = append(dirs, b.Dir)
	}
	for _, dir := range dirs {
		if unix.Unmount(dir, unix.UMOUNT_NOFOLLOW) != nil {
			return false
		}
	}
	return true
}

// escaped writes a path as an option of an overlay has it.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `:`, `\:`, `,`, `\,`).Replace(path)
}

// harmless sees to it that a program that this thread starts has no capability beyond
// those over files that root has in a container. That holds for root, whom no
// program can make more of.
func harmless() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	files := map[uintptr]bool{
		unix.CAP_CHOWN: true, unix.CAP_DAC_OVERRIDE: true, unix.CAP_FOWNER: true, unix.CAP_FSETID: true, unix.CAP_KILL: true,
		unix.CAP_SETGID: true, unix.CAP_SETUID: true, unix.CAP_NET_BIND_SERVICE: true, unix.CAP_SYS_CHROOT: true,
	}
	for c := uintptr(0); ; c++ {
		if files[c] {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) { // the system has no more of them
			break
		}
		if err != nil {
			return fmt.Errorf("give up capability %d: %w", c, err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	err := unix.Capget(&header, &data[0])
	if err == nil {
		data[0].Inheritable, data[1].Inheritable = 0, 0
		err = unix.Capset(&header, &data[0])
	}
	if err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}
