package scan

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/store"
	"codeloops/internal/file"
)

func (c *candidate) readLink(st Stat) (File, error) {
	at := c.Now()
	target, err := c.handle.readlink(c.name)
	if err != nil {
		return File{}, unreadable(err)
	}
	f := c.fresh(Symlink, st, at)
	err = c.identify(&f, []byte(target))
	return f, err
}

// read hashes a regular file. The stat is that of the opened file, before it was read.
func (c *candidate) read(ctx context.Context, mode uint32) (File, error) {
	if err := ctx.Err(); err != nil {
		return File{}, err
	}
	at := c.Now()
	in, st, err := c.handle.openFile(c.name)
	if err != nil {
		return File{}, unreadable(err)
	}
	defer in.Close() //nolint:errcheck // opened for reading: nothing to lose
	f := c.fresh(mode, st, at)
	var attrs attr.Attrs
	raw := mode == Symlink || c.Conversion.Reader == nil
	if !raw {
		attrs = c.Conversion.Of(c.path + c.name)
	}
	converts := !raw && c.Conversion.Converts(attrs)
	switch {
	case !raw && c.Conversion.NeedsGit(attrs), converts && st.Size > store.Large:
		c.postpone(ctx)
		return f, nil
	case st.Size > store.Large:
		if f.ID, err = store.SumBlob(ctx, in, st.Size); err != nil {
			return File{}, cmp.Or(ctx.Err(), unreadable(err))
		}
		return f, nil
	}
	content := make([]byte, st.Size)
	n, err := file.Fill(in, content) // no more than the size when it was opened, as in git
	if err != nil {
		return File{}, unreadable(err)
	}
	content = content[:n:n]
	normal := content
	if converts {
		normal = c.Conversion.Normalize(content, attrs, func() bool { return c.hasCRLF(ctx) })
	}
	err = c.identify(&f, normal)
	if converts && c.isBase(&f, content) {
		f.ID = c.base.ID
	}
	return f, err
}

// isBase reports whether a file whose line ends git would convert is still, byte for byte, the
// blob of the baseline. Git calls such a file changed if its stat proves nothing, as in a resumed
// session, but nobody has changed it.
func (c *candidate) isBase(f *File, content []byte) bool {
	return c.base != nil && c.base.ID != f.ID && c.base.ID == store.Sum(plumbing.BlobObject, content)
}

// fresh returns a file without an id yet, given when it was read. Its stat is trusted if any later
// change of the file will change it.
func (c *candidate) fresh(mode uint32, st Stat, at time.Time) File {
	if !c.Since.IsZero() && st.Size <= store.Large {
		at = c.Since
	}
	f := File{Name: c.name, Mode: mode, stat: st}
	if c.Clock.settled(st, at) {
		f.trust = exact
	}
	return f
}

// identify sets the id, and stores the content unless that was done before.
func (c *candidate) identify(f *File, content []byte) error {
	f.ID = store.Sum(plumbing.BlobObject, content)
	for _, known := range [...]*File{c.last, c.base, c.content()} {
		if known != nil && known.ID == f.ID && len(content) > 0 {
			return nil
		}
	}
	if err := c.Blobs.Keep(f.ID, content); err != nil {
		return fmt.Errorf("keep %s%s: %w", c.path, c.name, err)
	}
	return nil
}

// postpone leaves the file to git.
func (c *candidate) postpone(ctx context.Context) {
	c.waits = true
	p := Unconverted{Path: c.path + c.name}
	if c.hasCRLF(ctx) {
		p.Before = c.before()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = append(c.pending, p)
}

// before returns the last known version of a file.
func (c *candidate) before() *File { return cmp.Or(c.base, c.index) }

// hasCRLF reports whether the last known version has CRLF, on which git's conversion of line ends
// depends.
func (c *candidate) hasCRLF(ctx context.Context) bool {
	before := c.before()
	if before == nil || before.Mode == Gitlink {
		return false
	}
	blob, err := c.Blobs.Blob(ctx, before.ID)
	return err == nil && attr.HasCRLF(blob)
}
