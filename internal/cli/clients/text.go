package clients

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"codeloops/internal/file"
)

// A text is a file with settings of a client.
type text struct {
	Client  string
	Project bool // those of a project, for whoever works on it; otherwise those of the user
	Path    string
}

// read returns what is in the file; one that does not exist has nothing in it.
func (t text) read() ([]byte, error) {
	b, _, err := file.Read(t.Path, file.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return b, err
}

// write replaces the file, or removes it if nothing is left. A link to it, as those have who keep their settings
// elsewhere, stays one.
func (t text) write(b []byte) error {
	if b == nil {
		return os.Remove(t.Path)
	}
	mode, dir := fs.FileMode(0o600), fs.FileMode(0o700)
	if t.Project {
		mode, dir = 0o644, 0o755
	}
	path := t.Path
	if at, err := filepath.EvalSymlinks(path); err == nil {
		path = at
	}
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), dir); err != nil {
		return err
	}
	return file.Write(path, b, mode)
}

// named adds the file to an error.
func (t text) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the settings of %s, %s: %w", t.Client, t.Path, err)
}
