// Package rename finds renamed files in a change whose patches have them as deleted and added,
// as `git diff -M` does.
//
// The rules are git's, from gitdiffcore(7) and from what it prints: first come files of equal
// content, then files whose name is unique on both sides and which are three quarters similar,
// then the most similar files, down to one half. The similarity of two files is the number of
// bytes in lines that both have, divided by the size of the larger one; lines are cut after 64
// bytes and compared by a hash (chunk.go).
package rename

import (
	"slices"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
	"codeloops/internal/session/logpatch"
)

// Find returns the change with each renamed file as one entry, in the place of the new name;
// its patch is the text of `git diff-tree -p -r --full-index -M`. The files of c are not
// changed. A file whose content the log does not hold is only matched if nothing but its name
// has changed.
func Find(c loop.Change) loop.Change {
	from, to := candidates(c.Files)
	m := &match{from: from, to: to, chunks: make(map[*candidate]map[uint32]int)}
	m.identical()
	m.sameName()
	m.alike()
	files := slices.Clone(c.Files)
	for _, p := range m.pairs {
		files[p.from.at] = loop.FileChange{}
		files[p.to.at] = patch.Renamed(p.from.Path, p.to.Path, p.from.side, p.to.side, p.score*100/whole)
	}
	c.Files = slices.DeleteFunc(files, func(f loop.FileChange) bool { return f.Path == "" })
	return c.Counted()
}

// A candidate is a deleted or an added file.
type candidate struct {
	*loop.FileChange
	at   int // in the change
	side patch.Side

	taken bool // it has a partner
}

// newCandidate reads what the patch holds. Size is that of the content, if the patch does not
// hold it.
func newCandidate(f *loop.FileChange, at int, size int64) *candidate {
	c := &candidate{FileChange: f, at: at}
	var whole bool
	if c.side, whole = logpatch.Only(*f); !whole {
		c.side.TooLarge, c.side.Size = true, size
	}
	return c
}

// candidates returns the deleted and the added files, except changes of type, which are both
// for one path.
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
