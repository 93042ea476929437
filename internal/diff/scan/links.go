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
	files := v.found.all()
	i, _ := slices.BinarySearchFunc(files, link.Name, byName)
	v.found = listOf(slices.Insert(slices.Clip(files), i, link))
}
