package loop

import "slices"

// Written is what somebody has written in a view of the work tree, where it reached
// nobody else: it was thrown away. What git ignores is left out.
type Written struct {
	Changed    []string // files that were there, changed or removed, by their paths
	Come       []string // files that were not
	Repository []string // what of the repository is another one, as in "HEAD" or "index"
	Settings   []string // what git goes by, likewise, as in "config" or "hooks/pre-commit"
}

// Files returns the paths of all files, in no order.
func (w Written) Files() []string {
	return append(slices.Clip(w.Changed), w.Come...)
}
