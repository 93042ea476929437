package view

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"codeloops/internal/file"
	"codeloops/internal/wording"
)

// sameFile reports whether two files have the same mode and content. It is false if one cannot be
// read.
func sameFile(a string, was fs.FileInfo, b string, is fs.FileInfo) bool {
	switch {
	case was.Mode() != is.Mode():
		return false
	case was.Mode()&fs.ModeSymlink != 0:
		x, errX := os.Readlink(a)
		y, errY := os.Readlink(b)
		return errX == nil && errY == nil && x == y
	case !was.Mode().IsRegular():
		return true
	}
	return was.Size() == is.Size() && sameContent(a, b)
}

func sameContent(a, b string) bool {
	x, err := os.Open(a)
	if err != nil {
		return false
	}
	defer x.Close() //nolint:errcheck // only read
	y, err := os.Open(b)
	if err != nil {
		return false
	}
	defer y.Close() //nolint:errcheck // only read
	same, err := file.Same(x, y)
	return err == nil && same
}

// printOf identifies a file by its mode and its content; "" is none.
func printOf(name string) (string, error) {
	info, err := os.Lstat(name)
	switch {
	case err != nil, whiteout(info), info.IsDir():
		return "", nil
	case info.Mode()&fs.ModeSymlink != 0:
		return os.Readlink(name)
	case !info.Mode().IsRegular():
		return info.Mode().String(), nil
	}
	if perm := info.Mode().Perm(); perm&0o400 == 0 { // commands may have made it unreadable
		if err := os.Chmod(name, perm|0o400); err != nil {
			return "", err
		}
		defer os.Chmod(name, perm) //nolint:errcheck // a file of our own
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return fmt.Sprintf("%v %x", info.Mode(), sum.Sum(nil)), err
}

// remove removes a directory with everything in it, including read-only directories, as in Go's module
// cache and in overlays.
func remove(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	return errors.Join(unlock(dir), os.RemoveAll(dir))
}

// Remove removes a directory with views or a copy, which may have many files, and directories that
// commands have made read-only. It does not follow links.
func Remove(dir string) error {
	if info, err := os.Lstat(dir); err == nil && info.IsDir() {
		if root, err := os.OpenRoot(dir); err == nil {
			empty(root, make(chan struct{}, removers))
			_ = root.Close() // only read
		}
	}
	return remove(dir)
}

// removers is the number of goroutines that remove files. They mostly wait: on a file system with the
// mount option discard, removing a file waits for the disk.
const removers = 16

// homeName matches the name of a directory for the views of one work tree.
var homeName = wording.Pattern(`^([0-9a-f]{16}|doctor)$`)

// Left returns the directories with views in a home of views. They may be in use.
func Left(home string) (dirs []string) {
	if info, err := os.Lstat(home); err != nil || !info.IsDir() {
		return nil
	}
	entries, _ := os.ReadDir(home) // what cannot be read cannot be removed
	for _, e := range entries {
		if e.IsDir() && homeName().MatchString(e.Name()) {
			dirs = append(dirs, filepath.Join(home, e.Name()))
		}
	}
	return dirs
}

// empty removes as much as it can of what is in a directory, without following links.
func empty(dir *os.Root, busy chan struct{}) {
	entries, _ := fs.ReadDir(dir.FS(), ".") // removing the directory will report the error
	var others sync.WaitGroup
	for _, e := range entries {
		one := func() {
			if e.IsDir() {
				if below, err := dir.OpenRoot(e.Name()); err == nil {
					empty(below, busy)
					_ = below.Close() // only read
				}
			}
			_ = dir.Remove(e.Name())
		}
		select {
		case busy <- struct{}{}:
			others.Go(func() {
				one()
				<-busy
			})
		default:
			one()
		}
	}
	others.Wait()
}

// unlock gives the user all permissions for a directory and those in it.
func unlock(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, _ error) error {
		if d == nil || !d.IsDir() {
			return nil
		}
		return os.Chmod(name, 0o700) //nolint:gosec // a directory of our own
	})
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
