package scan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Modes of a [File], as a git tree has them.
const (
	Regular    uint32 = 0o100644
	Executable uint32 = 0o100755
	Symlink    uint32 = 0o120000
	Gitlink    uint32 = 0o160000
)

// A File is what git would record of one path, with what tells cheaply whether
// the file is still the same.
type File struct {
	Name string // within its directory
	Mode uint32
	ID   plumbing.Hash // of the blob, or of a gitlink's commit

	stat  Stat
	trust trust
}

// Size returns the length of the file in the work tree, in bytes. It is not
// known (0) of a file that could not be read, and of a gitlink.
func (f *File) Size() int64 { return f.stat.Size }

// trust says how a file's stat may be used in place of its content.
type trust uint8

const (
	doubtful  trust = iota // not at all: the file may change without it
	exact                  // every field must be equal
	fromIndex              // as exact, but sizes and inodes are cut to 32 bits
)

// matches reports whether st proves that the file's content is still f's.
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

// is reports whether a stat proves that f is the file that it is of, where nothing
// but the file itself says what its mode is.
func (f *File) is(st Stat, k kind) bool {
	return f.trust != doubtful && f.stat == st && f.Mode == modeOf(k)
}

// same reports whether git sees no difference.
func (f *File) same(other *File) bool { return f.Mode == other.Mode && f.ID == other.ID }

// like reports whether f may be taken for known, which is as good.
func (f *File) like(known *File) bool {
	return f.same(known) && f.stat == known.stat && f.Name == known.Name && !f.ID.IsZero() &&
		(f.trust == known.trust || f.trust == exact && known.trust == fromIndex)
}

// A Dir is one directory of a work tree: a value that is never changed once it
// is sealed. The states of one work tree share those in which nothing differs.
type Dir struct {
	Name string // within its parent; "" for the root
	Dirs []*Dir // by name and a slash, as git sorts them; some have no file in them

	files   []File
	listing listing

	sealed bool
	empty  bool          // of files, at any depth
	id     plumbing.Hash // of the tree object
}

// NewDir returns a directory that is still to be sealed, of files and
// directories in the order that a [Dir] has them in.
func NewDir(name string, files []File, dirs []*Dir) *Dir {
	return &Dir{Name: name, Dirs: dirs, files: files}
}

// Files returns the files in the directory, by name, as bytes; nil when d is nil.
// They are not to be changed.
func (d *Dir) Files() []File {
	if d == nil {
		return nil
	}
	return d.files
}

func byDirName(d *Dir, name string) int { return order(d.Name, true, name, true) }

// Dir returns the directory at path, nil when there is none.
func (d *Dir) Dir(path string) *Dir {
	for name := range strings.SplitSeq(path, "/") {
		d = d.subdir(name)
	}
	return d
}

// Find returns the file at path, nil when there is none.
func (d *Dir) Find(path string) *File {
	for {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			return d.file(name)
		}
		d, path = d.subdir(name), rest
	}
}

// file returns the file of that name, nil when d has none or is nil itself.
func (d *Dir) file(name string) *File {
	if d == nil {
		return nil
	}
	files := d.Files()
	i, ok := slices.BinarySearchFunc(files, name, byName)
	if !ok {
		return nil
	}
	return &files[i]
}

func byName(f File, name string) int { return strings.Compare(f.Name, name) }

// subdir returns the directory of that name, nil when d has none or is nil
// itself.
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

// covers reports whether every name of other, which may be nil, is one of d's.
func (d *Dir) covers(other *Dir) bool {
	if other == nil || other == d {
		return true
	}
	return (sameSlice(d.files, other.files) || containsFiles(d.Files(), other.Files())) && containsDirs(d.Dirs, other.Dirs)
}

func containsFiles(all, some []File) bool {
	names := cursor(all)
	for i := range some {
		if names.find(some[i].Name) == nil {
			return false
		}
	}
	return true
}

func containsDirs(all, some []*Dir) bool {
	names := dirCursor(all)
	for _, d := range some {
		if names.find(d.Name) == nil {
			return false
		}
	}
	return true
}

// A listing is what is known of a directory's entries besides those in scope.
type listing struct {
	stat Stat // the entries are the same while this is; zero when it proves nothing
	// It has .git, .gitignore, .gitattributes, whether in scope or not.
	hasGit, hasIgnore, hasAttributes bool
	// others are repositories inside that are not in the state.
	others string // names, each with a slash
}

// ID returns the id of the tree object that `git write-tree` would write.
func (d *Dir) ID() plumbing.Hash { return d.id }

// Seal computes the ids of the tree objects of d and of what is below, after
// which they must not be changed.
func (d *Dir) Seal() {
	if d.sealed {
		return
	}
	for _, child := range d.Dirs {
		child.Seal()
	}
	d.seal(nil, &scratch{})
}

// seal computes the id of a directory of which all subdirectories have theirs.
// It is that of like, which may be nil, if nothing differs.
func (d *Dir) seal(like *Dir, s *scratch) {
	if d.sealed = true; like != nil && d.alike(like) {
		d.empty, d.id = like.empty, like.id
		return
	}
	s.content = d.appendObject(s.content[:0])
	d.empty = len(s.content) == 0
	d.id = s.hash.Sum(plumbing.TreeObject, s.content)
}

// alike reports whether both have the same files, and subdirectories of the
// same ids, as far as that is seen at a glance.
func (d *Dir) alike(like *Dir) bool {
	return like.sealed && sameSlice(d.files, like.files) &&
		slices.EqualFunc(d.Dirs, like.Dirs, func(a, b *Dir) bool { return a.Name == b.Name && a.id == b.id })
}

// Object returns the content of the directory's tree object.
func (d *Dir) Object() []byte { return d.appendObject(nil) }

func (d *Dir) appendObject(b []byte) []byte {
	files, dirs := d.Files(), d.Dirs
	for len(files) > 0 || len(dirs) > 0 {
		if len(dirs) == 0 || len(files) > 0 && order(files[0].Name, false, dirs[0].Name, true) < 0 {
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

// order compares two names of one directory as git does in its trees, where a
// directory's name ends in a slash.
func order(a string, aDir bool, b string, bDir bool) int { //nolint:unparam // both sides are alike
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	return int(next(a, n, aDir)) - int(next(b, n, bDir))
}

func next(name string, at int, dir bool) byte {
	switch {
	case at < len(name):
		return name[at]
	case dir:
		return '/'
	}
	return 0
}
