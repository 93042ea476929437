package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"codeloops/internal/wording"
)

// ErrRunning says that a session is at work and must be left alone.
var ErrRunning = errors.New("the session is running")

// Remove deletes the log of a session and the folder beside it. It refuses a
// running one with [ErrRunning]. The log goes last: what is left when it fails
// halfway can be removed again.
func (s *Store) Remove(id string) error {
	log, _, err := openLog(s.Path(id)) // only locked, never read
	if err != nil {
		return fmt.Errorf("remove session %s: %w", wording.Path(id), err)
	}
	free, err := lockAlone(log) // as for a recorder: a file system without locks loses only this answer
	switch {
	case err == nil && !free:
		err = ErrRunning
	default:
		err = os.RemoveAll(folderOf(s.Path(id)))
	}
	left := err == nil && os.Remove(s.Path(id)) != nil
	unlock(log)
	err = errors.Join(err, log.Close())
	if left { // Windows removes no file that is open
		err = errors.Join(err, os.Remove(s.Path(id)))
	}
	if err != nil {
		return fmt.Errorf("remove session %s: %w", wording.Path(id), err)
	}
	return nil
}

// Space returns how many bytes the log of a session and the files beside it
// have. What cannot be looked at counts as nothing.
func (s *Store) Space(id string) (bytes int64) {
	if st, err := os.Lstat(s.Path(id)); err == nil {
		bytes = st.Size()
	}
	_ = filepath.WalkDir(folderOf(s.Path(id)), func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // the total is for information
		}
		if st, err := entry.Info(); err == nil && st.Mode().IsRegular() {
			bytes += st.Size()
		}
		return nil
	})
	return bytes
}
