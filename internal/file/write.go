package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes a file whole: who reads it finds the old content or all of the new, also after a
// crash. When it returns, content and name are on the disk. If it fails, the file is as it was, unless
// only the directory could not be synced.
//
// The file gets exactly the mode, and the name: a symbolic link there is replaced, not followed. Of two
// writers, the last wins. On Windows, it fails while somebody has the file open. A killed process may
// leave a file called .codeloops-* with a number.
func Write(path string, content []byte, mode fs.FileMode) error {
	return Replace(path, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Replace is Write for a content that is too large for memory.
func Replace(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return whole(path, mode, write, os.Rename)
}

// Create is Replace, but the error is [fs.ErrExist] if there is a file. Only on a file system without
// hard links, a file that is made at the same moment may be replaced.
func Create(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return whole(path, mode, write, func(draft, path string) error {
		err := os.Link(draft, path)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, err := os.Lstat(path); err == nil {
			return fs.ErrExist
		}
		return os.Rename(draft, path)
	})
}

func whole(path string, mode fs.FileMode, write func(io.Writer) error, give func(draft, path string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".codeloops-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // fails if it was renamed
	if err = errors.Join(write(f), f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = give(f.Name(), path)
	}
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path), (*os.File).Sync)
}
