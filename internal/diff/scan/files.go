package scan

import (
	"context"
	"errors"
)

// findFiles finds the state of the directory's files and symlinks. As long as
// they are what is known already, that is shared.
func (v *visit) findFiles(ctx context.Context) error {
	if v.again {
		if whole, err := v.filesAgain(ctx); whole || err != nil {
			return err
		}
		v.recallNames()
	}
	m := match{known: v.last.Files(), most: len(v.files)}
	if v.last == nil && v.indexed() {
		m.known = v.index.Files()
	}
	tracked := sameSlice(m.known, v.index.Files()) // all that is known is
	c := v.scratch.candidate(v)
	for _, name := range v.files {
		known := m.find(name)
		decides := false
		if (known == nil || !tracked) && !c.inScope(name) {
			if decides = Decides(name); !decides {
				continue
			}
		}
		f, err := c.look(ctx, name, known)
		if err != nil {
			return err
		}
		v.add(&m, f)
		if decides && f.Mode != 0 {
			v.deciders++
		}
	}
	v.found = m.files()
	return nil
}

// filesAgain is findFiles of the names of the last time. It reports false when
// a repository is among them.
func (v *visit) filesAgain(ctx context.Context) (whole bool, err error) {
	m := match{known: v.last.Files(), most: len(v.last.files)}
	var c *candidate // few directories need one
	for m.at = range m.known {
		f := &m.known[m.at]
		st, k, err := v.handle.stat(f.Name)
		if err != nil || !v.unmoved(f, st, k) {
			if f.Mode == Gitlink {
				return false, nil
			}
			if c == nil {
				v.resolve(v.walk)
				c = v.scratch.candidate(v)
			}
			if f, err = c.examine(ctx, f.Name, st, k, err); err != nil {
				return false, err
			}
		}
		v.add(&m, f)
	}
	v.found = m.files()
	return true, nil
}

// add adds a file, unless git does not record what it is.
func (v *visit) add(m *match, f *File) {
	if f.Mode == 0 {
		v.listing.stat = Stat{} // it may come back without a trace here
		return
	}
	m.add(f)
}

// A match puts together the files of a directory, in the memory of those that
// are known as long as nothing differs.
type match struct {
	known []File
	at    int // so many come before the name that was looked for last
	same  int // so many are the first of the known ones, and the rest is in found
	found []File
	most  int // there can be
}

// find returns what is known by a name, nil for nothing. Names come in order.
func (m *match) find(name string) *File {
	for m.at < len(m.known) && m.known[m.at].Name < name {
		m.at++
	}
	if m.at < len(m.known) && m.known[m.at].Name == name {
		return &m.known[m.at]
	}
	return nil
}

// add adds a file of the name that was looked for last.
func (m *match) add(f *File) {
	if m.found == nil && m.same == m.at && m.at < len(m.known) && (f == &m.known[m.at] || f.like(&m.known[m.at])) {
		m.same++
		return
	}
	if m.found == nil {
		m.found = append(make([]File, 0, m.most), m.known[:m.same]...)
	}
	m.found = append(m.found, *f)
}

// files returns what was added.
func (m *match) files() []File {
	if m.found == nil {
		return m.known[:m.same:m.same]
	}
	return m.found
}

// unmoved reports whether a file is what is known of it, as most are.
func (v *visit) unmoved(f *File, st Stat, k kind) bool {
	return v.ownModes() && f.is(st, k)
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
	file              File // what it is

	bases, indexes, lasts, others cursor
}

// candidate returns the one with which to look at the files of a directory.
func (s *scratch) candidate(v *visit) *candidate {
	s.one = candidate{visit: v, bases: v.base.Files(), indexes: v.index.Files(), lasts: v.last.Files(), others: v.also.Files()}
	return &s.one
}

// inScope reports whether the file of that name is.
func (c *candidate) inScope(name string) bool {
	return c.indexes.find(name) != nil || c.bases.find(name) != nil || c.others.find(name) != nil ||
		!c.ignores().Ignored(name, false)
}

// look returns the state of a file, of which something may be known already; one
// without a mode for what git does not record. An error ends the scan. The file
// may be changed by the next look.
func (c *candidate) look(ctx context.Context, name string, known *File) (*File, error) {
	st, k, err := c.handle.stat(name)
	if known != nil && err == nil && c.unmoved(known, st, k) {
		return known, nil
	}
	return c.examine(ctx, name, st, k, err)
}

// examine is look for a file that is not what is known of it, given what its
// stat was.
func (c *candidate) examine(ctx context.Context, name string, st Stat, k kind, err error) (*File, error) {
	c.name, c.base, c.index, c.last = name, c.bases.find(name), c.indexes.find(name), c.lasts.find(name)
	if err == nil {
		c.file, err = c.find(ctx, st, k)
	} else {
		err = unreadable(err)
	}
	if err != nil {
		c.file, err = c.forgive(err)
	}
	return &c.file, err
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

// content returns what the index says of the file, if its content is at hand.
func (c *candidate) content() *File {
	if c.known.Names {
		return nil
	}
	return c.index
}

func (c *candidate) lastKnown() File {
	for _, known := range [...]*File{c.last, c.content()} {
		if known != nil {
			return File{Name: known.Name, Mode: known.Mode, ID: known.ID}
		}
	}
	return File{}
}

// find finds out what a file is that may have changed. The error ends the scan,
// or is about the file.
func (c *candidate) find(ctx context.Context, st Stat, k kind) (File, error) {
	mode := c.mode(k)
	if mode == 0 {
		return File{}, nil
	}
	sources := [...]*File{c.last, c.index}
	if !c.indexed() {
		sources[1] = nil
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
	switch {
	case k == symlink:
		return Symlink
	case k != regular && k != executable:
		return 0
	case !c.Symlinks && c.recorded() == Symlink:
		return Symlink
	case c.FileMode && k == executable, !c.FileMode && c.recorded() == Executable:
		return Executable
	}
	return Regular
}

// recorded returns the mode that stands for the file's own, 0 for none: the one in the
// index, unless that is still what it was when the session began, and the file was
// something else already.
func (c *candidate) recorded() uint32 {
	switch {
	case c.index == nil && c.base == nil:
		return 0
	case c.index == nil:
		return c.base.Mode
	case c.base != nil:
		if then := c.known.Then.Find(c.path + c.name); then != nil && then.Mode == c.index.Mode {
			return c.base.Mode
		}
	}
	return c.index.Mode
}

// sameSlice reports whether both are the very same files.
func sameSlice(a, b []File) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
