package clients

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"codeloops/internal/file"
	"codeloops/internal/wording/hint"
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

// write replaces the file, or removes it if nothing is left. A link, as those have who keep their settings elsewhere, stays
// one, to a file with nothing in it then. What is read-only is so for a reason.
func (t text) write(b []byte) error {
	path := t.Path
	if _, err := os.Readlink(path); err == nil {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return hint.Add(fmt.Errorf("follow the link: %w", err), "make the file that it leads to, or remove the link")
		}
		if b == nil {
			b = []byte("{}\n")
		}
	} else if len(b) == 0 {
		return os.Remove(path)
	}
	mode, dir := fs.FileMode(0o600), fs.FileMode(0o700)
	if t.Project {
		mode, dir = 0o644, 0o755
	}
	if st, err := os.Stat(path); err == nil {
		if mode = st.Mode().Perm(); mode&0o200 == 0 {
			return hint.Errorf("allow yourself to write it, or change what it is made from", "it is read-only")
		}
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
