//go:build linux

// Package hint tells which directories of a work tree may have changed since
// it was asked last.
//
// Its word is that of inotify(7): whoever has written a file, and closed it, is
// reported, on a local file system. Not reported are writes through a mapping
// of the file before it is closed and unmapped, and through a name that the
// file has outside the directories that are watched; those are for a full scan
// to find. Anything else that inotify may miss is [ErrLost].
package hint

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"codeloops/internal/diff/ground"
)

// What a [Watcher] cannot do.
var (
	// ErrLost: something has happened of which no more is known. A new Watcher
	// may do better.
	ErrLost = errors.New("lost track of the changes")
	// ErrUnavailable: the system does not allow as many watches, or does not
	// report changes to this work tree.
	ErrUnavailable = errors.New("changes cannot be watched here")
)

// mask is every event by which a directory's names or its files may come to
// differ. The events of reading are not in it.
const mask = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_MOVE_SELF

// how is to watch directories only, never through a symlink.
const how = unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// A Watcher watches directories of one work tree. Directories are named by
// their path from the root with a slash at its end; the root is "". Its methods
// may be called from several goroutines.
type Watcher struct {
	root    string
	ground  *ground.Ground
	prepare sync.WaitGroup

	mu      sync.RWMutex
	fd      int
	closed  bool
	ready   bool
	err     error // once it is set, nothing more is known
	dirs    map[int32]string
	watches map[string]int32
	unsure  map[string]bool
	buffer  []byte
}

// New watches nothing yet in the work tree at root, an absolute path free of
// symlinks. The error is [ErrUnavailable].
func New(root string) (*Watcher, error) {
	under, err := ground.Open(root)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		under.Close()
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return &Watcher{
		root: root, ground: under, fd: fd, buffer: make([]byte, 64<<10),
		dirs: make(map[int32]string), watches: make(map[string]int32),
		unsure: make(map[string]bool),
	}, nil
}

// Close ends the watching, and waits for Prepare to notice.
func (w *Watcher) Close() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		w.fail(ErrLost)
		_ = unix.Close(w.fd)
		w.ground.Close()
	}
	w.mu.Unlock()
	w.prepare.Wait()
}

// Prepare watches the directories, of which each comes after the one above it,
// in the background; until that is done, Ready reports false. It gives up if
// they are more than half of what the user may watch: other programs watch,
// too. It is called once.
func (w *Watcher) Prepare(dirs func(yield func(dir string) bool)) {
	w.prepare.Go(func() {
		most, n := userWatches()/2, 0
		for dir := range dirs {
			if n++; n > most || w.broken() {
				break
			}
			w.Watch(dir)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ready = true
		if n > most {
			w.fail(fmt.Errorf("%w: they would be more than %d directories", ErrUnavailable, most))
		}
	})
}

func (w *Watcher) broken() bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.err != nil
}

// Ready reports whether Prepare is done, be it in vain.
func (w *Watcher) Ready() bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.ready
}

// Watch begins to watch a directory unless it is being watched. What is read of
// it afterwards holds until Changed names it, or fails.
func (w *Watcher) Watch(dir string) {
	w.mu.RLock()
	_, watched := w.watches[dir]
	watched = watched || w.err != nil
	w.mu.RUnlock()
	if watched {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.watch(dir)
	}
}

func (w *Watcher) watch(dir string) {
	wd, err := unix.InotifyAddWatch(w.fd, filepath.Join(w.root, dir), mask|how)
	switch {
	case err == nil:
		if other, ok := w.dirs[int32(wd)]; ok { // it was moved, which will be told
			delete(w.watches, other)
		}
		w.dirs[int32(wd)], w.watches[dir] = dir, int32(wd)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		// It is gone, of which the directory above tells.
	case errors.Is(err, unix.EACCES):
		mark(w.unsure, dir)
	default:
		w.fail(fmt.Errorf("%w: watch %s: %w", ErrUnavailable, dir, err))
	}
}

// Unsure names a directory in which changes may come without a sign: Changed
// names it from now on every time.
func (w *Watcher) Unsure(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	mark(w.unsure, dir)
}

// Changed returns the directories that may have changed since the last
// question, with all those above them. The error is [ErrLost] or
// [ErrUnavailable], now and ever after.
func (w *Watcher) Changed() (dirs map[string]bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.ground.Changed() {
		w.fail(ErrLost)
	}
	c := changes{touched: maps.Clone(w.unsure), gone: make(map[string]bool)}
	for w.err == nil && w.drain(&c) {
	}
	if w.err != nil {
		return nil, w.err
	}
	w.forget(&c)
	return c.touched, nil
}

func (w *Watcher) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// mark adds a directory with those above it.
func mark(dirs map[string]bool, dir string) {
	for !dirs[dir] {
		dirs[dir] = true
		if dir == "" {
			return
		}
		dir = above(dir)
	}
}

// above returns the directory that holds a directory other than the root.
func above(dir string) string { return dir[:strings.LastIndexByte(dir[:len(dir)-1], '/')+1] }

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
