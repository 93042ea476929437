package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/store"
)

var errGrowing = errors.New("grows while it is read")

// findFiles finds the state of the directory's files and symlinks.
func (v *visit) findFiles(ctx context.Context) error {
	v.dir.Files = make([]File, 0, len(v.files))
	for _, name := range v.files {
		c := candidate{
			visit: v, name: name,
			base: v.base.file(name), index: v.index.file(name), last: v.last.file(name),
		}
		if c.base == nil && c.index == nil && v.also.file(name) == nil && v.rules.Ignored(name, false) {
			continue
		}
		f, err := c.find(ctx)
		if errors.As(err, new(*unreadableError)) {
			v.warn(v.path+name, errors.Unwrap(err))
			f, err = c.lastKnown(), nil
		}
		if err != nil && !gone(err) {
			return err
		}
		if f == nil {
			v.listing.stat = Stat{} // it may come back without a trace here
			continue
		}
		v.dir.Files = append(v.dir.Files, *f)
	}
	return nil
}

// An unreadableError costs only the file that it is about.
type unreadableError struct{ error }

func (e *unreadableError) Unwrap() error { return e.error }

// A candidate is a name in a directory with what is known of it.
type candidate struct {
	*visit
	name              string
	base, index, last *File
}

func (c *candidate) lastKnown() *File {
	f := c.last
	if f == nil {
		f = c.index
	}
	if f == nil {
		return nil
	}
	return &File{Name: f.Name, Mode: f.Mode, ID: f.ID}
}

// find returns the state of a file; nil for what git does not record.
func (c *candidate) find(ctx context.Context) (*File, error) {
	st, k, err := c.handle.stat(c.name)
	if err != nil {
		return nil, unreadable(err)
	}
	mode := c.mode(k)
	if mode == 0 {
		return nil, nil //nolint:nilnil // nothing to record is no error
	}
	for _, known := range []*File{c.last, c.index} {
		if known != nil && isLink(known.Mode) == isLink(mode) && known.matches(st) {
			f := *known
			f.Mode, f.stat, f.trust = mode, st, exact
			return &f, nil
		}
	}
	if k == symlink {
		return c.readLink(st)
	}
	return c.read(ctx, mode)
}

func unreadable(err error) error {
	if gone(err) {
		return err
	}
	return &unreadableError{err}
}

func isLink(mode uint32) bool { return mode == Symlink }

// mode returns what git records of a file's type and permissions.
func (c *candidate) mode(k kind) uint32 {
	tracked := c.index
	if tracked == nil {
		tracked = c.base
	}
	switch {
	case k == symlink:
		return Symlink
	case k != regular && k != executable:
		return 0
	case !c.Symlinks && tracked != nil && tracked.Mode == Symlink:
		return Symlink
	case c.FileMode && k == executable:
		return Executable
	case !c.FileMode && tracked != nil && tracked.Mode == Executable:
		return Executable
	}
	return Regular
}

func (c *candidate) readLink(st Stat) (*File, error) {
	at := c.Now()
	target, err := c.handle.readlink(c.name)
	if err != nil {
		return nil, unreadable(err)
	}
	f := c.file(Symlink, st, c.clock.settled(st, at))
	return f, c.identify(f, []byte(target))
}

// read hashes a regular file. The stat is that of the file that was opened, at
// a time before it was read.
func (c *candidate) read(ctx context.Context, mode uint32) (*File, error) {
	at := c.Now()
	file, st, err := c.handle.open(c.name)
	if err != nil {
		return nil, unreadable(err)
	}
	defer file.Close()
	f := c.file(mode, st, c.clock.settled(st, at))
	path := c.path + c.name
	attrs := c.Attributes.Of(path)
	converts := mode != Symlink && c.Settings.Converts(attrs)
	switch {
	case mode != Symlink && c.Settings.NeedsGit(attrs), converts && st.Size > store.Large:
		c.postpone(path)
		return f, nil
	case st.Size > store.Large:
		if f.ID, err = store.SumBlob(file, st.Size); err != nil {
			return nil, unreadable(err)
		}
		return f, nil
	}
	content, err := readAll(file, st.Size)
	if err != nil {
		return nil, unreadable(err)
	}
	if converts {
		content = c.Settings.Normalize(content, attrs, func() bool { return c.hasCRLF(ctx) })
	}
	return f, c.identify(f, content)
}

// file returns the file without its id. A name that is known already is
// shared.
func (c *candidate) file(mode uint32, st Stat, settled bool) *File {
	f := &File{Name: c.name, Mode: mode, stat: st}
	if settled {
		f.trust = exact
	}
	for _, known := range []*File{c.last, c.base, c.index} {
		if known != nil {
			f.Name = known.Name
			break
		}
	}
	return f
}

// identify sets the id, and keeps the content unless it is known to be stored.
func (c *candidate) identify(f *File, content []byte) error {
	f.ID = store.Sum(plumbing.BlobObject, content)
	for _, known := range []*File{c.last, c.base, c.index} {
		if known != nil && known.ID == f.ID && len(content) > 0 {
			return nil
		}
	}
	if err := c.Blobs.Keep(f.ID, content); err != nil {
		return fmt.Errorf("keep %s%s: %w", c.path, c.name, err)
	}
	return nil
}

func readAll(file *os.File, size int64) ([]byte, error) {
	content := make([]byte, size+1)
	n, err := io.ReadFull(file, content)
	switch {
	case err == nil:
		return nil, errGrowing
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return content[:n:n], nil
	}
	return nil, err
}

// postpone leaves the file to git.
func (c *candidate) postpone(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = append(c.pending, pending{dir: c.dir, name: c.name, path: path})
}

// hasCRLF looks at the blob that a file had before, on which git's conversion
// of line ends depends.
func (c *candidate) hasCRLF(ctx context.Context) bool {
	before := c.base
	if before == nil {
		before = c.index
	}
	if before == nil || before.Mode == Gitlink {
		return false
	}
	blob, err := c.Blobs.Blob(ctx, before.ID)
	return err == nil && attr.HasCRLF(blob)
}
