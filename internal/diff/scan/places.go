package scan

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A place is a directory to visit with what is known of it.
type place struct {
	name, path              string // path from the root with a slash at its end; "" for the root
	full                    string // the path that the operating system knows, with a slash at its end
	base, index, last, also *Dir
	listed                  bool // see Known.Listed
}

// known reports whether a file below is in scope by itself.
func (p place) known() bool {
	return p.index != nil || p.base != nil && !p.base.empty || p.also != nil && !p.also.empty
}

// findPlaces finds the subdirectories to visit. Those that are known to be
// repositories of their own become files at once.
func (v *visit) findPlaces() {
	if len(v.dirs) == 0 {
		return
	}
	base, index, last, also := dirCursor(v.base.dirs()), dirCursor(v.index.dirs()), dirCursor(v.last.dirs()), dirCursor(v.also.dirs())
	for _, name := range v.dirs {
		p := place{listed: v.listed, base: base.find(name), index: index.find(name), last: last.find(name), also: also.find(name)}
		p.name = nameOf(name, p.last, p.index, p.base)
		p.full = v.full + p.name + "/"
		p.path = p.full[len(v.full)-len(v.path):]
		if p.index != nil { // most often
			v.places = append(v.places, p)
			continue
		}
		base, index := v.base.file(name), v.index.file(name)
		id, linked := knownLink(base, index)
		switch {
		case linked && (p.base == nil || p.base.empty):
			v.unsure(v.path)
			v.addLink(File{Name: p.name, Mode: Gitlink, ID: v.linked(p.path, id)})
		case p.known(), !v.ignores().Ignored(name, true):
			v.places = append(v.places, p)
		case base != nil || index != nil:
			v.unsure(v.path)
			// A path in scope that has become a repository: git does not ask
			// the rules.
			if commit := v.linked(p.path, plumbing.ZeroHash); !commit.IsZero() {
				v.addLink(File{Name: p.name, Mode: Gitlink, ID: commit})
			}
		}
	}
	v.results = slices.Grow(v.results, len(v.places))[:len(v.places)]
	v.left.Store(int32(len(v.places)))
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
