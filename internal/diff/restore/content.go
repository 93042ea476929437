package restore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"codeloops/internal/file"
)

// Read opens a file, or the target of a link as git has it, with slashes. It does not block on a
// pipe that has taken the place of a file.
func Read(root *os.Root, name string, kind Kind) (in io.ReadCloser, perm fs.FileMode, err error) {
	if kind == Link {
		target, err := root.Readlink(name)
		return io.NopCloser(strings.NewReader(filepath.ToSlash(target))), 0, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0, errors.Join(err, ErrChanged, f.Close())
	}
	return f, info.Mode().Perm(), nil
}

// sumAt returns the SHA-256 of a file's content or of a link's target, or "" for anything else.
func sumAt(root *os.Root, name string) (string, error) {
	kind, err := kindAt(root, name)
	if err != nil || kind != File && kind != Link {
		return "", err
	}
	in, _, err := Read(root, name, kind)
	if err != nil {
		return "", err
	}
	defer in.Close() //nolint:errcheck // only read
	hash := sha256.New()
	_, err = io.Copy(hash, in)
	return hex.EncodeToString(hash.Sum(nil)), err
}

// unsynced are new files that are complete, but perhaps not on the disk. They are synced many at
// once: one after the other would take most of the time of a restore.
type unsynced []*os.File

// put makes a file, which is private until it is complete, or a link, with the directories above it.
func (u *unsynced) put(root *os.Root, name string, kind Kind, perm fs.FileMode, in io.Reader) (sum string, err error) {
	const atOnce = 64
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return "", err
	}
	hash := sha256.New()
	in = io.TeeReader(in, hash)
	if kind == Link {
		target, err := io.ReadAll(in)
		if err == nil {
			err = root.Symlink(string(target), name)
		}
		return hex.EncodeToString(hash.Sum(nil)), err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	*u = append(*u, f)
	if _, err = io.Copy(f, in); err == nil {
		err = f.Chmod(perm)
	}
	if err == nil && len(*u) == atOnce {
		err = u.sync()
	}
	return hex.EncodeToString(hash.Sum(nil)), err
}

// sync waits until all files are on the disk, and closes them.
func (u *unsynced) sync() error {
	errs := make([]error, len(*u))
	var running sync.WaitGroup
	for i, f := range *u {
		running.Go(func() { errs[i] = errors.Join(f.Sync(), f.Close()) })
	}
	running.Wait()
	*u = nil
	return errors.Join(errs...)
}

// link gives a staged file or link its name, if that is free. On a file system without hard links
// something that appears between the check and the rename is overwritten.
func link(root *os.Root, staged, to string) error {
	err := root.Link(staged, to)
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, statErr := root.Lstat(to); statErr == nil {
		return fs.ErrExist
	}
	return root.Rename(staged, to)
}

// syncIn syncs a directory below a root to the disk. One that is gone needs no sync.
func syncIn(root *os.Root, dir string) error {
	if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // it is gone
	}
	return file.SyncDir(filepath.Join(root.Name(), filepath.FromSlash(dir)), (*os.File).Sync)
}
