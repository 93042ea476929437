package session

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// LockFile takes the lock on a file, which it creates if it is missing. The lock lasts until
// the result is closed or the process ends. ok is false if another process has it.
func LockFile(path string) (held io.Closer, ok bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("open the lock: %w", err)
	}
	if ok, err = tryLock(f, false); !ok || err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return heldFile{f}, true, nil
}
