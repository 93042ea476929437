package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"codeloops/internal/file"
	"codeloops/internal/wording"
)

// ErrRunning says that a session is running and must be left alone.
var ErrRunning = errors.New("the session is running")

// Remove deletes the log of a session and the folder beside it. It rejects a
// running one with [ErrRunning]. The log goes last: if Remove fails halfway, it can
// be called again.
func (s *Store) Remove(id string) error {
	left := false
	err := s.Alone(id, func() error {
		err := os.RemoveAll(folderOf(s.Path(id)))
		left = err == nil && os.Remove(s.Path(id)) != nil
		return err
	})
	if left { // Windows does not remove an open file
		err = errors.Join(err, os.Remove(s.Path(id)))
	}
	if err != nil {
		return fmt.Errorf("remove session %s: %w", wording.Path(id), err)
	}
	return nil
}

// Alone calls do while nobody works on a session, and nobody can begin to. The error is
// [ErrRunning] if somebody does.
func (s *Store) Alone(id string, do func() error) error {
	log, _, err := openLog(s.Path(id)) // only locked, never read
	if err != nil {
		return err
	}
	free, err := lockAlone(log)
	if err == nil && !free {
		err = ErrRunning
	} else {
		err = do() // also on a file system without locks, as a recorder does
	}
	file.UnlockFile(log)
	return errors.Join(err, log.Close())
}

// Space returns the size of a session's log and the files beside it.
func (s *Store) Space(id string) int64 { return Size(s.Path(id)) + Size(folderOf(s.Path(id))) }

// Size returns the size in bytes of a file, or of all files in a directory. Files that cannot be
// examined count as nothing.
func Size(path string) (bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
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
