package scan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/store"
)

func (c *candidate) readLink(st Stat) (File, error) {
	at := c.Now()
	target, err := c.handle.readlink(c.name)
	if err != nil {
		return File{}, unreadable(err)
	}
	f := c.fresh(Symlink, st, !c.Content && c.clock.settled(st, at))
	err = c.identify(&f, []byte(target))
	return f, err
}

// read hashes a regular file. The stat is that of the file that was opened, at
// a time before it was read.
func (c *candidate) read(ctx context.Context, mode uint32) (File, error) {
	if err := ctx.Err(); err != nil {
		return File{}, err
	}
	at := c.Now()
	file, st, err := c.handle.open(c.name)
	if err != nil {
		return File{}, unreadable(err)
	}
	defer file.Close() //nolint:errcheck // opened for reading: nothing to lose
	f := c.fresh(mode, st, c.settled(st, at))
	var attrs attr.Attrs
	raw := mode == Symlink || c.Attributes == nil
	if !raw {
		attrs = c.attributes().Of(c.name)
	}
	converts := !raw && c.Settings.Converts(attrs)
	switch {
	case !raw && c.Settings.NeedsGit(attrs), converts && st.Size > store.Large:
		c.postpone(ctx, c.path+c.name)
		return f, nil
	case st.Size > store.Large:
		if f.ID, err = store.SumBlob(ctx, file, st.Size); err != nil {
			return File{}, cmp.Or(ctx.Err(), unreadable(err))
		}
		return f, nil
	}
	content, err := c.readAll(file, st.Size)
	if err != nil {
		return File{}, unreadable(err)
	}
	normal := content
	if converts {
		normal = c.Settings.Normalize(content, attrs, func() bool { return c.hasCRLF(ctx) })
	}
	err = c.identify(&f, normal)
	if converts && c.asBegun(&f, content) {
		f.ID = c.base.ID
	}
	return f, err
}

// settled reports whether the stat of the file that was opened tells of every change
// from now on.
func (c *candidate) settled(st Stat, at time.Time) bool {
	if !c.Since.IsZero() && st.Size <= store.Large {
		at = c.Since
	}
	return !c.Content && c.clock.settled(st, at)
}

// asBegun reports whether a file whose line ends git would convert is, byte for
// byte, the blob that it was when the session began. For git it is changed as soon
// as its stat proves nothing. But nobody has changed it, and in a session that is
// resumed no stat is known.
func (c *candidate) asBegun(f *File, content []byte) bool {
	return c.base != nil && c.base.ID != f.ID && c.base.ID == c.scratch.hash.Sum(plumbing.BlobObject, content)
}

// fresh returns the file without its id. A name that is known already is
// shared.
func (c *candidate) fresh(mode uint32, st Stat, settled bool) File {
	f := File{Mode: mode, stat: st}
	if settled {
		f.trust = exact
	}
	for _, known := range [...]*File{c.last, c.base, c.index} {
		if known != nil {
			f.Name = known.Name
			return f
		}
	}
	f.Name = strings.Clone(c.name)
	return f
}

// identify sets the id, and keeps a copy of the content unless it is known to
// be stored.
func (c *candidate) identify(f *File, content []byte) error {
	f.ID = c.scratch.hash.Sum(plumbing.BlobObject, content)
	for _, known := range [...]*File{c.last, c.base, c.content()} {
		if known != nil && known.ID == f.ID && len(content) > 0 {
			return nil
		}
	}
	if err := c.Blobs.Keep(f.ID, bytes.Clone(content)); err != nil {
		return fmt.Errorf("keep %s%s: %w", c.path, c.name, err)
	}
	return nil
}

// maxScratch is up to which size of a file the memory for it is used again.
const maxScratch = 1 << 20

// readAll returns the content of a file, which holds until the next one is
// read. As for git, a file that is being written to ends where it did when it
// was opened: the next look will see that it has changed.
func (c *candidate) readAll(file io.Reader, size int64) ([]byte, error) {
	content := c.scratch.content
	if int64(cap(content)) < size {
		content = make([]byte, size, max(size, 8<<10))
		if size < maxScratch {
			c.scratch.content = content
		}
	}
	content = content[:size]
	n, err := io.ReadFull(file, content)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return content[:n:n], err
}

// postpone leaves the file to git. The path of one at the root is its name, in
// memory that the next directory uses again.
func (c *candidate) postpone(ctx context.Context, path string) {
	c.waits = true
	p := Unconverted{Path: strings.Clone(path)}
	if c.hasCRLF(ctx) {
		p.Before = c.before()
	}
	c.shared.Lock()
	defer c.shared.Unlock()
	c.pending = append(c.pending, p)
}

// before is what a file was for git, which looks at the index.
func (c *candidate) before() *File {
	if c.base != nil {
		return c.base
	}
	return c.index
}

// hasCRLF looks at the blob that a file had before, on which git's conversion
// of line ends depends.
func (c *candidate) hasCRLF(ctx context.Context) bool {
	before := c.before()
	if before == nil || before.Mode == Gitlink {
		return false
	}
	blob, err := c.Blobs.Blob(ctx, before.ID)
	return err == nil && attr.HasCRLF(blob)
}
