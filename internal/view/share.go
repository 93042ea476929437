package view

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// tryClone returns an error if files in home cannot share their blocks with those of a tree.
func tryClone(root, home string) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	from, err := someFile(root)
	if err != nil {
		return err
	}
	to := filepath.Join(home, "probe")
	return errors.Join(share(from, to), os.RemoveAll(to))
}

// someFile returns a file of a tree that is readable and not empty.
func someFile(root string) (found string, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, _ error) error {
		if d == nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() == 0 || info.Mode().Perm()&0o400 == 0 {
			return nil //nolint:nilerr // another one will do
		}
		found = name
		return fs.SkipAll
	})
	if found == "" && err == nil {
		err = fmt.Errorf("%s has no file to try it with", root)
	}
	return found, err
}
