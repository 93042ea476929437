package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"codeloops/internal/loop"
)

// A Leftover is a file or a directory of ours that a killed process left.
type Leftover struct {
	What string
	Path string
	Of   string // the session that it belongs to; "" if none
}

// draft matches temporary files, which are renamed within moments.
var draft = regexp.MustCompile(`^\.((codeloops|doctor|index|redacted)-[0-9]+|index)$`)

// soon is how old such a file may be without being a leftover.
const soon = time.Hour

// Leftovers returns what nobody needs any more: the activities of agents in sessions that are
// not running, the forks of sessions that cannot be resumed, folders of logs that are gone,
// and drafts. It follows no links. waiting are the sessions that have forks and can be resumed.
func (s *Store) Leftovers(now time.Time) (all []Leftover, waiting []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("look for leftovers: %w", err)
	}
	c := collector{store: s, now: now}
	for _, e := range entries {
		path := filepath.Join(s.dir, e.Name())
		id, folder := strings.CutSuffix(e.Name(), folderEnding)
		switch _, ours := Began(id); {
		case folder && ours && e.IsDir():
			c.beside(id, path)
		case c.drafted(e):
			c.add("a draft", path, "")
		}
	}
	return c.all, c.waiting, nil
}

// A collector collects leftovers.
type collector struct {
	store   *Store
	now     time.Time
	all     []Leftover
	waiting []string
}

func (c *collector) add(what, path, of string) { c.all = append(c.all, Leftover{what, path, of}) }

// drafted reports whether a file is a draft that should have been renamed long ago.
func (c *collector) drafted(e fs.DirEntry) bool {
	if !draft.MatchString(e.Name()) || !e.Type().IsRegular() {
		return false
	}
	info, err := e.Info()
	return err == nil && c.now.Sub(info.ModTime()) > soon
}

// beside adds the leftovers in the folder of a session.
func (c *collector) beside(id, folder string) {
	if _, err := os.Lstat(c.store.Path(id)); errors.Is(err, fs.ErrNotExist) {
		if info, err := os.Lstat(folder); err == nil && c.now.Sub(info.ModTime()) > soon { // a new session makes its folder first
			c.add("what stood beside a log that is gone", folder, "")
		}
		return
	}
	if at, err := c.store.Running(id); at || err != nil {
		return
	}
	entries, _ := os.ReadDir(folder) // it was there
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case e.Name() == liveName && e.Type().IsRegular():
			c.add("what an agent was doing", path, id)
		case c.drafted(e):
			c.add("a draft", path, id)
		case e.Name() != forksDir || !e.IsDir():
		case Look(c.store.Path(id)).Status == Status(loop.Success): // it will not be resumed
			c.add("copies of the work tree", path, id)
		default:
			c.waiting = append(c.waiting, id)
			c.half(id, path)
		}
	}
}

// half adds the forks whose removal was interrupted.
func (c *collector) half(id, forks string) {
	entries, _ := os.ReadDir(forks)
	for _, e := range entries {
		if e.IsDir() && strings.HasSuffix(e.Name(), ".removed") {
			c.add("the rest of a copy of the work tree", filepath.Join(forks, e.Name()), id)
		}
	}
}

// forksDir is where the forks of a session are, in its folder. Resuming the session uses them.
const forksDir = "forks"

// StaleLocks returns the lock files in a user's directory for locks that nobody holds, with the sockets of their runs, and
// whether anybody holds another one.
func StaleLocks(dir string) (stale []string, busy bool) {
	entries, _ := os.ReadDir(dir) // no directory, no locks
	for _, e := range entries {
		id, lock := strings.CutSuffix(e.Name(), lockEnding)
		id, socket := strings.CutSuffix(id, doorEnding)
		switch {
		case lock != e.Type().IsRegular() || !lock && !socket: // it is not ours
		case (place{dir: dir, name: id + lockEnding}).held("") != nil:
			busy = true
		default:
			stale = append(stale, filepath.Join(dir, e.Name()))
		}
	}
	return stale, busy
}

// StaleGitLock returns the lock file of a work tree in its git directory if nobody holds it,
// else "".
func StaleGitLock(gitDir string) string {
	path := filepath.Join(gitDir, gitLock)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || (place{dir: gitDir, name: gitLock}).held("") != nil {
		return ""
	}
	return path
}

// RemoveStale removes a stale lock, or calls remove for the socket of one, unless somebody has taken the lock meanwhile.
func RemoveStale(path string, remove func(path string) error) error {
	lock := path
	if id, socket := strings.CutSuffix(path, doorEnding); socket {
		lock = id + lockEnding
	}
	held, free, err := LockFile(lock)
	if err != nil || !free {
		return err
	}
	err = remove(path)
	_ = os.Remove(lock) // it is that, or was made just now
	return errors.Join(err, held.Close())
}
