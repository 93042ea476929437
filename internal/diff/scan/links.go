package scan

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// repository makes a repository inside this one a single entry, as git does
// once it has a commit.
func (v *visit) repository(head Head, err error) found {
	if err != nil {
		v.warn(v.path, err)
	}
	if err != nil || head.Commit.IsZero() {
		return found{}
	}
	return found{link: &File{Name: v.name, Mode: Gitlink, ID: head.Commit}}
}

// embedded makes a path in scope that has become a repository a link: git does not
// ask the rules.
func (v *visit) embedded(p *place) {
	head, err := v.Inside.Embedded(p.path, false)
	if err != nil {
		v.warn(p.path, err)
	}
	v.link(p.name, head.Commit)
}

// knownLink returns the commit that a link has been at, zero if it has been none.
func knownLink(base, index *File) (plumbing.Hash, bool) {
	for _, f := range []*File{base, index} {
		if f != nil && f.Mode == Gitlink {
			return f.ID, true
		}
	}
	return plumbing.ZeroHash, false
}

// commitOf returns the commit that a submodule or nest is at, or the known one when
// it has none, as one that is not checked out.
func (v *visit) commitOf(p *place, known plumbing.Hash) plumbing.Hash {
	head, err := v.Inside.Head(p.path)
	if err != nil {
		v.warn(p.path, err)
	}
	if err != nil || head.Commit.IsZero() {
		return known
	}
	return head.Commit
}

// link makes a directory a link to a commit, if that is known.
func (v *visit) link(name string, commit plumbing.Hash) {
	if !commit.IsZero() {
		v.addLink(File{Name: name, Mode: Gitlink, ID: commit})
	}
}

func (v *visit) addLink(link File) {
	i, _ := slices.BinarySearchFunc(v.found, link.Name, func(f File, name string) int { return strings.Compare(f.Name, name) })
	v.found = slices.Insert(v.found, i, link)
}
