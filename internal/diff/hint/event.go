//go:build linux

package hint

import (
	"bytes"
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// drain reads some events. It reports false when there are none.
func (w *Watcher) drain(c *changes) bool {
	n, err := unix.Read(w.fd, w.buffer)
	switch {
	case errors.Is(err, unix.EINTR):
		return true
	case errors.Is(err, unix.EAGAIN):
		return false
	case err != nil || n < unix.SizeofInotifyEvent:
		w.fail(ErrLost)
		return false
	}
	for events := w.buffer[:n]; len(events) > 0; {
		e, rest, ok := parse(events)
		if !ok {
			w.fail(ErrLost)
			return false
		}
		w.take(e, c)
		events = rest
	}
	return true
}

// An event is a struct inotify_event.
type event struct {
	watch int32
	mask  uint32
	name  string // within the directory; "" for the directory itself
}

// parse reads one event: watch, mask, cookie and the length of the name in 4
// bytes each, and the name, filled up with zeros.
func parse(b []byte) (e event, rest []byte, ok bool) {
	if len(b) < unix.SizeofInotifyEvent {
		return event{}, nil, false
	}
	e.watch = int32(binary.NativeEndian.Uint32(b))
	e.mask = binary.NativeEndian.Uint32(b[4:])
	size := binary.NativeEndian.Uint32(b[12:])
	b = b[unix.SizeofInotifyEvent:]
	if uint64(size) > uint64(len(b)) {
		return event{}, nil, false
	}
	name, _, _ := bytes.Cut(b[:size], []byte{0})
	e.name = string(name)
	return e, b[size:], true
}

func (e event) is(mask uint32) bool { return e.mask&mask != 0 }

// changes are what events have told.
type changes struct {
	touched map[string]bool // with the directories above
	gone    map[string]bool // or another one, with all that is below
}

func (w *Watcher) take(e event, c *changes) {
	dir, known := w.dirs[e.watch]
	switch {
	case e.is(unix.IN_Q_OVERFLOW | unix.IN_UNMOUNT):
		w.fail(ErrLost)
	case !known: // no longer
	case dir == "" && e.is(unix.IN_MOVE_SELF|unix.IN_IGNORED):
		w.fail(ErrLost)
	case e.is(unix.IN_IGNORED):
		c.gone[dir] = true
	case e.is(unix.IN_ISDIR) && e.is(unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVED_FROM|unix.IN_MOVED_TO):
		mark(c.touched, dir)
		c.gone[dir+e.name+"/"] = true
	default:
		mark(c.touched, dir)
	}
}

// forget ends the watching of directories that may be gone, with all that is
// below: others may stand there now. A watch goes with its directory wherever
// that is moved.
func (w *Watcher) forget(c *changes) {
	if len(c.gone) == 0 {
		return
	}
	for dir, wd := range w.watches {
		if !gone(dir, c.gone) {
			continue
		}
		mark(c.touched, dir)
		delete(w.watches, dir)
		delete(w.dirs, wd)
		_, _ = unix.InotifyRmWatch(w.fd, uint32(wd)) // fails when the directory is gone
	}
}

func gone(dir string, dirs map[string]bool) bool {
	for ; dir != ""; dir = above(dir) {
		if dirs[dir] {
			return true
		}
	}
	return false
}
