package door

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// longestPath is how many bytes the path of a socket may have on every system: Linux and
// Windows take 108, macOS 104, including a final zero byte.
const longestPath = 103

// Short is the directory for sockets whose own path would be too long. A symbolic link leads
// there.
func Short(temp string) string {
	return filepath.Join(temp, fmt.Sprintf("codeloops-doors-%d", os.Getuid()))
}

// room prepares the place of a socket: it returns the socket's path and, if that is elsewhere,
// the link to create. What a killed run has left there is removed.
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
		return "", "", fmt.Errorf("%s: the path of a socket has at most %d bytes", socket, longestPath)
	}
	if err := own(filepath.Dir(socket)); err != nil {
		return "", "", err
	}
	return socket, path, Clear(socket)
}

// own creates a directory that nobody else can access, or checks that it is one.
func own(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !private(info) {
		return fmt.Errorf("other users have access to %s", dir)
	}
	return nil
}

// where returns the socket to which the path of a door leads.
func where(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, err
	}
	if info, err = os.Lstat(filepath.Dir(path)); err != nil || !private(info) {
		return "", errors.Join(err, fmt.Errorf("other users have access to %s", filepath.Dir(path)))
	}
	return os.Readlink(path)
}

// Clear removes a socket, with the link that leads to it. The caller knows that nobody listens
// there.
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
		return fmt.Errorf("%s is not a socket of codeloops", path)
	}
	return os.Remove(path)
}
