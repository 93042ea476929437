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

// With returns the state with more files in it; one that is there stays as it is.
func (d *Dir) With(files []Placed) *Dir {
	for _, f := range files {
		d = d.edited(f.Path, func(in *Dir, name string) {
			if i, found := slices.BinarySearchFunc(in.files, name, byName); !found {
				in.files = slices.Insert(slices.Clone(in.files), i, f.File)
			}
		})
	}
	d.Seal()
	return d
}

// Graft returns the state with another one as the directory at a path. A gitlink may
// have the same path: it is then the commit of the repository that has the files. No
// tree object can have both, but the id of one tells such states from all others.
func (d *Dir) Graft(path string, other *Dir) *Dir {
	d = d.edited(path, func(in *Dir, name string) {
		in.Dirs[in.child(name)] = &Dir{Name: name, Dirs: other.Dirs, files: other.files}
	})
	d.Seal()
	return d
}

// edited returns a copy of the directory, with copies of those that lead to a path,
// which are made where they are missing. The last one is changed; its files are not a
// copy.
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

// child returns where the directory of a name is, which is made where it is missing.
func (d *Dir) child(name string) int {
	i, found := slices.BinarySearchFunc(d.Dirs, name, byDirName)
	if !found {
		d.Dirs = slices.Insert(d.Dirs, i, &Dir{Name: name})
	}
	return i
}

// Nested reports whether the gitlink of a name is that of a repository whose files
// the state has, too.
func (d *Dir) Nested(link *File) bool {
	files := d.subdir(link.Name)
	return link.Mode == Gitlink && !files.Empty()
}

// Put returns the state with a file instead of what is at its path. It
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
	file, isFile := slices.BinarySearchFunc(d.files, name, byName)
	inside := d.subdir(name)
	if !deeper {
		now.files = slices.Clone(d.files)
		if isFile {
			now.files = slices.Delete(now.files, file, file+1)
		}
		if f != nil {
			now.files = slices.Insert(now.files, file, *f)
		}
		return now, f == nil || inside.Empty()
	}
	if isFile && d.files[file].Mode != Gitlink || inside == nil && f == nil {
		return now, f == nil
	}
	i := now.child(name)
	if now.Dirs[i], ok = now.Dirs[i].put(rest, f); !ok {
		return now, false
	}
	if f == nil && now.Dirs[i].Empty() {
		now.Dirs = slices.Delete(now.Dirs, i, i+1)
	}
	return now, true
}
