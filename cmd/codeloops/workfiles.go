package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"codeloops/internal/policy"
)

// workFiles reads and writes the files of a work tree for the rules of a run. An
// agent may have made links out of it: [os.Root] does not follow them there, and
// nothing but a regular file is opened.
type workFiles struct{ dir string }

var _ policy.Editor = workFiles{}

// maxWorkFile is the largest file that rules look into.
const maxWorkFile = 16 << 20

var errNotPlain = errors.New("not a regular file, or too large")

// Read implements [policy.Files].
func (w workFiles) Read(path string) (content []byte, err error) {
	err = w.with(path, os.O_RDONLY, func(f *os.File) error {
		content, err = io.ReadAll(io.LimitReader(f, maxWorkFile+1))
		return err
	})
	if err == nil && len(content) > maxWorkFile {
		err = fmt.Errorf("read %s: %w", path, errNotPlain)
	}
	return content, err
}

// Write implements [policy.Editor].
func (w workFiles) Write(path string, content []byte) error {
	return w.with(path, os.O_WRONLY|os.O_TRUNC, func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
}

func (w workFiles) with(path string, flag int, use func(*os.File) error) (err error) {
	root, err := os.OpenRoot(w.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	name := filepath.FromSlash(path)
	// Asked before opening: to open a named pipe would wait for its other end.
	status, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !status.Mode().IsRegular() || status.Size() > maxWorkFile {
		return &fs.PathError{Op: "open", Path: path, Err: errNotPlain}
	}
	f, err := root.OpenFile(name, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(use(f), f.Close())
}
