package play

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/session"
	"codeloops/internal/view"
)

// lockEnding is the suffix of the lock file next to a directory of [tempDirs].
const lockEnding = ".lock"

// How often, and how long apart, a lock is tried: a process that tidies up takes those that were just made, too,
// before it finds nothing to remove.
const (
	tries = 200
	pause = 10 * time.Millisecond
)

// tempDirs holds temporary directories, each used by one process.
type tempDirs string

// room makes a directory, and removes those of killed processes.
func (a tempDirs) room(name string) (dir string, done func(), err error) {
	home := string(a)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", nil, err
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return "", nil, err
	}
	a.tidy()
	dir = filepath.Join(home, name)
	lock, free, err := session.LockFile(dir + lockEnding)
	for try := 1; err == nil && !free && try < tries; try++ {
		time.Sleep(pause)
		lock, free, err = session.LockFile(dir + lockEnding)
	}
	if err == nil && !free {
		err = fmt.Errorf("another process is at work in %s", dir)
	}
	if err != nil {
		return "", nil, err
	}
	done = func() {
		// The lock file goes last: directories are found by it.
		if view.Remove(dir) == nil {
			_ = os.Remove(dir + lockEnding)
		}
		_ = lock.Close()
	}
	if err := errors.Join(view.Remove(dir), os.MkdirAll(dir, 0o700)); err != nil {
		done()
		return "", nil, err
	}
	return dir, done, nil
}

// tidy removes the directories of killed processes.
func (a tempDirs) tidy() {
	entries, _ := os.ReadDir(string(a)) // a missing directory is empty
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), lockEnding)
		if !ok {
			continue
		}
		path := filepath.Join(string(a), e.Name())
		lock, free, err := session.LockFile(path)
		if err != nil || !free {
			continue
		}
		if view.Remove(filepath.Join(string(a), name)) == nil { // on failure the next one tries again
			_ = os.Remove(path)
		}
		_ = lock.Close()
	}
}
