package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/store"
)

// findFiles finds the state of the directory's files and symlinks. As long as
// they are what is known already, that is shared.
func (v *visit) findFiles(ctx context.Context) error {
	known := v.last.files()
	if v.last == nil {
		known = v.index.files()
	}
	tracked := sameSlice(known, v.index.files()) // all that is known is
	at, same := 0, 0                             // so many are before the name; are as known, and the rest is in v.found
	c := v.scratch.candidate(v)
	for _, name := range v.files {
		for at < len(known) && known[at].Name < name {
			at++
		}
		isKnown := at < len(known) && known[at].Name == name
		if !(tracked && isKnown) && !c.inScope(name) {
			continue
		}
		st, k, err := v.handle.stat(name)
		if isKnown && err == nil && v.unmoved(&known[at], st, k) {
			if v.found == nil && same == at {
				same++
			} else {
				v.keep(File{Name: known[at].Name, Mode: known[at].Mode, ID: known[at].ID, stat: st, trust: exact}, known[:same])
			}
			continue
		}
		f, err := c.look(ctx, looked{name, st, k, err})
		switch {
		case err != nil:
			return err
		case f.Mode == 0:
			v.listing.stat = Stat{} // it may come back without a trace here
		case v.found == nil && same == at && isKnown && f.like(&known[at]):
			same++
		default:
			v.keep(f, known[:same])
		}
	}
	if v.found == nil {
		v.found = known[:same:same]
	}
	if v.handle.shared {
		v.unsure(v.path)
	}
	return nil
}

// unmoved reports whether a file is what is known of it, as most are. For the
// others a candidate looks closer.
func (v *visit) unmoved(f *File, st Stat, k kind) bool {
	return f.trust != doubtful && f.stat == st && v.FileMode && v.Symlinks && f.Mode == modeOf(k)
}

// modeOf returns what git records of a type of file; 0 for nothing.
func modeOf(k kind) uint32 {
	switch k {
	case regular:
		return Regular
	case executable:
		return Executable
	case symlink:
		return Symlink
	case unknown, directory, other:
	}
	return 0
}

// keep adds a file to those of the directory, the first time after what was
// known before it.
func (v *visit) keep(f File, before []File) {
	if v.found == nil {
		v.found = append(make([]File, 0, len(v.files)), before...)
	}
	v.found = append(v.found, f)
}

// A cursor finds files by names that come in order.
type cursor []File

func (c *cursor) find(name string) *File {
	for len(*c) > 0 {
		f := &(*c)[0]
		if f.Name == name {
			return f
		}
		if f.Name > name {
			return nil
		}
		*c = (*c)[1:]
	}
	return nil
}

// An unreadableError costs only the file that it is about.
type unreadableError struct{ error }

// A candidate is a name in a directory with what is known of it.
type candidate struct {
	*visit
	name              string
	base, index, last *File

	bases, indexes, lasts, others cursor
}

// candidate returns the one with which to look at the files of a directory.
func (s *scratch) candidate(v *visit) *candidate {
	s.one = candidate{visit: v, bases: v.base.files(), indexes: v.index.files(), lasts: v.last.files(), others: v.also.files()}
	return &s.one
}

// inScope reports whether the file of that name is.
func (c *candidate) inScope(name string) bool {
	return c.indexes.find(name) != nil || c.bases.find(name) != nil || c.others.find(name) != nil ||
		!c.ignores().Ignored(name, false)
}

// looked is what a look at a file told.
type looked struct {
	name string
	stat Stat
	kind kind
	err  error
}

// look returns the state of a file; one without a mode for what git does not
// record. An error ends the scan.
func (c *candidate) look(ctx context.Context, l looked) (File, error) {
	c.name, c.base, c.index, c.last = l.name, c.bases.find(l.name), c.indexes.find(l.name), c.lasts.find(l.name)
	if c.foreign && c.last != nil && c.last.trust == doubtful {
		c.last = nil
	}
	f, err := c.find(ctx, l)
	if err != nil {
		return c.forgive(err)
	}
	return f, nil
}

// forgive tells what to take for a file that was not found or could not be read.
// Other errors end the scan.
func (c *candidate) forgive(err error) (File, error) {
	var unread *unreadableError
	switch {
	case gone(err):
		return File{}, nil
	case errors.As(err, &unread):
		c.warn(c.path+c.name, unread.error)
		return c.lastKnown(), nil
	}
	return File{}, err
}

func (c *candidate) lastKnown() File {
	for _, known := range [...]*File{c.last, c.index} {
		if known != nil {
			return File{Name: known.Name, Mode: known.Mode, ID: known.ID}
		}
	}
	return File{}
}

// find is look for errors that end the scan or do not.
func (c *candidate) find(ctx context.Context, l looked) (File, error) {
	if l.err != nil {
		return File{}, unreadable(l.err)
	}
	st, k := l.stat, l.kind
	mode := c.mode(k)
	if mode == 0 {
		return File{}, nil
	}
	sources := [...]*File{c.last, c.index}
	if c.foreign {
		sources = [...]*File{c.index, c.last}
	}
	for _, known := range sources {
		if known != nil && isLink(known.Mode) == isLink(mode) && known.matches(st) {
			return File{Name: known.Name, Mode: mode, ID: known.ID, stat: st, trust: exact}, nil
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

func (c *candidate) readLink(st Stat) (File, error) {
	at := c.Now()
	target, err := c.handle.readlink(c.name)
	if err != nil {
		return File{}, unreadable(err)
	}
	f := c.file(Symlink, st, c.clock.settled(st, at))
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
	f := c.file(mode, st, c.clock.settled(st, at))
	path := c.path + c.name
	attrs := c.attributes().Of(c.name)
	converts := mode != Symlink && c.Settings.Converts(attrs)
	switch {
	case mode != Symlink && c.Settings.NeedsGit(attrs), converts && st.Size > store.Large:
		c.postpone(ctx, path)
		return f, nil
	case st.Size > store.Large:
		if f.ID, err = store.SumBlob(file, st.Size); err != nil {
			return File{}, unreadable(err)
		}
		return f, nil
	}
	content, err := c.readAll(file, st.Size)
	if err != nil {
		return File{}, unreadable(err)
	}
	if converts {
		content = c.Settings.Normalize(content, attrs, func() bool { return c.hasCRLF(ctx) })
	}
	err = c.identify(&f, content)
	return f, err
}

// file returns the file without its id. A name that is known already is
// shared.
func (c *candidate) file(mode uint32, st Stat, settled bool) File {
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
	for _, known := range [...]*File{c.last, c.base, c.index} {
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

// postpone leaves the file to git.
func (c *candidate) postpone(ctx context.Context, path string) {
	c.waits = true
	p := Unconverted{Path: path}
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
