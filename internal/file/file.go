// Package file reads and writes small regular files whole.
//
// Those that are read come with a repository and are not trusted: a FIFO does not block, a device is
// not read, an oversized file is not loaded.
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

// The reasons why Read rejects an existing file.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("file is too large")
)

// Missing reports whether err says that a file, or a directory above it, does not exist.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Slack is by how much the times of files may lag behind the clock on the coarsest file system. Only
// a file with an older time will get another one with every later change.
const Slack = 3 * time.Second

// A Stamp is the identity and the times of a file from one stat call. If two stamps are equal, the
// file has not been touched in between, within the resolution of the file system's clock. The
// zero value means no file.
type Stamp struct {
	Size  int64
	Mtime int64  // nanoseconds since 1970
	Ctime int64  // nanoseconds since 1970; 0 if the system has none
	Dev   uint64 // 0 if the system has none
	Ino   uint64 // 0 if the system has none
}

// Before reports whether the file was last touched before t. If t allows for the clock's resolution,
// every later write changes the stamp.
func (s Stamp) Before(t time.Time) bool { return s.Changed().Before(t) }

// Changed is when the file was last touched.
func (s Stamp) Changed() time.Time { return time.Unix(0, max(s.Mtime, s.Ctime)) }

// StampOf returns the stamp of a file.
func StampOf(fi fs.FileInfo) Stamp {
	s := Stamp{Size: fi.Size(), Mtime: fi.ModTime().UnixNano()}
	s.system(fi)
	return s
}

// At returns the stamp of the file or directory at path; zero if that cannot be told.
func At(path string) Stamp {
	fi, err := os.Stat(path)
	if err != nil {
		return Stamp{}
	}
	return StampOf(fi)
}

// MaxText limits the size in bytes of files of rules and settings. Git has a higher limit.
const MaxText = 16 << 20

// Options says which files Open and Read accept.
type Options struct {
	NoFollow bool  // a symbolic link is not followed, but ErrNotRegular
	Max      int64 // bytes; a larger file is ErrTooLarge; 0 means MaxText
}

// Open opens the regular file at path, and returns it with its stamp. It does not block on a FIFO.
func Open(path string, how Options) (*os.File, Stamp, error) {
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
	if err == nil && named != nil && !os.SameFile(named, fi) { // it was replaced, perhaps by a link
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
func Read(path string, how Options) ([]byte, Stamp, error) {
	f, stamp, err := Open(path, how)
	if err != nil {
		return nil, stamp, err
	}
	defer f.Close() //nolint:errcheck // only read
	data := make([]byte, stamp.Size)
	n, err := Fill(f, data) // it may have been truncated
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

// Until returns a reader that fails once the context has ended, even while a few bytes decompress to
// many.
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

// SyncDir syncs a directory, so that the names in it are on the disk. Windows can neither open
// directories like this, nor needs it.
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
