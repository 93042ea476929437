package source

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	parse      func(text []byte) ([]Item, error)
	// done marks an item that is open as done.
	done func(text []byte, at int) ([]byte, error)
}

var _ Source = (*File)(nil)

// Kind implements [Source].
func (f *File) Kind() string { return f.kind }

// Name is the absolute path of the file.
func (f *File) Name() string { return f.path }

// name is the file's name for people.
func (f *File) name() string { return wording.Path(f.path) }

// List implements [Source].
func (f *File) List(context.Context) ([]Item, error) {
	text, err := f.read()
	if err != nil {
		return nil, err
	}
	items, err := f.items(text)
	if err == nil && len(items) == 0 {
		err = hint.Errorf("write each task on a line of its own, such as: - [ ] Add a test for the parser", "%s is no checklist: it has no boxes", f.name())
	}
	if err == nil {
		err = check(f.name(), items)
	}
	return items, err
}

func (f *File) items(text []byte) ([]Item, error) {
	items, err := f.parse(bytes.TrimPrefix(text, []byte(mark)))
	if err != nil {
		err = fmt.Errorf("%s: %w", f.name(), err)
	}
	return items, err
}

// Claim implements [Source].
func (*File) Claim(context.Context, string) error { return nil }

// Failed implements [Source].
func (*File) Failed(context.Context, string, Result) error { return nil }

// Done implements [Source]. Only what the user writes between the last look at the file and its replacement could be lost.
func (f *File) Done(_ context.Context, key string, r Result) error {
	path, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return fmt.Errorf("write the tasks: %w", err)
	}
	// Processes of ours take turns. The lock lies elsewhere, as nothing should appear beside the user's file.
	unlock, err := file.Lock(filepath.Join(os.TempDir(), fmt.Sprintf("codeloops-%d-%s.lock", os.Getuid(), digest(path))))
	if err != nil {
		return fmt.Errorf("write %s: %w", f.name(), err)
	}
	defer unlock()
	for {
		before, err := f.read()
		if err != nil {
			return err
		}
		text, err := f.Tick(before, key, r)
		if text == nil || err != nil {
			return err
		}
		if now, err := f.read(); err != nil || !bytes.Equal(now, before) {
			continue
		}
		info, err := os.Stat(path)
		if err == nil {
			err = file.Write(path, text, info.Mode().Perm())
		}
		if err != nil {
			err = fmt.Errorf("write %s: %w", f.name(), err)
		}
		return err
	}
}

// Tick marks an item as done in a text of the file; it returns nil if it is marked already. Other errors in the file do not
// matter here.
func (f *File) Tick(text []byte, key string, r Result) ([]byte, error) {
	items, err := f.items(text)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(items, func(item Item) bool { return item.Key == key })
	switch {
	case at < 0:
		return nil, hint.Errorf("it was removed, or its text was changed; the file stays as it is", "%s no longer has this item: %w", f.name(), ErrGone)
	case items[at].Done:
		return nil, nil
	case r.Prompt != "" && !SameText(items[at].Prompt, r.Prompt):
		return nil, hint.Errorf("it stays open; to have it worked on as it is now: codeloops queue rm "+r.Task+", and import it again",
			"the text of %s was changed in %s: %w", items[at].title(), f.name(), ErrChanged)
	}
	bare := bytes.TrimPrefix(text, []byte(mark))
	done, err := f.done(bare, items[at].at)
	return slices.Concat(text[:len(text)-len(bare)], done), err
}

// read returns the file's contents.
func (f *File) read() ([]byte, error) {
	text, _, err := file.Read(f.path, file.Options{Max: largest})
	if err != nil {
		err = fmt.Errorf("read the tasks: %w", err)
	} else if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		err = fmt.Errorf("%s is not UTF-8 text", f.name())
	}
	if err != nil {
		err = hint.Add(err, "name a text file with tasks, of at most "+wording.Bytes(largest))
	}
	return text, err
}
