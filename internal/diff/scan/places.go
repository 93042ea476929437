package scan

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A place is a directory to visit with what is known of it.
type place struct {
	name, path string // path from the root with a slash at its end; "" for the root
	full       string // the path that the operating system knows, with a slash at its end
	last       *Dir
	listed     bool // see Known.Listed
	again      bool // the one above is what it was, and so is what is in scope here, and how git sees it
	scope
}

// A scope is what is in scope below a place by itself.
type scope struct {
	base, index, also *Dir
	unresolved        bool // it is still to be found: few places need it
}

// resolve finds the scope.
func (p *place) resolve(w *walk) *place {
	if p.unresolved {
		path := strings.TrimSuffix(p.path, "/")
		p.scope = scope{base: w.known.Base.Dir(path), index: w.known.Index.Dir(path), also: w.known.Also.Dir(path)}
	}
	return p
}

// settled reports whether what is in scope by itself is just what the last state
// has: it is so below, too.
func (p *place) settled() bool {
	some := false
	for _, d := range [...]*Dir{p.base, p.index, p.also} {
		if d != nil && d != p.last {
			return false
		}
		some = some || d != nil
	}
	return some && !p.unresolved
}

// scoped reports whether a file below is in scope by itself.
func (p *place) scoped() bool {
	return p.index != nil || p.base != nil && !p.base.empty || p.also != nil && !p.also.empty
}

// findPlaces finds the subdirectories to visit. Those that are known to be
// repositories of their own become files at once.
func (v *visit) findPlaces() {
	if v.again {
		v.placesAgain()
		return
	}
	if len(v.dirs) == 0 {
		return
	}
	base, index, last, also := dirCursor(v.base.dirs()), dirCursor(v.index.dirs()), dirCursor(v.last.dirs()), dirCursor(v.also.dirs())
	for _, name := range v.dirs {
		p := place{listed: v.listed, last: last.find(name), scope: scope{base: base.find(name), index: index.find(name), also: also.find(name)}}
		p.under(v.place, nameOf(name, p.last, p.index, p.base))
		nest := v.Nest != nil && v.Nest(p.path)
		if p.index != nil && !nest { // most often
			v.places = append(v.places, p)
			continue
		}
		base, index := v.base.file(name), v.index.file(name)
		id, linked := knownLink(base, index)
		switch {
		case nest:
			if p.index != nil { // files of it are tracked here: without a repository of its own it is a directory
				id = plumbing.ZeroHash
			}
			v.nest(&p, id)
		case linked && (p.base == nil || p.base.empty):
			v.addLink(File{Name: p.name, Mode: Gitlink, ID: v.linked(p.path, id)})
		case p.scoped(), !v.ignores().Ignored(name, true):
			v.places = append(v.places, p)
		case base != nil || index != nil:
			v.embedded(&p)
		}
	}
	v.expect()
}

// placesAgain finds the subdirectories of the last time.
func (v *visit) placesAgain() {
	of := func(known, d *Dir) *Dir {
		if known == nil {
			return nil
		}
		return d
	}
	settled := v.settled()
	again := v.known.Same || v.ownModes()
	for _, d := range v.last.Dirs {
		p := place{name: d.Name, listed: true, again: again, last: d, scope: scope{unresolved: true}}
		if settled {
			p.scope = scope{base: of(v.base, d), index: of(v.index, d), also: of(v.also, d)}
		}
		v.places = append(v.places, p)
	}
	v.expect()
}

// expect makes room for what the places turn out to be.
func (v *visit) expect() {
	v.results = slices.Grow(v.results, len(v.places))[:len(v.places)]
	v.left.Store(int32(len(v.places)))
}

// under gives the place its paths.
func (p *place) under(above *place, name string) {
	p.name = name
	p.full = above.full + name + "/"
	p.path = p.full[len(above.full)-len(above.path):]
}

// nameOf returns a name that may stay: that of one of the directories that are
// known, or a copy.
func nameOf(name string, known ...*Dir) string {
	for _, d := range known {
		if d != nil {
			return d.Name
		}
	}
	return strings.Clone(name)
}

// A dirCursor finds directories by names that come in order.
type dirCursor []*Dir

func (c *dirCursor) find(name string) *Dir {
	for len(*c) > 0 {
		d := (*c)[0]
		if d.Name == name {
			return d
		}
		if byDirName(d, name) > 0 {
			return nil
		}
		*c = (*c)[1:]
	}
	return nil
}
