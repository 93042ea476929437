package scan

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A PathFile is a file with its path from the root.
type PathFile struct {
	Path string
	File
}

// Place returns a file of which nothing else is known. It reports false if a work tree cannot have
// such a file.
func Place(path string, mode uint32, id plumbing.Hash, size int64) (PathFile, bool) {
	ok := mode == Regular || mode == Executable || mode == Symlink || mode == Gitlink
	name := path
	for part := range strings.SplitSeq(path, "/") {
		f := File{Name: part, Mode: mode}
		ok, name = ok && f.sound(), part
	}
	return PathFile{Path: path, File: File{Name: name, Mode: mode, ID: id, stat: Stat{Size: size}}}, ok
}

// With returns the state with more files. Existing ones are not replaced.
func (d *Dir) With(files []PathFile) *Dir {
	for _, f := range files {
		d = d.edited(f.Path, func(in *Dir, name string) {
			if in.file(name) == nil {
				in.set(f.File)
			}
		})
	}
	d.Seal()
	return d
}

// An Edit replaces files of one directory.
type Edit struct {
	Without map[string]bool // by name
	With    []File          // others than there are
}

// Edited returns the state with another content of a directory, which is "" or ends in a slash. Seal the
// result before use.
func (d *Dir) Edited(dir string, e Edit) *Dir {
	return d.edited(dir, func(in *Dir, _ string) {
		files := slices.DeleteFunc(slices.Clone(in.files), func(f File) bool { return e.Without[f.Name] })
		in.files = append(files, e.With...)
		slices.SortFunc(in.files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	})
}

// Graft returns the state with another one as the directory at a path. There can also be a gitlink
// at that path, with the commit of the repository that has the files. No tree object can have
// both, but the ids of such states are unique all the same.
func (d *Dir) Graft(path string, other *Dir) *Dir {
	d = d.edited(path, func(in *Dir, name string) {
		in.Dirs[in.child(name)] = &Dir{Name: name, Dirs: other.Dirs, files: other.files}
	})
	d.Seal()
	return d
}

// edited returns a copy of the directory in which the directories on a path are copies, too. Missing
// ones are made. It calls change for the last one, whose files are still shared.
func (d *Dir) edited(path string, change func(in *Dir, name string)) *Dir {
	now := &Dir{Name: d.Name, Dirs: slices.Clone(d.Dirs), files: d.files}
	name, rest, deeper := strings.Cut(path, "/")
	if !deeper {
		change(now, name)
		return now
	}
	i := now.child(name)
	now.Dirs[i] = now.Dirs[i].edited(rest, change)
	return now
}

// child returns the position of a subdirectory, which is made if it is missing.
func (d *Dir) child(name string) int {
	i, found := slices.BinarySearchFunc(d.Dirs, name, byDirName)
	if !found {
		d.Dirs = slices.Insert(d.Dirs, i, &Dir{Name: name})
	}
	return i
}

// Put returns the state with a file added or replaced. It reports false if there is a directory
// with files at the path, or a file where a directory is needed. Seal the result before use.
func (d *Dir) Put(f PathFile) (*Dir, bool) {
	for at, r := range f.Path {
		if above := d.Find(f.Path[:at]); r == '/' && above != nil && above.Mode != Gitlink {
			return d, false
		}
	}
	if !d.Dir(f.Path).Empty() {
		return d, false
	}
	return d.edited(f.Path, func(in *Dir, _ string) { in.set(f.File) }), true
}

// Without returns the state without the file at a path. Seal the result before use.
func (d *Dir) Without(path string) *Dir {
	if d.Find(path) == nil {
		return d
	}
	return d.edited(path, func(in *Dir, name string) {
		in.files = slices.DeleteFunc(slices.Clone(in.files), func(f File) bool { return f.Name == name })
	})
}

// set adds a file to those of the directory, or replaces one.
func (d *Dir) set(f File) {
	from, found := d.search(f.Name)
	to := from
	if found {
		to++
	}
	d.files = slices.Replace(slices.Clone(d.files), from, to, f)
}
