package scan

import (
	"path"
	"slices"
	"time"
)

// Decides reports whether a file decides, by its name, what git sees of other files
// or how. Such a file is in scope where git looks for it, whether it is ignored or
// not: one that is ignored by rules of its own would hide itself.
func Decides(name string) bool {
	switch path.Base(name) {
	case ".gitignore", ".gitattributes", ".gitmodules":
		return true
	}
	return false
}

// hide takes out of a directory the files that decide, if git sees nothing else
// in it, at any depth: it is then ignored as a whole, as the caches of many tools
// are, and they decide nothing about what is seen. The directory is named in
// [State.Hidden] instead.
func (v *visit) hide(dirs []*Dir) {
	if v.deciders == 0 {
		return
	}
	// The entries of the directory do not tell when this changes.
	v.listing.stat = Stat{}
	if v.path == "" || len(v.found) > v.deciders ||
		slices.ContainsFunc(dirs, func(d *Dir) bool { return !d.bare() }) {
		return
	}
	v.found = nil
	v.shared.Lock()
	defer v.shared.Unlock()
	v.hidden = append(v.hidden, v.path)
}

// Empty reports whether no file is in a directory, which may be nil, at any depth.
func (d *Dir) Empty() bool { return d == nil || d.bare() }

// Untouched reports whether a file has the very stat that it had as another one.
func (f *File) Untouched(since *File) bool { return f.same(since) && f.stat == since.stat }

// UntouchedSince reports whether a file was written last before a time, as far as the
// system tells what no program can set back.
func (f *File) UntouchedSince(at time.Time) bool {
	return f.stat.Changed != 0 && f.stat.Changed < at.UnixNano()
}
