package scan

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"time"
)

// findFiles finds the state of the directory's files and symlinks that are in scope.
func (v *visit) findFiles(ctx context.Context) error {
	v.found = make([]File, 0, len(v.files))
	for _, name := range v.files {
		c := candidate{visit: v, name: name, base: v.base.file(name), index: v.index.file(name), last: v.last.file(name)}
		decides := false
		if c.index == nil && c.base == nil && v.also.file(name) == nil && v.rules.Ignored(name, false) {
			if decides = Decides(name); !decides {
				continue
			}
		}
		f, err := c.look(ctx)
		if err != nil {
			return err
		}
		if f.Mode == 0 { // git does not record what it is
			continue
		}
		v.found = append(v.found, f)
		if decides {
			v.deciders++
		}
	}
	return nil
}

// An unreadableError affects one file only, and does not end the scan.
type unreadableError struct{ error }

func unreadable(err error) error {
	if gone(err) {
		return err
	}
	return &unreadableError{err}
}

// A candidate is a file of a directory, which may be in scope, with what is known of it.
type candidate struct {
	*visit
	name              string
	base, index, last *File
}

// look returns the state of the file. The mode is 0 if git does not record it. An error ends the
// scan.
func (c *candidate) look(ctx context.Context) (File, error) {
	st, is, err := c.handle.stat(c.name)
	var f File
	if err != nil {
		err = unreadable(err)
	} else {
		f, err = c.find(ctx, st, is)
	}
	var unread *unreadableError
	switch {
	case err == nil:
		return f, nil
	case gone(err):
		return File{}, nil
	case errors.As(err, &unread):
		c.warn(c.path+c.name, unread.error)
		if known := cmp.Or(c.last, c.content()); known != nil {
			return File{Name: known.Name, Mode: known.Mode, ID: known.ID}, nil
		}
		return File{}, nil
	}
	return File{}, err
}

// content returns the file in the index, if its content is available.
func (c *candidate) content() *File {
	if c.known.Names {
		return nil
	}
	return c.index
}

// find returns a known version of the file if its stat proves that it has not changed, and reads
// the file otherwise.
func (c *candidate) find(ctx context.Context, st Stat, is uint32) (File, error) {
	mode := c.mode(is)
	if mode == 0 {
		return File{}, nil
	}
	sources := [...]*File{c.last, nil}
	if c.known.Base == nil && !c.known.Names && c.Clock.Keeps { // otherwise the ids in the index do not count
		sources[1] = c.index
	}
	for _, known := range sources {
		if known != nil && (known.Mode == Symlink) == (mode == Symlink) && known.matches(st) {
			return File{Name: known.Name, Mode: mode, ID: known.ID, stat: st, trust: exact}, nil
		}
	}
	if is == Symlink {
		return c.readLink(st)
	}
	return c.read(ctx, mode)
}

// mode returns what git records of a file's type and permissions.
func (c *candidate) mode(is uint32) uint32 {
	switch {
	case is == Symlink, is == 0:
		return is
	case !c.Symlinks && c.recorded() == Symlink:
		return Symlink
	case c.FileMode && is == Executable, !c.FileMode && c.recorded() == Executable:
		return Executable
	}
	return Regular
}

// recorded returns the mode to use in place of the file's own, or 0. It is the mode in the index,
// or that of the baseline if the two differed when the session began and the index has not
// changed since.
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

// Decides reports whether a file of that name decides what git sees of other files. Such a file is
// in scope even if it is ignored: otherwise its own rules could hide it.
func Decides(name string) bool {
	switch path.Base(name) {
	case ".gitignore", ".gitattributes", ".gitmodules":
		return true
	}
	return false
}

// hide removes from a directory the files that decide, if git sees nothing else in it at any
// depth. The directory is then ignored as a whole, like the caches of many tools, so the files
// decide nothing. It is listed in [State.SelfIgnored] instead.
func (v *visit) hide(dirs []*Dir) {
	if v.deciders == 0 || v.path == "" || len(v.found) > v.deciders ||
		slices.ContainsFunc(dirs, func(d *Dir) bool { return !d.Empty() }) {
		return
	}
	v.found = nil
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hidden = append(v.hidden, v.Within+v.path)
}

// Empty reports whether a directory, which may be nil, has no file at any depth.
func (d *Dir) Empty() bool {
	return d == nil || len(d.files) == 0 && !slices.ContainsFunc(d.Dirs, func(child *Dir) bool { return !child.Empty() })
}

// Untouched reports whether a file has the same mode, id and stat as an earlier version.
func (f *File) Untouched(since *File) bool { return f.same(since) && f.stat == since.stat }

// UntouchedSince reports whether a file was last changed before a time. It is false if the system
// has no change time, which no program can set.
func (f *File) UntouchedSince(at time.Time) bool {
	return f.stat.Changed != 0 && f.stat.Changed < at.UnixNano()
}
