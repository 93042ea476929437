package play

import (
	"os"
	"path/filepath"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/view"
)

// lockEnding is the suffix of the lock file next to a directory.
const lockEnding = ".lock"

// tempDirs holds temporary directories. Who uses one shares the lock on all of them.
type tempDirs string

// room makes a directory, whose name begins with one, and removes those of killed processes if it is the only one.
func (a tempDirs) room(name string) (dir string, done func(), err error) {
	if err := os.MkdirAll(string(a), 0o700); err != nil {
		return "", nil, err
	}
	a.tidy()
	lock, free, err := file.TryLock(string(a)+lockEnding, true)
	for ; !free && err == nil; lock, free, err = file.TryLock(string(a)+lockEnding, true) { // others tidy up
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp(string(a), name+"."); err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		_ = lock.Close()
	}
	return dir, func() {
		_ = view.Remove(dir) // what stays is tidied up
		_ = lock.Close()
	}, err
}

// tidy removes the directories of killed processes, unless somebody uses one.
func (a tempDirs) tidy() {
	lock, alone, err := file.TryLock(string(a)+lockEnding, false)
	if err != nil || !alone {
		return
	}
	defer lock.Close()                  //nolint:errcheck // the system releases it
	entries, _ := os.ReadDir(string(a)) // a missing directory is empty
	for _, e := range entries {
		_ = view.Remove(filepath.Join(string(a), e.Name())) // on failure the next one tries again
	}
}
