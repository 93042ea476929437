package diff

import (
	"iter"

	"codeloops/internal/diff/scan"
)

// worthWatching is the number of tracked files from which directories are
// watched without being asked: below, a scan takes some milliseconds.
const worthWatching = 20_000

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
