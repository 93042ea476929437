package diff

import (
	"path"
	"slices"
	"strings"

	"codeloops/internal/diff/scan"
)

// Unseen returns a function that reports whether scans see nothing of a file or a directory, given
// its slash-separated path from the root. That is so in directories that git ignored at the last
// scan, except for the one in which the session began and those with settings of agents.
func (t *Tree) Unseen() func(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	selfIgnored, passed, dirs := t.selfIgnored, t.passed, t.agentsLookIn()
	var settings []string
	for _, dir := range dirs {
		for _, name := range t.options.Settings {
			settings = append(settings, dir+name+"/")
		}
	}
	return func(name string) bool {
		dir := name + "/"
		_, whole := slices.BinarySearch(passed, dir)
		_, inside := slices.BinarySearch(selfIgnored, path.Dir(name)+"/") // except for its rules
		if !whole && (!inside || scan.Decides(name)) {
			return false
		}
		return !slices.ContainsFunc(dirs, func(needed string) bool { return strings.HasPrefix(needed, dir) }) &&
			!slices.ContainsFunc(settings, func(needed string) bool { return strings.HasPrefix(needed, dir) || strings.HasPrefix(dir, needed) })
	}
}

// CopyOf declares that the work tree is a copy of another one in some state, except for some
// files. The others are not read again as long as they keep their times.
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
