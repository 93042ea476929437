package diff

import (
	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
)

// A view is what a state depends on besides the files in the work tree and how
// git converts them.
type view struct {
	base, also                     *scan.Dir
	index                          plumbing.Hash // of the tracked files, as a tree
	rules                          *rules
	fileMode, symlinks, ignoreCase bool
}

func viewOf(s *scan.Scanner, k scan.Known, r *rules) view {
	v := view{
		base: k.Base, also: k.Also, rules: r,
		fileMode: s.FileMode, symlinks: s.Symlinks, ignoreCase: s.IgnoreCase,
	}
	if k.Index != nil {
		v.index = k.Index.ID()
	}
	return v
}

// like reports whether a state that was found in the other view, the last one,
// has all that is in scope in this one, and no more. A baseline that has just
// become one adds nothing to itself.
func (v view) like(other view, last *scan.Dir) bool {
	if v.base == last {
		other.base = last
	}
	return last != nil && v == other
}
