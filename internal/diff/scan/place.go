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
	ok := mode == Regular || mode == Executable
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
	now := &Dir{Name: d.Name, Files: slices.Clone(d.Files), Dirs: slices.Clone(d.Dirs)}
	name, rest, deeper := strings.Cut(path, "/")
	if !deeper {
		i, found := slices.BinarySearchFunc(now.Files, name, byName)
		if !found {
			now.Files = slices.Insert(now.Files, i, f)
		}
		return now
	}
	i, found := slices.BinarySearchFunc(now.Dirs, name, byDirName)
	if !found {
		now.Dirs = slices.Insert(now.Dirs, i, &Dir{Name: name})
	}
	now.Dirs[i] = now.Dirs[i].with(rest, f)
	return now
}
