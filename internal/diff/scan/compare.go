package scan

import (
	"slices"
	"strings"
)

// A Change is a path that differs between two states. Before or After is nil
// where it does not exist.
type Change struct {
	Path          string
	Before, After *File
}

// Compare returns the paths that differ, in git's order. Both states must come
// from scans of one work tree.
func Compare(before, after *Dir) []Change {
	if equal(before, after) {
		return nil
	}
	changes := compareDirs(nil, "", before, after)
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

// equal reports whether git sees no difference in two directories, either of which
// may be nil.
func equal(before, after *Dir) bool {
	return before == after || before != nil && after != nil && before.id == after.id
}

// compareDirs appends the changes between directories that are not equal.
func compareDirs(changes []Change, path string, before, after *Dir) []Change {
	if before == nil || after == nil || !sameSlice(before.files, after.files) {
		changes = compareFiles(changes, path, before.Files(), after.Files())
	}
	old, now := before.dirs(), after.dirs()
	for len(old) > 0 || len(now) > 0 {
		var a, b *Dir
		c := side(len(old), len(now), func() int { return order(old[0].Name, true, now[0].Name, true) })
		if c <= 0 {
			a, old = old[0], old[1:]
		}
		if c >= 0 {
			b, now = now[0], now[1:]
		}
		if equal(a, b) { // as most are
			continue
		}
		name := a.name()
		if a == nil {
			name = b.name()
		}
		changes = compareDirs(changes, path+name+"/", a, b)
	}
	return changes
}

func compareFiles(changes []Change, path string, before, after []File) []Change {
	for len(before) > 0 || len(after) > 0 {
		var a, b *File
		c := side(len(before), len(after), func() int { return strings.Compare(before[0].Name, after[0].Name) })
		if c <= 0 {
			a, before = &before[0], before[1:]
		}
		if c >= 0 {
			b, after = &after[0], after[1:]
		}
		switch {
		case a == nil:
			changes = append(changes, Change{Path: path + b.Name, After: b})
		case b == nil || !a.same(b): // few are not the same
			changes = append(changes, Change{Path: path + a.Name, Before: a, After: b})
		}
	}
	return changes
}

// side tells from which of two ordered lists the next element comes: the first
// (negative), the second (positive) or both (0).
func side(first, second int, compare func() int) int {
	switch {
	case second == 0:
		return -1
	case first == 0:
		return 1
	}
	return compare()
}

func (d *Dir) dirs() []*Dir {
	if d == nil {
		return nil
	}
	return d.Dirs
}

func (d *Dir) name() string {
	if d == nil {
		return ""
	}
	return d.Name
}
