package tamper

import "codeloops/internal/loop"

// filesOf returns the files of a change as they stand on the disk: with the text of
// those that are binary, or that git converts, and with those that are hidden.
func filesOf(c loop.Change) []loop.FileChange {
	type key struct {
		path   string
		status loop.FileStatus
	}
	unshown := map[key]loop.Unshown{}
	for _, u := range c.Unshown {
		unshown[key{u.Path, u.Status}] = u
	}
	files := make([]loop.FileChange, 0, len(c.Files)+len(c.Unshown))
	for _, f := range c.Files {
		if u, there := unshown[key{f.Path, f.Status}]; there {
			if u.Text != "" {
				f.Patch = u.Text
			}
			delete(unshown, key{f.Path, f.Status})
		}
		files = append(files, f)
	}
	for _, u := range c.Unshown {
		if _, left := unshown[key{u.Path, u.Status}]; left {
			files = append(files, loop.FileChange{Path: u.Path, Status: u.Status, Patch: u.Text})
		}
	}
	return files
}

// unreadable reports text that has turned binary: nothing of it is in a diff any more.
func (r *report) unreadable(unshown []loop.Unshown) {
	for _, u := range unshown {
		if u.Why == loop.TurnedBinary {
			r.signs = append(r.signs, Sign{Kind: TurnedBinary, Path: u.Path, Text: "the text turned binary, so that a diff does not show it"})
		}
	}
}
