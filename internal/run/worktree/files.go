package worktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"codeloops/internal/policy"
)

// Files reads and writes files of the work tree Dir for the rules of a run. An agent may have
// made links out of the tree: [os.Root] does not follow them, and only regular files are opened.
type Files struct{ Dir string }

var _ policy.Editor = Files{}

// maxFile is the largest file that rules look into.
const maxFile = 16 << 20

var errNotPlain = errors.New("not a regular file, or too large")

// Read returns the content of a regular file.
func (w Files) Read(path string) (content []byte, err error) {
	err = w.with(path, os.O_RDONLY, func(f *os.File) error {
		content, err = io.ReadAll(io.LimitReader(f, maxFile+1))
		return err
	})
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("read %s: %w", path, errNotPlain)
	}
	return content, err
}

// Write implements [policy.Editor].
func (w Files) Write(path string, content []byte) error {
	return w.with(path, os.O_WRONLY|os.O_TRUNC, func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
}

func (w Files) with(path string, flag int, use func(*os.File) error) (err error) {
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	name := filepath.FromSlash(path)
	// Checked before opening: opening a named pipe would wait for its other end.
	status, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !status.Mode().IsRegular() || status.Size() > maxFile {
		return &fs.PathError{Op: "open", Path: path, Err: errNotPlain}
	}
	f, err := root.OpenFile(name, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(use(f), f.Close())
}
