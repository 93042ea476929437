package scan

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Umask returns the permission bits that new files do not get.
func Umask() fs.FileMode { return 0o022 }

// A handle is a directory, named by its path.
type handle struct{ path string }

// open checks that there is a directory at a path.
func open(path string, _ *handle, _ string) (*handle, error) {
	path = filepath.FromSlash(path)
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return &handle{path}, err
}

func (h *handle) leave() {}

func (h *handle) close() {}

func (h *handle) list() ([]fs.DirEntry, error) { return os.ReadDir(h.path) }

// stat returns the stat of a file and its mode in git, which is 0 for a directory and the like. The
// change time is that of creation, as in Git for Windows.
func (h *handle) stat(name string) (Stat, uint32, error) {
	info, err := os.Lstat(filepath.Join(h.path, name))
	if err != nil {
		return Stat{}, 0, err
	}
	mode := uint32(0)
	switch {
	case info.Mode().IsRegular():
		mode = Regular
	case info.Mode()&fs.ModeSymlink != 0:
		mode = Symlink
	}
	return statOf(info), mode, nil
}

func (h *handle) openFile(name string) (io.ReadCloser, Stat, error) {
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
