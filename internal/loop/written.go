package loop

import "slices"

// Written lists what was written in a view of the work tree and then discarded. Files that git
// ignores are left out.
type Written struct {
	Changed    []string // existing files that were changed or removed, by path
	Come       []string // new files
	Repository []string // changed parts of the repository, such as "HEAD" or "index"
	Settings   []string // changed git settings, such as "config" or "hooks/pre-commit"
}

// Files returns the paths of all files, unordered.
func (w Written) Files() []string {
	return append(slices.Clip(w.Changed), w.Come...)
}
