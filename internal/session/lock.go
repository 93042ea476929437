package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A HeldError says that another run is working in a work tree. Fields that are not known are
// zero.
type HeldError struct {
	PID      int       `json:"pid"`
	Session  string    `json:"session"`
	Since    time.Time `json:"since"`
	WorkTree string    `json:"work_tree"`
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return "another process is already at work in " + e.WorkTree
	}
	return fmt.Sprintf("process %d is already at work in %s (session %s, since %s)",
		e.PID, e.WorkTree, e.Session, e.Since.UTC().Format(time.RFC3339))
}

// Hint returns what to do about it.
func (e *HeldError) Hint() string {
	return "wait for it, stop it, or run in another work tree (git worktree add)"
}

// A WorkTree is locked by one run at a time. It is identified both by its git directory, whose
// index and HEAD agents work on, and by the file number of its root directory, whatever paths
// lead there. So two work trees of one git directory exclude each other, and so do two git
// directories of one work tree.
//
// The root directory itself is not locked: an agent that runs `flock . make` would wait for
// ever.
type WorkTree struct {
	Root   string      // its directory
	GitDir string      // where its index and HEAD are
	Shared os.FileMode // permissions of a lock in the git directory, for those who share it
	Own    string      // the user's directory for locks; "" if there is none
}

// gitLock is the name of the lock in a git directory.
const gitLock = "codeloops-lock"

// A Lock keeps other runs out of a work tree until it is closed or its process ends.
type Lock struct {
	files []*os.File
}

// Acquire takes the lock of a work tree for a session that begins at since. The error is a
// [*HeldError] if another run has it.
func (w WorkTree) Acquire(session string, since time.Time) (*Lock, error) {
	places, err := w.places()
	if err != nil {
		return nil, fmt.Errorf("lock work tree %s: %w", w.Root, err)
	}
	h := HeldError{PID: os.Getpid(), Session: session, Since: since.UTC(), WorkTree: w.Root}
	l := &Lock{}
	for _, p := range places {
		f, err := p.take(h)
		if errors.Is(err, errNowhere) {
			continue
		}
		if _, held := errors.AsType[*HeldError](err); err != nil && !held {
			err = fmt.Errorf("lock work tree %s: %w", w.Root, err)
		}
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.files = append(l.files, f)
	}
	return l, nil
}

// Held returns who has the lock of a work tree, nil if nobody has.
func (w WorkTree) Held() *HeldError {
	places, _ := w.places() // without a root there is no lock
	for _, p := range places {
		if held := p.held(w.Root); held != nil {
			return held
		}
	}
	return nil
}

// Door is the path of the socket on which the run that holds the work tree takes requests; ""
// if the user has no directory for it. Only the holder of the lock creates it.
func (w WorkTree) Door() (string, error) {
	if w.Own == "" {
		return "", nil
	}
	id, err := identity(w.Root)
	if err != nil {
		return "", fmt.Errorf("look at work tree %s: %w", w.Root, err)
	}
	return filepath.Join(w.Own, id+doorEnding), nil
}

// The extensions of files in the user's directory for locks.
const (
	lockEnding = ".lock"
	doorEnding = ".sock"
)

// A Holder is a running session, as found in the user's directory for locks.
type Holder struct {
	Lock HeldError // what others get who want the lock
	Door string    // path of its socket, which need not exist
}

// Holders returns the running sessions that have a lock in a user's directory for locks, in
// the order in which they took it.
func Holders(dir string) (all []Holder) {
	entries, _ := os.ReadDir(dir) // no directory, no locks
	for _, e := range entries {
		id, lock := strings.CutSuffix(e.Name(), lockEnding)
		if !lock || !e.Type().IsRegular() {
			continue
		}
		held := place{dir: dir, name: e.Name()}.held("")
		if held == nil {
			continue
		}
		if _, session := Began(held.Session); session { // other commands hold it for a moment
			all = append(all, Holder{*held, filepath.Join(dir, id+doorEnding)})
		}
	}
	slices.SortFunc(all, func(a, b Holder) int { return a.Lock.Since.Compare(b.Lock.Since) })
	return all
}

// places are where the lock files are, in the order in which they are taken. Runs with
// different directories for logs see each other in the git directory.
func (w WorkTree) places() ([]place, error) {
	id, err := identity(w.Root)
	if err != nil {
		return nil, err
	}
	list := []place{{dir: w.GitDir, name: gitLock, mode: w.Shared.Perm() | 0o600}}
	if w.Own != "" {
		list = append(list, place{dir: w.Own, name: id + lockEnding, mode: 0o600, own: true})
	}
	return list, nil
}

// Close releases the lock.
func (l *Lock) Close() (err error) {
	for _, f := range l.files {
		err = errors.Join(err, giveBack(f))
	}
	l.files = nil
	return err
}

// lockAlone takes the lock of a log for its recorder. Removing or resuming a session takes it
// for a moment, too: lockAlone waits for that.
func lockAlone(log *os.File) (ok bool, err error) {
	looked := false
	for n := 0; n < 5*tries || looked && n < longTries; n++ {
		if ok, looked, err = tryAlone(log); ok || err != nil {
			break
		}
		time.Sleep(pause)
	}
	return ok, err
}
