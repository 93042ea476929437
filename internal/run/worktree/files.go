package worktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Files reads files of the work tree Dir for the rules of a run. An agent may have made links out of the tree:
// [os.Root] does not follow them, and only regular files are opened.
type Files struct{ Dir string }

// maxFile is the largest file that rules look into.
const maxFile = 16 << 20

var errNotPlain = errors.New("not a regular file, or too large")

// Read returns the content of a regular file.
func (w Files) Read(path string) (content []byte, err error) {
	root, err := os.OpenRoot(w.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	name := filepath.FromSlash(path)
	// Checked before opening: opening a named pipe would wait for its other end.
	status, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !status.Mode().IsRegular() || status.Size() > maxFile {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNotPlain}
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	content, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("read %s: %w", path, errNotPlain)
	}
	return content, errors.Join(err, f.Close())
}
