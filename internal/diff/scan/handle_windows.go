package scan

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// A handle is a directory, named by its path.
type handle struct {
	path string
}

// reset makes h the handle of another directory.
func (h *handle) reset(path, _ string, _ *handle) {
	h.path = filepath.FromSlash(path)
}

func (h *handle) isOpen() bool { return false }

func (h *handle) isFar() bool { return false }

// ensure makes sure that it is a directory.
func (h *handle) ensure() error {
	info, err := os.Lstat(h.path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: h.path, Err: syscall.ENOTDIR}
	}
	return nil
}

func (h *handle) close() {}

// list returns the entries of the directory with its stat from before. They
// hold until s is used again.
func (h *handle) list(s *scratch) ([]entry, Stat, error) {
	f, err := os.Open(h.path)
	if err != nil {
		return nil, Stat{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, Stat{}, err
	}
	entries, err := f.ReadDir(-1)
	return s.convert(entries), statOf(info), err
}

// glance returns the stat of the directory.
func (h *handle) glance(bool) (Stat, kind, error) { return h.stat("") }

// has reports whether a file is what is known of it.
func (h *handle) has(f *File) bool {
	st, k, err := h.stat(f.Name)
	return err == nil && f.is(st, k)
}

// stat does not follow a symlink. The directory itself has the name "". The
// time of change is that of creation, as in git for Windows.
func (h *handle) stat(name string) (Stat, kind, error) {
	info, err := os.Lstat(filepath.Join(h.path, name))
	if err != nil {
		return Stat{}, unknown, err
	}
	return statOf(info), kindOf(info.Mode()), nil
}

func (h *handle) open(name string) (io.ReadCloser, Stat, error) {
	f, err := os.Open(filepath.Join(h.path, name))
	if err != nil {
		return nil, Stat{}, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	if err != nil {
		_ = f.Close()
		return nil, Stat{}, err
	}
	return f, statOf(info), nil
}

func (h *handle) readlink(name string) (string, error) {
	target, err := os.Readlink(filepath.Join(h.path, name))
	return filepath.ToSlash(target), err
}

func statOf(info fs.FileInfo) Stat {
	st := Stat{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		st.Changed = data.CreationTime.Nanoseconds()
	}
	return st
}

func kindOf(mode fs.FileMode) kind {
	switch {
	case mode.IsRegular():
		return regular
	case mode.IsDir():
		return directory
	case mode&fs.ModeSymlink != 0:
		return symlink
	}
	return other
}
