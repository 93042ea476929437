// Package file reads the small regular files that git and its users keep
// beside the content: configuration, refs, ignore rules, attributes, the index.
//
// The files come with the repository and are not trusted: a FIFO is not waited
// for, a device is not read, an oversized file is not loaded.
package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// The reasons for which Read declines a file that exists.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("file is too large")
)

// Missing reports whether err says that there is no file: neither of that name,
// nor a directory that could hold it.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Slack is by how much the times of files may lag behind the clock on the coarsest
// of file systems: only those from before that tell of every later change.
const Slack = 3 * time.Second

// A Stamp is the identity and the times of a file, as one stat call saw them.
// Two equal stamps mean that the file has not been touched in between, down to
// the resolution of the file system's clock. The zero value is "no file".
type Stamp struct {
	Size  int64
	Mtime int64  // nanoseconds since 1970
	Ctime int64  // nanoseconds since 1970; 0 where the system has none
	Dev   uint64 // 0 where the system has none
	Ino   uint64 // 0 where the system has none
}

// Exists reports whether there was a file.
func (s Stamp) Exists() bool { return s != Stamp{} }

// Before reports whether the file was last touched before t, so that a later
// write cannot have left the same stamp if t allows for the clock's resolution.
func (s Stamp) Before(t time.Time) bool { return max(s.Mtime, s.Ctime) < t.UnixNano() }

// Settled reports whether a file that changes after the time at gets another
// stamp, whatever the file system. It does not where the system tells nothing that
// a program cannot set back.
func (s Stamp) Settled(at time.Time) bool { return s.Ctime != 0 && s.Before(at.Add(-Slack)) }

// StampOf returns the stamp in the result of a stat call.
func StampOf(fi fs.FileInfo) Stamp {
	s := Stamp{Size: fi.Size(), Mtime: fi.ModTime().UnixNano()}
	s.system(fi)
	return s
}

// How says which files Read takes.
type How struct {
	NoFollow bool  // a symbolic link is ErrNotRegular, not followed
	Max      int64 // bytes; a larger file is ErrTooLarge
}

// Open opens the regular file at path, and returns it with its stamp, which is
// set as soon as it could be opened, whatever the error.
func Open(path string, how How) (*os.File, Stamp, error) {
	f, err := open(path, how.NoFollow)
	if err != nil {
		return nil, Stamp{}, err
	}
	fi, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, Stamp{}, err
	}
	switch stamp := StampOf(fi); {
	case !fi.Mode().IsRegular():
		_ = f.Close()
		return nil, stamp, &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	case fi.Size() > how.Max:
		_ = f.Close()
		return nil, stamp, fmt.Errorf("read %s: %w", path, ErrTooLarge)
	default:
		return f, stamp, nil
	}
}

// Read returns the content of the regular file at path with its stamp. The
// stamp is set as soon as the file could be opened, whatever the error.
func Read(path string, how How) ([]byte, Stamp, error) {
	f, stamp, err := Open(path, how)
	if err != nil {
		return nil, stamp, err
	}
	defer f.Close() //nolint:errcheck // opened for reading: nothing to lose
	data, err := readAll(f, stamp.Size)
	if err != nil {
		return nil, stamp, fmt.Errorf("read %s: %w", path, err)
	}
	return data, stamp, nil
}

// readAll reads f to its end in one allocation when size tells the truth.
func readAll(f *os.File, size int64) ([]byte, error) {
	data := make([]byte, size)
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return data[:n], nil // cut short since the stat
	}
	return data, err
}
