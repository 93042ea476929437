package export

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"codeloops/internal/file"
	"codeloops/internal/redact"
	"codeloops/internal/wording/hint"
)

// WriteFile writes a file under a temporary name beside its place, without the values of
// secrets, and renames it when it is complete. It replaces an existing file only with force.
func WriteFile(path string, force bool, secrets *redact.Redactor, write func(io.Writer) error) (size int64, err error) {
	there := hint.Add(fmt.Errorf("%s exists already", path), "choose another name with -o, or replace it with --force")
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() { // a rename would replace a device
		return 0, hint.Errorf("choose another name; - is standard output", "%s is not a regular file", path)
	}
	if _, err := os.Lstat(path); err == nil && !force {
		return 0, there
	}
	put := file.Create
	if force {
		put = file.Replace
	}
	var failed error // of what is written
	err = put(path, 0o600, func(w io.Writer) error {
		safe := secrets.Writer(w)
		failed = errors.Join(write(safe), safe.Close())
		return failed
	})
	switch {
	case failed != nil:
		return 0, failed
	case errors.Is(err, fs.ErrExist):
		return 0, there
	case err != nil:
		return 0, fmt.Errorf("write the export: %w", err)
	}
	st, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("write the export: %w", err)
	}
	return st.Size(), nil
}
