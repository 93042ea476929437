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
	"time"
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
func (f *File) Done(ctx context.Context, key string, r Result) error {
	return f.edit(ctx, func(text []byte) ([]byte, error) { return f.Tick(text, key, r) })
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
	case bytes.IndexByte(text, 0) >= 0:
		return nil, hint.Errorf("name a text file", "%s is a binary file, not a list of tasks", name)
	}
	n := 0
	for line := range bytes.Lines(text) {
		if n++; !utf8.Valid(line) {
			return nil, hint.Errorf("save it as UTF-8", "%s is not UTF-8: see line %d", name, n)
		}
	}
	return text, nil
}

// lineOf is the number of the line at an offset.
func lineOf(text []byte, at int) int {
	return bytes.Count(text[:min(max(at, 0), len(text))], []byte("\n")) + 1
}

// edit replaces the file's contents by what change returns, unless that is nil. If the file is written meanwhile,
// change is called again with the new contents. Only a write between the last check and the rename could be lost.
func (f *File) edit(ctx context.Context, change func(text []byte) ([]byte, error)) error {
	path, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		_, readErr := f.read() // it has the better message
		return cmp.Or(readErr, err)
	}
	target := &File{path: path}
	if text, err := target.read(); err != nil {
		return err
	} else if text, err = change(text); text == nil || err != nil {
		return err // no draft is needed
	}
	draft, err := target.draft(ctx)
	if err == nil {
		err = target.replace(draft, change)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", wording.Path(f.path), err)
	}
	return nil
}

// replace renames the draft to the file, or removes it.
func (f *File) replace(draft *os.File, change func(text []byte) ([]byte, error)) (err error) {
	stage := stale
	for tries := 0; err == nil && stage == stale && tries < 100; tries++ {
		stage, err = f.write(draft, change)
	}
	mine, statErr := draft.Stat()
	if err = errors.Join(err, statErr, draft.Close()); err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	if there, err := os.Lstat(draft.Name()); err != nil || !os.SameFile(mine, there) {
		return hint.Add(errors.New("its temporary file was removed by another process"), "try again")
	}
	if stage == ready {
		if err = os.Rename(draft.Name(), f.path); err == nil {
			return nil // another process may use the draft's name from here on
		}
	}
	if stage == stale {
		err = hint.Add(errors.New("it keeps changing"), "try again when nobody writes it")
	}
	return errors.Join(err, os.Remove(draft.Name()))
}

// What to do with a draft.
const (
	stale    = iota // retry, as the file has changed
	ready           // rename it to the file
	needless        // nothing to change
)

// write writes the draft.
func (f *File) write(draft *os.File, change func(text []byte) ([]byte, error)) (stage int, err error) {
	before, err := f.read()
	if err != nil {
		return stale, err
	}
	text, err := change(before)
	if text == nil || err != nil {
		return needless, err
	}
	info, err := os.Stat(f.path)
	if err == nil {
		err = draft.Truncate(0)
	}
	if err == nil {
		_, err = draft.WriteAt(text, 0)
	}
	if err == nil {
		err = errors.Join(draft.Chmod(info.Mode().Perm()), draft.Sync())
	}
	if err != nil {
		return stale, err
	}
	if now, err := f.read(); err != nil || !bytes.Equal(now, before) {
		return stale, err
	}
	return ready, nil
}

// draft creates the temporary file next to the target. It has a fixed name and so serves as a lock between
// processes of ours. One left by a killed process is removed once it has not changed for a while.
func (f *File) draft(ctx context.Context) (*os.File, error) {
	const pause, patience = 10 * time.Millisecond, 500
	name := filepath.Join(filepath.Dir(f.path), "."+filepath.Base(f.path)+".codeloops")
	var seen fs.FileInfo
	for waited := 0; ; waited++ {
		draft, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return draft, err
		}
		info, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case seen == nil || !os.SameFile(seen, info) || !seen.ModTime().Equal(info.ModTime()):
			seen, waited = info, 0
		case waited >= patience:
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}
