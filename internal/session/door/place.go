package door

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// longestPath is how many bytes the path of a socket may have on every system: 108 on Linux and
// Windows, 104 on macOS, with a zero byte at the end.
const longestPath = 103

// Short is the directory for the sockets whose own place is too deep. A link leads there.
func Short(temp string) string {
	return filepath.Join(temp, fmt.Sprintf("codeloops-doors-%d", os.Getuid()))
}

// room makes a place for a socket: where it lies, and, where that is elsewhere, the link to it.
// What a run that was killed has left there is removed.
func room(path string) (socket, link string, err error) {
	if err := own(filepath.Dir(path)); err != nil {
		return "", "", err
	}
	if err := Clear(path); err != nil {
		return "", "", err
	}
	if len(path) <= longestPath {
		return path, "", nil
	}
	sum := sha256.Sum256([]byte(path))
	socket = filepath.Join(Short(os.TempDir()), fmt.Sprintf("%x.sock", sum[:8]))
	if len(socket) > longestPath {
		return "", "", fmt.Errorf("%s: %w", socket, errTooLong)
	}
	if err := own(filepath.Dir(socket)); err != nil {
		return "", "", err
	}
	return socket, path, Clear(socket)
}

// own makes a directory that nobody else can look into, or sees to it that it is one.
func own(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !private(info) {
		return fmt.Errorf("others have a say in %s", dir)
	}
	return nil
}

// where is the socket to which the path of a door leads.
func where(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, err
	}
	if info, err = os.Lstat(filepath.Dir(path)); err != nil || !private(info) {
		return "", errors.Join(err, fmt.Errorf("others have a say in %s", filepath.Dir(path)))
	}
	return os.Readlink(path)
}

// Clear removes a socket, with the link that leads to it. Whoever calls it knows that nobody
// listens there.
func Clear(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if to, e := os.Readlink(path); e == nil && filepath.Dir(to) == Short(filepath.Dir(filepath.Dir(to))) {
			err = Clear(to)
		}
		return errors.Join(err, os.Remove(path))
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s is no socket of codeloops", path)
	}
	return os.Remove(path)
}
