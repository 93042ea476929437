package scan

import (
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// repository makes a repository inside this one a single entry, as git does
// once it has a commit.
func (v *visit) repository(head Head, err error) found {
	if err != nil {
		v.warn(v.path, err)
		return found{repository: true}
	}
	if head.Commit.IsZero() {
		return found{repository: true}
	}
	return found{link: &File{Name: v.name, Mode: Gitlink, ID: head.Commit}}
}

// nest makes a directory with a scan of its own a link, if a commit is known.
func (v *visit) nest(p *place, known plumbing.Hash) {
	if id := v.linked(p.path, known); !id.IsZero() {
		v.addLink(File{Name: p.name, Mode: Gitlink, ID: id})
	} else {
		v.listing.others += p.name + "/"
	}
}

// embedded makes a path in scope that has become a repository a link: git does not
// ask the rules.
func (v *visit) embedded(p *place) {
	head, err := v.Embedded(p.path, false)
	if err != nil {
		v.warn(p.path, err)
	}
	if !head.Commit.IsZero() {
		v.addLink(File{Name: p.name, Mode: Gitlink, ID: head.Commit})
	} else {
		v.listing.stat = Stat{} // it may become one without a trace here
	}
}

func knownLink(base, index *File) (plumbing.Hash, bool) {
	for _, f := range []*File{base, index} {
		if f != nil && f.Mode == Gitlink {
			return f.ID, true
		}
	}
	return plumbing.ZeroHash, false
}

// linked returns the commit that a submodule is at, or the known one when it
// has none, as one that is not checked out.
func (v *visit) linked(path string, known plumbing.Hash) plumbing.Hash {
	head, err := v.Head(path)
	if err != nil {
		v.warn(path, err)
	}
	if err != nil || head.Commit.IsZero() {
		return known
	}
	return head.Commit
}

// addLink adds a file to those found, which may be shared with what is known.
func (v *visit) addLink(link File) {
	i, _ := slices.BinarySearchFunc(v.found, link.Name, byName)
	v.found = slices.Insert(slices.Clip(v.found), i, link)
}
