package session

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// LockFile takes the lock on a file, which it creates if it is missing. The lock lasts until
// the result is closed or the process ends. ok is false if another process has it.
func LockFile(path string) (held io.Closer, ok bool, err error) { return lockFile(path, false) }

func lockFile(path string, shared bool) (held io.Closer, ok bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("open the lock: %w", err)
	}
	ok, err = tryLock(f, shared)
	if err != nil && shared {
		ok, err = true, nil // nobody takes it alone on a file system without locks
	}
	if ok = ok && stands(f); !ok || err != nil {
		return nil, false, errors.Join(err, heldFile{f}.Close())
	}
	return heldFile{f}, true, nil
}

// A heldFile is locked until it is closed.
type heldFile struct{ *os.File }

func (f heldFile) Close() error {
	unlock(f.File)
	return f.File.Close()
}
