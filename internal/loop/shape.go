package loop

import (
	"cmp"
	"fmt"
	"strings"
)

// File kinds in a git mode, and the executable bits.
const (
	modeKind      uint32 = 0o170000
	modeSymlink   uint32 = 0o120000
	modeSubmodule uint32 = 0o160000
	modeExecute   uint32 = 0o111
)

// A Shape summarizes a change in numbers.
type Shape struct {
	Files                             int // paths; each is counted once in the next two lines
	Added, Modified, Deleted, Renamed int
	Retyped                           int // as from file to symlink

	// Properties of these files.
	Executability, Symlinks, Submodules, Binary int

	Insertions, Deletions int // lines
}

// Shape summarizes the change.
func (c Change) Shape() Shape {
	s := Shape{Insertions: c.Insertions, Deletions: c.Deletions}
	for i := 0; i < len(c.Files); i++ {
		f := c.Files[i]
		s.Files++
		if i+1 < len(c.Files) && c.Files[i+1].Path == f.Path { // the old and the new version
			i++
			s.Retyped++
			s.count(c.Files[i])
			continue
		}
		switch f.Status {
		case FileAdded:
			s.Added++
		case FileModified:
			s.Modified++
		case FileDeleted:
			s.Deleted++
		case FileRenamed:
			s.Renamed++
		}
		s.count(f)
	}
	return s
}

func (s *Shape) count(f FileChange) {
	counters := map[string]*int{
		NowExecutable: &s.Executability, NoLongerExecutable: &s.Executability,
		Symlink: &s.Symlinks, Submodule: &s.Submodules, Binary: &s.Binary,
	}
	for _, word := range f.Nature() {
		*counters[word]++
	}
}

// String describes how many files changed and how, as in "3 files: 1 added, 2 modified; 1
// binary".
func (s Shape) String() string {
	ways := some(part{s.Added, "added"}, part{s.Modified, "modified"}, part{s.Deleted, "deleted"},
		part{s.Renamed, "renamed"}, part{s.Retyped, "of another type"})
	kinds := some(part{s.Executability, "made executable or no longer so"}, part{s.Symlinks, "symlink"},
		part{s.Submodules, "submodule"}, part{s.Binary, "binary"})
	text := fmt.Sprintf("%d files", s.Files)
	if s.Files == 1 {
		text = "1 file"
	}
	if ways != "" {
		text += ": " + ways
	}
	if kinds != "" {
		text += "; " + kinds
	}
	return text
}

type part struct {
	n    int
	what string
}

func some(parts ...part) string {
	var words []string
	for _, p := range parts {
		if p.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(words, ", ")
}

// The words that [FileChange.Nature] returns.
const (
	Symlink            = "symlink"
	Submodule          = "submodule"
	Binary             = "binary"
	NowExecutable      = "now executable"
	NoLongerExecutable = "no longer executable"
)

// Nature returns properties that the changed lines do not show: whether a file is a symlink, a
// submodule or binary, and whether it became executable or stopped being so.
func (f FileChange) Nature() (words []string) {
	kind := cmp.Or(f.NewMode, f.OldMode) & modeKind
	sameKind := f.OldMode&modeKind != 0 && f.OldMode&modeKind == f.NewMode&modeKind
	before, now := f.OldMode&modeExecute != 0, f.NewMode&modeExecute != 0
	add := func(word string, applies bool) {
		if applies {
			words = append(words, word)
		}
	}
	add(Symlink, kind == modeSymlink)
	add(Submodule, kind == modeSubmodule)
	add(Binary, f.Binary)
	add(NowExecutable, now && !before)
	add(NoLongerExecutable, sameKind && before && !now)
	return words
}
