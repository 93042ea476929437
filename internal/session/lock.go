package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A HeldError says that another run is at work in a work tree. What is not
// known of it is zero.
type HeldError struct {
	PID      int
	Session  string
	Since    time.Time
	WorkTree string
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

// A Lock keeps other runs out of a work tree for as long as it is open and its
// process lives.
type Lock struct {
	file *os.File
}

// holder is what a lock file says of whoever holds it. It means nothing while
// the file is not locked.
type holder struct {
	PID      int       `json:"pid"`
	Session  string    `json:"session"`
	Since    time.Time `json:"since"`
	WorkTree string    `json:"work_tree"`
}

// Acquire takes the lock of a work tree for a session that begins at since.
// Locks are files in dir, which is made when it is missing. They stay there:
// were one removed, two runs could hold the lock of the old and of the new file.
// Whoever may write in dir may take them. The error is a [*HeldError] when another
// run has the lock.
func Acquire(dir, workTree, session string, since time.Time) (*Lock, error) {
	tree, err := resolved(workTree)
	if err != nil {
		return nil, fmt.Errorf("lock work tree %s: %w", workTree, err)
	}
	f, err := openLock(dir, lockName(tree))
	if err != nil {
		return nil, fmt.Errorf("lock work tree %s: %w", tree, err)
	}
	err = claim(f, holder{PID: os.Getpid(), Session: session, Since: since.UTC(), WorkTree: tree})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{file: f}, nil
}

// Held returns who has the lock of a work tree, nil where nobody has it.
func Held(dir, workTree string) *HeldError {
	tree, err := resolved(workTree)
	if err != nil {
		return nil
	}
	name := filepath.Join(dir, lockName(tree))
	if st, err := os.Lstat(name); err != nil || !st.Mode().IsRegular() {
		return nil // to open a pipe would wait for its other end
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	free, err := tryLock(f, true)
	if err != nil || free {
		unlock(f)
		return nil
	}
	return heldBy(f, tree)
}

func lockName(tree string) string {
	sum := sha256.Sum256([]byte(tree))
	return hex.EncodeToString(sum[:8]) + ".lock"
}

// openLock opens or makes a lock file. An agent that may write into the git
// directory, and nowhere else, must not be able to have another file overwritten:
// no link is followed.
func openLock(dir, name string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is a symbolic link, and no lock is taken through one", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	if there, err := root.Lstat(name); err == nil && !there.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), errNoLock)
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("in %s: %w", dir, err)
	}
	if err := ours(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Join(dir, name), err), f.Close())
	}
	_ = f.Chmod(info.Mode().Perm() & 0o666) // the user who made it has done so
	return f, nil
}

// errNoLock says that something else stands in the place of a lock file.
var errNoLock = errors.New("it is no lock file of codeloops, and would be overwritten")

// lockBegins is what every [holder] begins with.
const lockBegins = `{"pid":`

// ours reports a file that holds something else than a holder, such as another
// name of a user's own file.
func ours(f *os.File) error {
	begin := make([]byte, len(lockBegins))
	n, err := f.ReadAt(begin, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n > 0 && string(begin[:n]) != lockBegins {
		return errNoLock
	}
	return nil
}

// Close gives the lock back.
func (l *Lock) Close() error {
	// An empty file says nothing wrong to whoever reads it too late.
	err := l.file.Truncate(0)
	unlock(l.file)
	return errors.Join(err, l.file.Close())
}

// claim locks f and writes down who has it.
func claim(f *os.File, h holder) error {
	ok, err := tryLock(f, false)
	if err != nil {
		return err
	}
	if !ok {
		return heldBy(f, h.WorkTree)
	}
	text, err := json.Marshal(h)
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(text, '\n'), 0)
	}
	if err != nil {
		return fmt.Errorf("write lock file: %w", err)
	}
	return nil
}

// heldBy reads who has the lock. Whoever has only just taken it may not have
// written its name yet.
func heldBy(f *os.File, tree string) *HeldError {
	var h holder
	for range 20 {
		text, err := io.ReadAll(io.NewSectionReader(f, 0, 64<<10))
		if err == nil && json.Unmarshal(text, &h) == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return &HeldError{PID: h.PID, Session: h.Session, Since: h.Since, WorkTree: tree}
}

// resolved returns the one path that all names of a directory lead to.
func resolved(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// lockAlone takes the lock of a log for its recorder. [Store.Running] holds it
// for a moment, too: that is waited for.
func lockAlone(log *os.File) (ok bool, err error) {
	for range 100 {
		if ok, err = tryLock(log, false); ok || err != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return ok, err
}
