package scan

import (
	"cmp"
	"slices"
	"strings"
)

// A Difference is a path that differs between two states. Before or After is nil if the file does
// not exist.
type Difference struct {
	Path          string
	Before, After *File
}

// Compare returns the paths that differ, in git's order. Both states must be of the same work tree.
func Compare(before, after *Dir) []Difference {
	changes := compareDirs(nil, "", before, after)
	slices.SortFunc(changes, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

func compareDirs(changes []Difference, path string, before, after *Dir) []Difference {
	before, after = cmp.Or(before, &Dir{}), cmp.Or(after, &Dir{})
	if before.id == after.id {
		return changes
	}
	for i, f := range before.files {
		if now := after.file(f.Name); now == nil || !now.same(&f) {
			changes = append(changes, Difference{Path: path + f.Name, Before: &before.files[i], After: now})
		}
	}
	for i, f := range after.files {
		if before.file(f.Name) == nil {
			changes = append(changes, Difference{Path: path + f.Name, After: &after.files[i]})
		}
	}
	for _, d := range before.Dirs {
		changes = compareDirs(changes, path+d.Name+"/", d, after.subdir(d.Name))
	}
	for _, d := range after.Dirs {
		if before.subdir(d.Name) == nil {
			changes = compareDirs(changes, path+d.Name+"/", nil, d)
		}
	}
	return changes
}

// Moved returns the files of a state that differ from an earlier one, which may be nil, in content
// or stat.
func Moved(before, after *Dir) []PathFile { return appendMoved(nil, "", before, after) }

func appendMoved(moved []PathFile, path string, before, after *Dir) []PathFile {
	if before == after {
		return moved
	}
	for i := range after.files {
		f := &after.files[i]
		if known := before.file(f.Name); known == nil || !f.Untouched(known) {
			moved = append(moved, PathFile{Path: path + f.Name, File: *f})
		}
	}
	for _, child := range after.Dirs {
		moved = appendMoved(moved, path+child.Name+"/", before.subdir(child.Name), child)
	}
	return moved
}

// Has reports whether any directory has a file of that name.
func (d *Dir) Has(name string) bool {
	if d.file(name) != nil {
		return true
	}
	for _, child := range d.Dirs {
		if child.Has(name) {
			return true
		}
	}
	return false
}
