package source

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"codeloops/internal/file"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// largest is the size limit of a file with tasks.
const largest = 8 << 20

// mark is the byte order mark, with which some editors start a file.
const mark = "\ufeff"

// A File is a user's file with tasks; see [NewChecklist] and [NewStories]. Claim and Failed leave it alone.
type File struct {
	path, kind string
	list       func(name string, text []byte) ([]Item, error)
	// done marks an item as done; it returns nil if it is marked already.
	done func(name string, text []byte, key string) ([]byte, error)
}

var _ Source = (*File)(nil)

// Kind implements [Source].
func (f *File) Kind() string { return f.kind }

// Name is the absolute path of the file.
func (f *File) Name() string { return f.path }

// List implements [Source].
func (f *File) List(context.Context) ([]Item, error) {
	text, err := f.read()
	if err != nil {
		return nil, err
	}
	return f.list(wording.Path(f.path), text)
}

// Claim implements [Source].
func (*File) Claim(context.Context, string) error { return nil }

// Failed implements [Source].
func (*File) Failed(context.Context, string, Result) error { return nil }

// Done implements [Source].
func (f *File) Done(_ context.Context, key string, r Result) error {
	return f.edit(func(text []byte) ([]byte, error) { return f.Tick(text, key, r) })
}

// Tick marks an item as done in a text of the file; it returns nil if it is marked already.
func (f *File) Tick(text []byte, key string, r Result) ([]byte, error) {
	items, _ := f.list(wording.Path(f.path), text) // other errors in the file do not matter here
	if err := asked(wording.Path(f.path), items, key, r); err != nil {
		return nil, err
	}
	return f.done(wording.Path(f.path), text, key)
}

// read returns the file's contents.
func (f *File) read() ([]byte, error) {
	name := wording.Path(f.path)
	text, _, err := file.Read(f.path, file.Options{Max: largest})
	switch info, _ := os.Stat(f.path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, hint.Errorf("name the file that holds the tasks", "%s does not exist", name)
	case info != nil && info.IsDir():
		return nil, hint.Errorf("name a file in it", "%s is a directory, not a list of tasks", name)
	case errors.Is(err, file.ErrNotRegular):
		return nil, hint.Errorf("write the tasks into a file, and name that", "%s is no regular file", name)
	case errors.Is(err, file.ErrTooLarge):
		return nil, hint.Errorf("split it, or keep the tasks in a tracker", "%s is larger than %s, too large for a list of tasks",
			name, wording.Bytes(largest))
	case err != nil:
		return nil, fmt.Errorf("read the tasks: %w", err)
	}
	n := 0
	for line := range bytes.Lines(text) {
		if n++; !utf8.Valid(line) || bytes.IndexByte(line, 0) >= 0 {
			return nil, hint.Errorf("name a text file, in UTF-8", "%s is not UTF-8 text: see line %d", name, n)
		}
	}
	return text, nil
}

// edit replaces the file's contents by what change returns, unless that is nil. If the file is written meanwhile,
// change is called again with the new contents. Only a write between the last look and the rename could be lost.
func (f *File) edit(change func(text []byte) ([]byte, error)) error {
	path, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		_, readErr := f.read() // it has the better message
		return cmp.Or(readErr, err)
	}
	// Processes of ours take turns. The lock lies elsewhere, as nothing should appear beside the user's file.
	unlock, err := file.Lock(filepath.Join(os.TempDir(), fmt.Sprintf("codeloops-%d-%s.lock", os.Getuid(), digest(path))))
	if err != nil {
		return fmt.Errorf("write %s: %w", wording.Path(f.path), err)
	}
	defer unlock()
	target := &File{path: path}
	for range 100 {
		before, err := target.read()
		if err != nil {
			return err
		}
		text, err := change(before)
		if text == nil || err != nil {
			return err
		}
		if now, err := target.read(); err != nil || !bytes.Equal(now, before) {
			continue
		}
		info, err := os.Stat(path)
		if err == nil {
			err = file.Write(path, text, info.Mode().Perm())
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", wording.Path(f.path), err)
		}
		return nil
	}
	return hint.Errorf("try again when nobody writes it", "%s keeps changing", wording.Path(f.path))
}
