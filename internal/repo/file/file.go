// Package file reads the small regular files that git and its users keep
// beside the content: configuration, refs, ignore rules, attributes, the index.
//
// The files come with the repository and are not trusted: a FIFO is not waited
// for, a device is not read, an oversized file is not loaded.
package file

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
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

// Before reports whether the file was last touched before t, so that a later
// write cannot have left the same stamp if t allows for the clock's resolution.
func (s Stamp) Before(t time.Time) bool { return max(s.Mtime, s.Ctime) < t.UnixNano() }

// StampOf returns the stamp in the result of a stat call.
func StampOf(fi fs.FileInfo) Stamp {
	s := Stamp{Size: fi.Size(), Mtime: fi.ModTime().UnixNano()}
	s.system(fi)
	return s
}

// MaxText is the size in bytes up to which files of rules and settings are read. Git draws
// such a line too, a higher one.
const MaxText = 16 << 20

// How says which files Read takes.
type How struct {
	NoFollow bool  // a symbolic link is ErrNotRegular, not followed
	Max      int64 // bytes; a larger file is ErrTooLarge; 0: MaxText
}

// Open opens the regular file at path, and returns it with its stamp. A FIFO without a
// writer opens at once, and is then seen not to be a regular file.
func Open(path string, how How) (*os.File, Stamp, error) {
	var named fs.FileInfo
	if how.NoFollow {
		var err error
		if named, err = os.Lstat(path); err != nil || named.Mode()&fs.ModeSymlink != 0 {
			return nil, Stamp{}, cmp.Or(err, notRegular(path))
		}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Stamp{}, err
	}
	fi, err := f.Stat()
	if err == nil && named != nil && !os.SameFile(named, fi) { // another one has taken its place, perhaps a link
		_ = f.Close()
		return Open(path, how)
	}
	switch {
	case err != nil:
	case !fi.Mode().IsRegular():
		err = notRegular(path)
	case fi.Size() > cmp.Or(how.Max, MaxText):
		err = fmt.Errorf("read %s: %w", path, ErrTooLarge)
	default:
		return f, StampOf(fi), nil
	}
	_ = f.Close()
	return nil, Stamp{}, err
}

func notRegular(path string) error { return &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular} }

// Read returns the content of the regular file at path with its stamp.
func Read(path string, how How) ([]byte, Stamp, error) {
	f, stamp, err := Open(path, how)
	if err != nil {
		return nil, stamp, err
	}
	defer f.Close() //nolint:errcheck // opened for reading: nothing to lose
	data := make([]byte, stamp.Size)
	n, err := Fill(f, data) // it may have been cut short since
	if err != nil {
		return nil, stamp, fmt.Errorf("read %s: %w", path, err)
	}
	return data[:n], stamp, nil
}

// Same reports whether two readers have the same content.
func Same(a, b io.Reader) (bool, error) {
	const piece = 64 << 10
	one, other := make([]byte, piece), make([]byte, piece)
	for {
		n, errA := Fill(a, one)
		m, errB := Fill(b, other)
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(one[:n], other[:m]) {
			return false, err
		}
		if n < piece {
			return true, nil
		}
	}
}

// Fill reads until b is full, or to the end.
func Fill(r io.Reader, b []byte) (int, error) {
	n, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// Until returns a reader that fails as soon as the context has ended: a few bytes
// can stand for many that they are decompressed to.
func Until(ctx context.Context, r io.Reader) io.Reader {
	return readFunc(func(b []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return r.Read(b)
	})
}

// A readFunc is a reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }

// SyncDir makes sure that the names in a directory are on the disk. On Windows, where
// none can be opened, they are there sooner.
func SyncDir(dir string, sync func(*os.File) error) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = sync(f)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // some file systems cannot, and need not
	}
	return errors.Join(err, f.Close())
}
