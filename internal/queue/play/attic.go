package play

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/session"
	"codeloops/internal/view"
)

// lockEnding ends the name of the lock beside a directory of an [attic].
const lockEnding = ".lock"

// An attic has directories for what one process has a use for, and only for now.
type attic string

// room makes one. What those who were killed have left of theirs is removed.
func (a attic) room(name string) (dir string, done func(), err error) {
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
	if err == nil && !free {
		err = fmt.Errorf("another process is at work in %s", dir)
	}
	if err != nil {
		return "", nil, err
	}
	done = func() {
		// The lock goes last, or nobody would look for the rest.
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

// tidy removes what processes that were killed have left.
func (a attic) tidy() {
	entries, _ := os.ReadDir(string(a)) // no directory, nothing left
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
		if view.Remove(filepath.Join(string(a), name)) == nil { // else the next one tries it again
			_ = os.Remove(path)
		}
		_ = lock.Close()
	}
}
