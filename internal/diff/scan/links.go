package scan

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// knownLink returns the commit that a link has been at, zero if it has been none.
func knownLink(base, index *File) (plumbing.Hash, bool) {
	for _, f := range []*File{base, index} {
		if f != nil && f.Mode == Gitlink {
			return f.ID, true
		}
	}
	return plumbing.ZeroHash, false
}

// commitOf returns the commit that a repository inside is at, or the known one when
// it has none, as one that is not checked out.
func (v *visit) commitOf(path string, known plumbing.Hash, head Head, err error) plumbing.Hash {
	if err != nil {
		v.warn(path, err)
	}
	if err != nil || head.Commit.IsZero() {
		return known
	}
	return head.Commit
}

// link makes a directory a link to a commit, if that is known.
func (v *visit) link(name string, commit plumbing.Hash) {
	if !commit.IsZero() {
		i, _ := slices.BinarySearchFunc(v.found, name, func(f File, name string) int { return strings.Compare(f.Name, name) })
		v.found = slices.Insert(v.found, i, File{Name: name, Mode: Gitlink, ID: commit})
	}
}
