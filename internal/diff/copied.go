package diff

import (
	"path"
	"slices"
	"strings"

	"codeloops/internal/diff/scan"
)

// Unseen returns what tells, by its path from the root with slashes, whether a file or a directory
// is nothing that a look at the work tree sees, nor anything that is in it. That is so of
// directories that git ignored at the last look, but for the one that the session began in and
// those with settings of agents.
func (t *Tree) Unseen() func(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	within, whole, dirs := t.within, t.whole, t.agentsLookIn()
	var settings []string
	for _, dir := range dirs {
		for _, name := range t.options.Settings {
			settings = append(settings, dir+name+"/")
		}
	}
	return func(name string) bool {
		dir := name + "/"
		_, passed := slices.BinarySearch(whole, dir)
		_, inside := slices.BinarySearch(within, path.Dir(name)+"/") // but for the rules there
		if !passed && (!inside || scan.Decides(name)) {
			return false
		}
		return !slices.ContainsFunc(dirs, func(needed string) bool { return strings.HasPrefix(needed, dir) }) &&
			!slices.ContainsFunc(settings, func(needed string) bool { return strings.HasPrefix(needed, dir) || strings.HasPrefix(dir, needed) })
	}
}

// CopyOf has the tree know that its work tree is a copy of another one in a state of which that has a
// checkpoint, but for some files. Those that have kept their times are not read again.
func (t *Tree) CopyOf(from *Tree, state string, but []string) {
	from.mu.Lock()
	known, settings := from.states[state], from.how.Settings
	from.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if known != nil {
		t.last, t.how.Settings = known.Copied(but), settings
	}
}
