package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrRunning says that a session is at work and must be left alone.
var ErrRunning = errors.New("the session is running")

// Remove deletes the log of a session and the folder beside it. It refuses a
// running one with [ErrRunning]. The log goes last: what is left when it fails
// halfway can be removed again.
func (s *Store) Remove(id string) error {
	running, err := s.Running(id)
	if err != nil {
		return err
	}
	if running {
		return fmt.Errorf("remove session %s: %w", id, ErrRunning)
	}
	if err := os.RemoveAll(s.folder(id)); err != nil {
		return fmt.Errorf("remove session %s: %w", id, err)
	}
	if err := os.Remove(s.path(id)); err != nil {
		return fmt.Errorf("remove session %s: %w", id, err)
	}
	return nil
}

// Space returns how many bytes the log of a session and the files beside it
// have. What cannot be looked at counts as nothing.
func (s *Store) Space(id string) (bytes int64) {
	if st, err := os.Lstat(s.path(id)); err == nil {
		bytes = st.Size()
	}
	_ = filepath.WalkDir(s.folder(id), func(_ string, entry fs.DirEntry, err error) error {
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

func (s *Store) folder(id string) string { return filepath.Join(s.dir, id+folderEnding) }
