package proc

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// writes is an inotify(7) instance.
type writes struct {
	fd     int
	events *os.File // has fd
	buf    [4096]byte
}

// watchWrites fails where there are too many instances already.
func watchWrites() (*writes, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch for writes: %w", err)
	}
	return &writes{fd: fd, events: os.NewFile(uintptr(fd), "inotify")}, nil
}

// add returns what drop wants.
func (w *writes) add(files []*stream) (watches []uint32, err error) {
	for _, f := range files {
		// By its descriptor: the file may have no name.
		watch, err := unix.InotifyAddWatch(w.fd, fmt.Sprintf("/proc/self/fd/%d", f.file.Fd()), unix.IN_MODIFY)
		if err != nil {
			w.drop(watches)
			return nil, fmt.Errorf("watch for writes: %w", err)
		}
		watches = append(watches, uint32(watch)) // never negative without an error
	}
	return watches, nil
}

func (w *writes) drop(watches []uint32) {
	for _, watch := range watches {
		_, _ = unix.InotifyRmWatch(w.fd, watch) // there is nothing else to do about it
	}
}

// wait returns when a file has been written to, or emptied, since the last
// time, or a watch has been dropped; with an error when w is closed.
func (w *writes) wait() error {
	_, err := w.events.Read(w.buf[:])
	return err
}

func (w *writes) close() { _ = w.events.Close() }
