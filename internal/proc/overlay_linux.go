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

// mounting returns the attributes of a keeper that can mount views. It has a mount
// namespace in a user namespace (user_namespaces(7)), in which it may mount without
// privileges. It keeps all user and group IDs that it may map, which for users other
// than root is only their own.
//
// The kernel copies and creates files in an overlay with the capabilities of the process
// that mounted it, so that process needs all those over files.
func mounting() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Setsid:      true,
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: idMappings("uid_map", os.Geteuid()),
		GidMappings: idMappings("gid_map", os.Getegid()),
		// Only root may map other IDs; for others, mapping a group requires setgroups to be off.
		GidMappingsEnableSetgroups: os.Geteuid() == 0,
		AmbientCaps: []uintptr{
			unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP,
			unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_MKNOD, unix.CAP_SETFCAP,
		},
	}
}

// idMappings returns the user or group IDs that a namespace shares with this one.
func idMappings(kind string, own int) (all []syscall.SysProcIDMap) {
	if os.Geteuid() == 0 {
		text, _ := os.ReadFile("/proc/self/" + kind) // if unreadable, our own ID will do
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

// mount mounts a view. It then drops, on this thread, the capabilities with which a
// command could unmount it to see what is below.
func mount(v View) error {
	if v.empty() {
		return nil
	}
	for _, b := range slices.Backward(v.Binds) { // the first one covers the others
		if err := unix.Mount(b.Of, b.Dir, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("show %s as %s: %w", b.Of, b.Dir, err)
		}
	}
	for _, o := range v.Overlays {
		var lower []string
		for _, dir := range o.lower() {
			lower = append(lower, escape(dir))
		}
		// volatile: what is written need not survive a power cut. Without it, each unmount
		// would sync the whole file system that Upper is in.
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr,volatile", strings.Join(lower, ":"), escape(o.Upper), escape(o.Work))
		if err := unix.Mount("overlay", o.Dir, "overlay", 0, options); err != nil {
			return fmt.Errorf("lay an overlay above %s: %w", o.Dir, err)
		}
	}
	for _, dir := range v.Hidden {
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0700,size=1m"); err != nil {
			return fmt.Errorf("hide %s: %w", dir, err)
		}
	}
	return dropCapabilities()
}

func (o Overlay) lower() []string {
	if o.Lower != nil {
		return o.Lower
	}
	return []string{o.Dir}
}

// unmount undoes mount, and reports whether it succeeded.
func unmount(v View) bool {
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

// escape escapes a path for the options of an overlay.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `:`, `\:`, `,`, `\,`).Replace(path)
}

// dropCapabilities leaves the programs that this thread starts no capabilities beyond
// those over files that root has in a container. That holds even for root, who cannot
// regain any by running a program.
func dropCapabilities() error {
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
		if errors.Is(err, unix.EINVAL) { // beyond the last one
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
