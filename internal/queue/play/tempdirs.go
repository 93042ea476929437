package play

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/file"
	"codeloops/internal/view"
)

// lockEnding is the suffix of the lock file next to a directory of [tempDirs].
const lockEnding = ".lock"

// tempDirs holds temporary directories, each used by one process.
type tempDirs string

// room makes a directory, whose name begins with one, and removes those of killed processes.
func (a tempDirs) room(name string) (dir string, done func(), err error) {
	home := string(a)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", nil, err
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return "", nil, err
	}
	a.tidy()
	var lock io.Closer
	for free := false; !free; { // whoever tidies up may take one that was just made
		dir = filepath.Join(home, name+"."+rand.Text())
		if lock, free, err = file.TryLock(dir+lockEnding, false); err != nil {
			return "", nil, err
		}
	}
	done = func() {
		// The lock file goes last: directories are found by it.
		if view.Remove(dir) == nil {
			_ = os.Remove(dir + lockEnding)
		}
		_ = lock.Close()
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
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
		lock, free, err := file.TryLock(path, false)
		if err != nil || !free {
			continue
		}
		if view.Remove(filepath.Join(string(a), name)) == nil { // on failure the next one tries again
			_ = os.Remove(path)
		}
		_ = lock.Close()
	}
}
