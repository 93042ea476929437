package scan

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Placed is a file with its path from the root.
type Placed struct {
	Path string
	File
}

// Place returns a file of which no more is known than this. It reports false
// when a work tree cannot have such a file.
func Place(path string, mode uint32, id plumbing.Hash, size int64) (Placed, bool) {
	ok := mode == Regular || mode == Executable || mode == Symlink || mode == Gitlink
	name := path
	for part := range strings.SplitSeq(path, "/") {
		f := File{Name: part, Mode: mode}
		ok, name = ok && f.sound(), part
	}
	return Placed{Path: path, File: File{Name: name, Mode: mode, ID: id, stat: Stat{Size: size}}}, ok
}

// With returns the state with more files in it.
func (d *Dir) With(files []Placed) *Dir {
	for _, f := range files {
		d = d.with(f.Path, f.File)
	}
	d.Seal()
	return d
}

func (d *Dir) with(path string, f File) *Dir {
	name, rest, deeper := strings.Cut(path, "/")
	if !deeper {
		i, found := slices.BinarySearchFunc(d.Files(), name, byName)
		files := slices.Clone(d.Files())
		if !found {
			files = slices.Insert(files, i, f)
		}
		return NewDir(d.Name, files, d.Dirs)
	}
	now := &Dir{Name: d.Name, Dirs: slices.Clone(d.Dirs), files: d.files}
	i, found := slices.BinarySearchFunc(now.Dirs, name, byDirName)
	if !found {
		now.Dirs = slices.Insert(now.Dirs, i, &Dir{Name: name})
	}
	now.Dirs[i] = now.Dirs[i].with(rest, f)
	return now
}

// Graft returns the state with another one as the directory at a path. A gitlink may
// have the same path: it is then the commit of the repository that has the files. No
// tree object can have both, but the id of one tells such states from all others.
func (d *Dir) Graft(path string, other *Dir) *Dir {
	d = d.graft(path, other)
	d.Seal()
	return d
}

func (d *Dir) graft(path string, other *Dir) *Dir {
	name, rest, deeper := strings.Cut(path, "/")
	now := &Dir{Name: d.Name, Dirs: slices.Clone(d.Dirs), files: d.files}
	i, found := slices.BinarySearchFunc(now.Dirs, name, byDirName)
	if !found {
		now.Dirs = slices.Insert(now.Dirs, i, &Dir{Name: name})
	}
	if deeper {
		now.Dirs[i] = now.Dirs[i].graft(rest, other)
	} else {
		now.Dirs[i] = &Dir{Name: name, Dirs: other.Dirs, files: other.files}
	}
	return now
}

// Nested reports whether the gitlink of a name is that of a repository whose files
// the state has, too.
func (d *Dir) Nested(link *File) bool {
	files := d.subdir(link.Name)
	return link.Mode == Gitlink && files != nil && !files.bare()
}

// Put returns the state with a file in the place of what is at its path. It
// reports false when that is a directory with files in it, or when another file
// is where a directory would have to be. Seal it before use.
func (d *Dir) Put(f Placed) (*Dir, bool) { return d.put(f.Path, &f.File) }

// Without returns the state without the file at a path. Seal it before use.
func (d *Dir) Without(path string) *Dir {
	now, _ := d.put(path, nil)
	return now
}

func (d *Dir) put(path string, f *File) (_ *Dir, ok bool) {
	now := &Dir{Name: d.Name, Dirs: slices.Clone(d.Dirs), files: d.files}
	name, rest, deeper := strings.Cut(path, "/")
	file, isFile := slices.BinarySearchFunc(d.Files(), name, byName)
	dir, isDir := slices.BinarySearchFunc(now.Dirs, name, byDirName)
	if !deeper {
		files := slices.Clone(d.Files())
		if isFile {
			files = slices.Delete(files, file, file+1)
		}
		if f != nil {
			files = slices.Insert(files, file, *f)
		}
		now.files = files
		return now, f == nil || !isDir || now.Dirs[dir].bare()
	}
	if isFile && d.Files()[file].Mode != Gitlink || !isDir && f == nil {
		return now, f == nil
	}
	if !isDir {
		now.Dirs = slices.Insert(now.Dirs, dir, &Dir{Name: name})
	}
	if now.Dirs[dir], ok = now.Dirs[dir].put(rest, f); !ok {
		return now, false
	}
	if f == nil && now.Dirs[dir].bare() {
		now.Dirs = slices.Delete(now.Dirs, dir, dir+1)
	}
	return now, true
}

// bare reports whether no file is in a directory, at any depth.
func (d *Dir) bare() bool {
	return len(d.files) == 0 && !slices.ContainsFunc(d.Dirs, func(child *Dir) bool { return !child.bare() })
}
