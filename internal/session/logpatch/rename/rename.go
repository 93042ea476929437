// Package rename finds files that were renamed in a change of which the patches
// name them as deleted and added, as `git diff -M` does.
//
// Git's rules, from gitdiffcore(7) and from what it prints: first go files of
// equal content, then those that alone have their name in both lists and are
// three quarters alike, then whatever is most alike, down to the half. How much
// two files are alike is how many bytes stand in lines that both have, of the
// bytes of the larger one; a line is cut after 64 bytes, and lines are told
// apart by a hash (chunk.go).
package rename

import (
	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
	"codeloops/internal/session/logpatch"
)

// Find returns the change with a single file for each two that are one renamed.
// It stands in the place of the new name; its patch is the text of `git
// diff-tree -p -r --full-index -M`. The files of c are not changed. What a log
// does not hold the content of is found only when nothing but its name has
// changed.
func Find(c loop.Change) loop.Change {
	from, to := candidates(c.Files)
	m := newMatch(from, to)
	m.identical()
	m.sameName()
	m.alike()
	files := make([]loop.FileChange, 0, len(c.Files))
	gone := make(map[int]bool)
	renamed := make(map[int]loop.FileChange)
	for _, p := range m.pairs {
		gone[p.from.at] = true
		renamed[p.to.at] = patch.Renamed(p.from.Path, p.to.Path, p.from.side, p.to.side, percent(p.score))
	}
	c.Insertions, c.Deletions = 0, 0
	for i, f := range c.Files {
		if gone[i] {
			continue
		}
		if r, ok := renamed[i]; ok {
			f = r
		}
		files = append(files, f)
		c.Insertions += f.Insertions
		c.Deletions += f.Deletions
	}
	c.Files = files
	return c
}

// A candidate is a deleted or an added file.
type candidate struct {
	*loop.FileChange
	at   int // in the change
	side patch.Side

	taken bool // it has its partner
}

// newCandidate reads what the patch holds. Size is that of a content that it
// does not hold.
func newCandidate(f *loop.FileChange, at int, size int64) *candidate {
	c := &candidate{FileChange: f, at: at}
	var whole bool
	if c.side, whole = logpatch.Only(*f); !whole {
		c.side.TooLarge, c.side.Size = true, size
	}
	return c
}

// candidates returns what was deleted and what was added, but for changes of
// type, which are both of one path.
func candidates(files []loop.FileChange) (from, to []*candidate) {
	for i := range files {
		f := &files[i]
		if i > 0 && files[i-1].Path == f.Path || i+1 < len(files) && files[i+1].Path == f.Path {
			continue
		}
		switch f.Status {
		case loop.FileDeleted:
			from = append(from, newCandidate(f, i, f.OldSize))
		case loop.FileAdded:
			to = append(to, newCandidate(f, i, f.NewSize))
		case loop.FileModified, loop.FileRenamed:
		}
	}
	return from, to
}
