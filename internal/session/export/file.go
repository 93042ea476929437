package export

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"codeloops/internal/redact"
	"codeloops/internal/wording/hint"
)

// WriteFile writes a file under a temporary name beside its place, without the values of
// secrets, and renames it when it is complete. It replaces an existing file only with force.
func WriteFile(path string, force bool, secrets *redact.Redactor, write func(io.Writer) error) (size int64, err error) {
	there := hint.Add(fmt.Errorf("%s exists already", path), "choose another name with -o, or replace it with --force")
	if _, err := os.Lstat(path); err == nil && !force {
		return 0, there
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return 0, fmt.Errorf("write the export: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // fails if the file was renamed
	safe := secrets.Writer(f)
	err = errors.Join(write(safe), safe.Close())
	if st, statErr := f.Stat(); statErr == nil {
		size = st.Size()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	if force {
		err = os.Rename(f.Name(), path)
	} else if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) { // a rename would replace the file
		return 0, there
	} else if err != nil { // a file system without links
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return 0, fmt.Errorf("write the export: %w", err)
	}
	return size, nil
}
