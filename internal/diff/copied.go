package diff

import (
	"path"
	"slices"
	"strings"
	"time"

	"codeloops/internal/diff/scan"
)

// An unseen is what no look at a work tree goes into, as git ignores all of it.
type unseen struct {
	whole  map[string]bool // directories that were passed over
	within map[string]bool // those that ignore themselves: their rules are looked at
}

func unseenIn(s scan.State) unseen {
	u := unseen{whole: make(map[string]bool), within: make(map[string]bool)}
	for _, dir := range s.Passed {
		u.whole[strings.TrimSuffix(dir, "/")] = true
	}
	for _, dir := range s.Hidden {
		u.within[strings.TrimSuffix(dir, "/")] = true
	}
	return u
}

// Unseen returns what tells, by its path from the root with slashes, whether a file or a directory
// is nothing that a look at the work tree sees, nor anything that is in it. That is so of
// directories that git ignored at the last look, but for the one that the session began in and
// those with settings of agents.
func (t *Tree) Unseen() func(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	u, dirs := t.unseen, t.agentsLookIn()
	var settings []string
	for _, dir := range dirs {
		for _, name := range t.options.Settings {
			settings = append(settings, dir+name+"/")
		}
	}
	return func(name string) bool {
		if !u.whole[name] && (!u.within[path.Dir(name)] || scan.Decides(name)) {
			return false
		}
		dir := name + "/"
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

// Since returns the earliest time that a file can bear that is written from now on.
func (t *Tree) Since() time.Time { return t.options.Now().Add(-t.clock.Slack) }
