package view

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"codeloops/internal/diff/repo/file"
	"codeloops/internal/diff/restore"
)

// Plan returns what makes of the work tree what the view has: its files that git does
// not ignore, and nothing of the repository. It is to be carried out while the view is
// open, by [restore.Keep.Restore]; until then nothing has happened.
func (v *View) Plan(title string) (restore.Plan, error) {
	plan := restore.Plan{Title: title}
	changes, err := v.changes()
	for _, c := range changes {
		if err != nil {
			break
		}
		if c.same || c.git || v.place.Ignored(c.path) {
			continue
		}
		step := restore.PathChange{Path: c.path}
		if step.Before, err = kindOf(c.user); err == nil && c.is {
			step.After, err = stateOf(c.view)
		}
		plan.Changes = append(plan.Changes, step)
	}
	if err != nil {
		return plan, fmt.Errorf("apply a view of %s: %w", v.place.Root, err)
	}
	return plan, nil
}

// kindOf says what stands at a path.
func kindOf(name string) (restore.Kind, error) {
	info, err := os.Lstat(name)
	switch {
	case file.Missing(err):
		return restore.Nothing, nil
	case err != nil:
		return restore.Nothing, err
	case info.Mode()&fs.ModeSymlink != 0:
		return restore.Link, nil
	case info.IsDir():
		return restore.Nothing, nil // files in it go first, by changes of their own
	}
	return restore.File, nil
}

// stateOf says what a file of the view is.
func stateOf(name string) (s restore.State, err error) {
	info, err := os.Lstat(name)
	if err != nil {
		return s, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(name)
		s.Kind = restore.Link
		s.Open = func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader([]byte(target))), nil
		}
		return s, err
	}
	s.Kind, s.Perm, s.Size = restore.File, info.Mode().Perm(), info.Size()
	s.Open = func(context.Context) (io.ReadCloser, error) { return os.Open(name) } //nolint:wrapcheck // it names the file
	return s, nil
}
