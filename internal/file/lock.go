package file

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Lock waits for the lock on a file, which it creates if it is missing. The lock lasts until unlock is
// called or the process ends.
func Lock(path string) (unlock func(), err error) {
	held, _, err := lockAt(path, lock)
	if err != nil {
		return nil, err
	}
	return func() { _ = held.Close() }, nil // it was only locked
}

// TryLock is Lock without the wait: ok is false if another process has the lock, or, with shared, has it alone.
func TryLock(path string, shared bool) (held io.Closer, ok bool, err error) {
	f, ok, err := lockAt(path, func(f *os.File) (bool, error) {
		ok, err := TryLockFile(f, shared)
		if err != nil && shared {
			return true, nil // nobody takes it alone on a file system without locks
		}
		return ok, err
	})
	if err != nil || !ok {
		return nil, false, err
	}
	return f, true, nil
}

func lockAt(path string, take func(*os.File) (bool, error)) (*locked, bool, error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, false, fmt.Errorf("open the lock: %w", err)
		}
		held := &locked{f}
		ok, err := take(f)
		if err != nil || !ok {
			return nil, false, errors.Join(err, held.Close())
		}
		if Stands(f) {
			return held, true, nil
		}
		if err := held.Close(); err != nil { // its last holder has removed it
			return nil, false, err
		}
	}
}

// A locked file is unlocked when it is closed.
type locked struct{ *os.File }

func (f *locked) Close() error {
	UnlockFile(f.File)
	return f.File.Close()
}

// Stands reports whether an open file is still the one of its name.
func Stands(f *os.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(open, named)
}
