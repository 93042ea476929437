package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"codeloops/internal/file"
	"codeloops/internal/wording"
)

// sort records what has changed.
func (e *eye) sort(ctx context.Context) error {
	gone := slices.Collect(maps.Keys(e.places))
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(e.changed)) {
		switch reads, err := e.one(ctx, name); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			e.unread[name] = err
		case reads:
			paths = append(paths, name)
		default:
			gone = append(gone, name)
		}
	}
	return e.record(ctx, gone, paths)
}

// record takes files to be gone, or to be what they are on the disk.
func (e *eye) record(ctx context.Context, gone, paths []string) error {
	if !e.first {
		for _, name := range gone {
			e.edits[name] = nil
		}
		for _, name := range paths {
			var err error
			if e.edits[name], err = e.read(name); err != nil {
				return err
			}
		}
		return nil
	}
	var lines strings.Builder
	for _, name := range gone {
		lines.WriteString(info(0, plumbing.ZeroHash, name))
	}
	return e.update(ctx, lines.String(), paths)
}

// read returns a file or a link as it is on the disk.
func (e *eye) read(name string) (*object.TreeEntry, error) {
	st, err := os.Lstat(e.at(name))
	if err != nil {
		return nil, err
	}
	var content []byte
	mode := e.modeOf(name, st)
	if st.Mode()&fs.ModeSymlink != 0 {
		target, linkErr := os.Readlink(e.at(name))
		content, err = []byte(target), linkErr
	} else {
		var stamp file.Stamp
		content, stamp, err = file.Read(e.at(name), file.Options{NoFollow: true, Max: Large})
		if err == nil && int64(len(content)) < stamp.Size {
			err = fmt.Errorf("read %s: %w", wording.Name(name), io.ErrUnexpectedEOF) // somebody is at it
		}
	}
	if err != nil {
		return nil, err
	}
	id, err := e.files.write(plumbing.BlobObject, content)
	return &object.TreeEntry{Mode: filemode.FileMode(mode), Hash: id}, err
}

// modeOf returns the mode of a file or a link. Where the disk does not have modes, they are those that are known.
func (e *eye) modeOf(name string, st fs.FileInfo) uint32 {
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		return Symlink
	case !e.fs.FileMode || !e.fs.Symlinks:
		if was := e.was(name); was == Symlink && !e.fs.Symlinks || was == Executable && !e.fs.FileMode {
			return was
		}
	}
	if e.fs.FileMode && st.Mode()&0o100 != 0 {
		return Executable
	}
	return Regular
}

// one reports whether git is to read a file. An error means that it cannot be read.
func (e *eye) one(ctx context.Context, name string) (reads bool, err error) {
	st, err := os.Lstat(e.at(name))
	switch {
	case file.Missing(err):
		return false, nil
	case err != nil:
		return false, reason(err)
	case st.Mode()&fs.ModeSymlink != 0:
		return e.under(name), nil
	case !st.Mode().IsRegular():
		return false, nil
	}
	f, err := os.OpenFile(e.at(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, reason(err)
	}
	defer f.Close() //nolint:errcheck // only read
	if st.Size() <= Large {
		return e.under(name), nil
	}
	id, err := e.large.sum(ctx, f, st)
	if err != nil {
		return false, err
	}
	e.found.large[name] = entry{e.modeOf(name, st), id, st.Size()}
	return false, nil
}

// under reports whether the directories above a path are none behind a link.
func (e *eye) under(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if st, err := os.Lstat(e.at(dir)); err != nil || !st.IsDir() {
			return false
		}
	}
	return true
}

// was returns the mode that is known of a file; 0 for none.
func (e *eye) was(name string) uint32 {
	if mode, staged := e.modes[name]; staged {
		return mode
	}
	if e.first {
		return e.tracked.entries[name].Mode
	}
	if is, err := e.files.at(e.base, name); err == nil && is != nil {
		return uint32(is.Mode)
	}
	return 0
}

func reason(err error) error {
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		return cause.Err
	}
	return err
}

// largeFiles knows the ids of large files by their stamps, so that they are not read each time.
type largeFiles struct {
	known map[file.Stamp]plumbing.Hash
	now   func() (settled int64)
}

func (l *largeFiles) sum(ctx context.Context, f *os.File, st fs.FileInfo) (plumbing.Hash, error) {
	stamp := file.StampOf(st)
	if id, is := l.known[stamp]; is {
		return id, nil
	}
	id, err := sum(ctx, f, st.Size())
	if err == nil && max(stamp.Mtime, stamp.Ctime) < l.now() {
		l.known[stamp] = id
	}
	return id, err
}
