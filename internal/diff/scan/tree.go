package scan

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"codeloops/internal/diff/store"
)

// Modes of a [File], as a git tree has them.
const (
	Regular    uint32 = 0o100644
	Executable uint32 = 0o100755
	Symlink    uint32 = 0o120000
	Gitlink    uint32 = 0o160000
)

// A File is what git would record of one path, with the stat that tells whether it has changed.
type File struct {
	Name string // within its directory
	Mode uint32
	ID   plumbing.Hash // of the blob, or of a gitlink's commit

	stat  Stat
	trust trust
}

// Size returns the length of the file in the work tree, in bytes. It is 0 for a file that could not
// be read, and for a gitlink.
func (f *File) Size() int64 { return f.stat.Size }

// trust says how a stat can prove that a file has not changed.
type trust uint8

const (
	doubtful  trust = iota // it cannot
	exact                  // every field must be equal
	fromIndex              // as exact, but sizes and inodes are cut to 32 bits
)

// matches reports whether st proves that the file still has the content of f.
func (f *File) matches(st Stat) bool {
	switch f.trust {
	case exact:
		return f.stat == st
	case fromIndex:
		return uint32(f.stat.Size) == uint32(st.Size) && uint32(f.stat.Inode) == uint32(st.Inode) &&
			f.stat.Modified == st.Modified && f.stat.Changed == st.Changed
	case doubtful:
	}
	return false
}

// same reports whether git sees no difference.
func (f *File) same(other *File) bool { return f.Mode == other.Mode && f.ID == other.ID }

// A Dir is one directory of a work tree. It does not change once it is sealed. The states of one
// work tree share directories in which nothing differs.
type Dir struct {
	Name string // within its parent; "" for the root
	Dirs []*Dir // sorted by name with a slash, as in git; some have no files

	files  []File
	sealed bool
	empty  bool          // of files, at any depth
	id     plumbing.Hash // of the tree object
}

// NewDir returns a directory with sorted files and directories. Seal it before use.
func NewDir(name string, files []File, dirs []*Dir) *Dir {
	return &Dir{Name: name, Dirs: dirs, files: files}
}

// Files returns the files in the directory, sorted by name; nil if d is nil. They must not be
// changed.
func (d *Dir) Files() []File {
	if d == nil {
		return nil
	}
	return d.files
}

func byDirName(d *Dir, name string) int { return order(d.Name, true, name) }

// Dir returns the directory at path, or nil.
func (d *Dir) Dir(path string) *Dir {
	for name := range strings.SplitSeq(path, "/") {
		d = d.subdir(name)
	}
	return d
}

// Find returns the file at path, or nil.
func (d *Dir) Find(path string) *File {
	for {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			return d.file(name)
		}
		d, path = d.subdir(name), rest
	}
}

// file returns the file of that name, or nil if d has none or is nil.
func (d *Dir) file(name string) *File {
	if d == nil {
		return nil
	}
	i, ok := d.search(name)
	if !ok {
		return nil
	}
	return &d.files[i]
}

// search returns the position at which the file of that name is, or would be.
func (d *Dir) search(name string) (at int, found bool) {
	return sort.Find(len(d.files), func(i int) int { return strings.Compare(name, d.files[i].Name) })
}

// subdir returns the directory of that name, or nil if d has none or is nil.
func (d *Dir) subdir(name string) *Dir {
	if d == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(d.Dirs, name, byDirName)
	if !ok {
		return nil
	}
	return d.Dirs[i]
}

// ID returns the id of the tree object that `git write-tree` would write.
func (d *Dir) ID() plumbing.Hash { return d.id }

// Seal computes the ids of d and all directories below. They must not be changed after that.
func (d *Dir) Seal() {
	if d.sealed {
		return
	}
	for _, child := range d.Dirs {
		child.Seal()
	}
	content := d.Object()
	d.sealed, d.empty, d.id = true, len(content) == 0, store.Sum(plumbing.TreeObject, content)
}

// Object returns the content of the directory's tree object.
func (d *Dir) Object() []byte {
	var b []byte
	files, dirs := d.Files(), d.Dirs
	for len(files) > 0 || len(dirs) > 0 {
		if len(dirs) == 0 || len(files) > 0 && order(files[0].Name, false, dirs[0].Name) < 0 {
			b = appendEntry(b, files[0].Mode, files[0].Name, files[0].ID)
			files = files[1:]
			continue
		}
		if !dirs[0].empty {
			b = appendEntry(b, uint32(filemode.Dir), dirs[0].Name, dirs[0].id)
		}
		dirs = dirs[1:]
	}
	return b
}

func appendEntry(b []byte, mode uint32, name string, id plumbing.Hash) []byte {
	b = strconv.AppendUint(b, uint64(mode), 8)
	b = append(b, ' ')
	b = append(b, name...)
	b = append(b, 0)
	return append(b, id[:]...)
}

// order compares a name with that of a directory as git sorts trees, where the name of a directory
// ends in a slash.
func order(a string, aDir bool, dir string) int {
	n := min(len(a), len(dir))
	if c := strings.Compare(a[:n], dir[:n]); c != 0 {
		return c
	}
	rest := a[n:]
	if aDir {
		rest += "/"
	}
	return strings.Compare(rest, dir[n:]+"/")
}
