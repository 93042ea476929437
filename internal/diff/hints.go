package diff

import (
	"iter"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
)

// worthWatching is the number of tracked files from which directories are
// watched without being asked: below, a scan takes some milliseconds.
const worthWatching = 20_000

// A view is what a state depends on besides the files in the work tree.
type view struct {
	base, also                     *scan.Dir
	index                          plumbing.Hash // of the tracked files, as a tree
	rules                          *rules
	fileMode, symlinks, ignoreCase bool
}

func (t *Tree) view(s *scan.Scanner, k scan.Known, r *rules) view {
	v := view{
		base: k.Base, also: k.Also, rules: r,
		fileMode: s.FileMode, symlinks: s.Symlinks, ignoreCase: s.IgnoreCase,
	}
	if k.Index != nil {
		v.index = k.Index.ID()
	}
	return v
}

func (t *Tree) watches() bool {
	return t.options.Hints == On || t.options.Hints == Auto && t.tracked.entries >= worthWatching
}

// directories returns the paths of a state's directories, each after the one
// that it is in, with a slash at the end.
func directories(root *scan.Dir) iter.Seq[string] {
	return func(yield func(string) bool) { below(root, "", yield) }
}

func below(d *scan.Dir, path string, yield func(string) bool) bool {
	if !yield(path) {
		return false
	}
	for _, sub := range d.Dirs {
		if !below(sub, path+sub.Name+"/", yield) {
			return false
		}
	}
	return true
}
