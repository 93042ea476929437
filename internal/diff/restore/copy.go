package restore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"codeloops/internal/file"
)

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// sumAt returns the SHA-256 of a file's content or of a link's target, or "" for anything
// else.
func sumAt(root *os.Root, name string) (string, error) {
	kind, err := kindAt(root, name)
	switch {
	case err != nil || kind != File && kind != Link:
		return "", err
	case kind == Link:
		target, err := readLink(root, name)
		return sumOf([]byte(target)), err
	}
	f, err := openPlain(root, name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// alike reports whether two files or links have the same content.
func alike(root *os.Root, a, b string) bool {
	one, errA := sumAt(root, a)
	two, errB := sumAt(root, b)
	return errA == nil && errB == nil && one == two
}

// readLink returns the target of a link as git has it, with slashes.
func readLink(root *os.Root, name string) (string, error) {
	target, err := root.Readlink(name)
	return filepath.ToSlash(target), err
}

// openPlain opens a regular file. It does not block on a pipe that has taken its place.
func openPlain(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, ErrChanged, f.Close())
	}
	return f, nil
}

// syncDir syncs a directory to disk.
func syncDir(dir string) error { return file.SyncDir(dir, (*os.File).Sync) }

// syncIn is syncDir below a root. A directory that is gone needs no sync.
func syncIn(root *os.Root, dir string) error {
	if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // it is gone
	}
	return syncDir(filepath.Join(root.Name(), filepath.FromSlash(dir)))
}

// syncTree syncs all directories below a root to disk.
func syncTree(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = syncIn(root, name)
		}
		return err
	})
}
