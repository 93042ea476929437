package door

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// longestPath is how many bytes the path of a socket may have on every system: Linux and
// Windows take 108, macOS 104, including a final zero byte.
const longestPath = 103

// socketOf returns the path of a door's socket: that of the door or, if it is too long, one that is made of it, in a short
// directory, wherever TMPDIR is.
func socketOf(path string) string {
	if len(path) <= longestPath {
		return path
	}
	temp := "/tmp"
	if runtime.GOOS == "windows" {
		temp = os.TempDir()
	}
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(temp, fmt.Sprintf("codeloops-doors-%d", os.Getuid()), fmt.Sprintf("%x.sock", sum[:8]))
}

// own checks that a directory is one that nobody else can access.
func own(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !private(info) {
		return fmt.Errorf("other users have access to %s", dir)
	}
	return nil
}

// remove removes a socket. The caller knows that nobody listens there.
func remove(path string) error {
	path = socketOf(path)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s is not a socket of codeloops", path)
	}
	return os.Remove(path)
}
