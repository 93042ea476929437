package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"codeloops/internal/file"
)

// A place is the location of a lock file. Releasing the lock removes the file; one that a
// killed run has left is taken again. Whoever may write there may take it.
type place struct {
	dir  string
	name string
	mode os.FileMode
	own  bool // a directory of codeloops' own, created if it is missing
}

var (
	// errNoLock says that another file is in the place of a lock file.
	errNoLock = errors.New("it is not a lock file of codeloops, and would be overwritten")
	// errNowhere says that the user's directory for locks cannot be written, for
	// instance in a home that is mounted read-only: the lock in the git directory has
	// to do.
	errNowhere = errors.New("no place for locks")
)

// How often, and how long apart, a lock is tried that somebody holds. A process forked from a
// holder holds its locks until its exec. A new holder may not have written its name yet, and
// one who only looks may not have released the lock yet: on a busy machine that is worth a
// longer wait.
const (
	tries     = 20
	longTries = 2_000
	pause     = 5 * time.Millisecond
)

// tryAlone takes the exclusive lock on an open file. If that fails, looked reports whether it
// is only held by those who look at it, as [place.held] and [Store.Running] do.
func tryAlone(f *os.File) (ok, looked bool, err error) {
	if ok, err = file.TryLockFile(f, false); ok || err != nil {
		return ok, false, err
	}
	looked, err = file.TryLockFile(f, true)
	file.UnlockFile(f)
	return false, looked, err
}

// take locks the file and writes down who has it. The error is a [*HeldError] if another run
// has the lock.
func (p place) take(h HeldError) (*os.File, error) {
	held, looked := &HeldError{WorkTree: h.WorkTree}, false
	for n := 0; n < tries || (looked || held.PID == 0) && n < longTries; n++ {
		f, err := p.open() // anew each time: the last holder has removed its file
		if err != nil {
			return nil, err
		}
		free := false
		if free, looked, err = tryAlone(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if free && file.Stands(f) {
			if err := sign(f, h); err != nil {
				return nil, errors.Join(fmt.Errorf("write lock file: %w", err), giveBack(f))
			}
			return f, nil
		}
		if !free {
			held = heldBy(f, h.WorkTree)
		}
		file.UnlockFile(f)
		if err := f.Close(); err != nil {
			return nil, err
		}
		time.Sleep(pause)
	}
	return nil, held
}

// sign writes down who has the lock of a file. The text counts only while the file is locked.
func sign(f *os.File, h HeldError) error {
	text, err := json.Marshal(h)
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(text, '\n'), 0)
	}
	return err
}

// giveBack releases the lock on a file, and removes the file.
func giveBack(f *os.File) error {
	// Whoever reads the file too late finds nothing wrong in it.
	err := f.Truncate(0)
	if file.Stands(f) {
		_ = os.Remove(f.Name()) // a file that cannot be removed is taken again later
	}
	file.UnlockFile(f)
	return errors.Join(err, f.Close())
}

// open opens or creates the file. It follows no link: an agent that may only write into the
// git directory must not be able to have another file overwritten.
func (p place) open() (*os.File, error) {
	if p.own {
		if err := os.MkdirAll(p.dir, 0o700); err != nil {
			return nil, nowhere(err)
		}
	}
	info, err := os.Lstat(p.dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is a symbolic link, and no lock is taken through one", p.dir)
	}
	f, err := p.openIn()
	if p.own && err != nil {
		return nil, nowhere(err)
	}
	if err != nil {
		return nil, err
	}
	if err := ours(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.Name(), err), f.Close())
	}
	_ = f.Chmod(p.mode) // fails for all but its owner, who has done so
	return f, nil
}

// nowhere returns [errNowhere] for the error of a directory that the user cannot write.
func nowhere(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOTDIR) {
		return errNowhere
	}
	return err
}

// openIn opens the file in its directory, and no other.
func (p place) openIn() (*os.File, error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	if there, err := root.Lstat(p.name); err == nil && !there.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", filepath.Join(p.dir, p.name), errNoLock)
	}
	f, err := root.OpenFile(p.name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("in %s: %w", p.dir, err)
	}
	return f, nil
}

// lockBegins is what every [HeldError] in a lock file begins with.
const lockBegins = `{"pid":`

// ours rejects a file that holds anything but a [HeldError], such as a hard link to a file of
// the user's.
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

// look opens the file to read it.
func (p place) look() (*os.File, error) {
	f, _, err := file.Open(filepath.Join(p.dir, p.name), file.Options{NoFollow: true, Max: math.MaxInt64})
	return f, err
}

// held returns who has the lock of the file, nil if nobody has.
func (p place) held(tree string) *HeldError {
	f, err := p.look()
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	free, err := file.TryLockFile(f, true)
	if err != nil || free {
		file.UnlockFile(f)
		return nil
	}
	return heldBy(f, tree)
}

// heldBy reads who has the lock.
func heldBy(f *os.File, tree string) *HeldError {
	h := &HeldError{WorkTree: tree}
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 64<<10))
	if err != nil || json.Unmarshal(text, h) != nil {
		return &HeldError{WorkTree: tree}
	}
	return h
}
