package scan

import (
	"io/fs"
	"time"
)

// A Stat is what the file system knows of a file besides its content. Two equal stats of one path
// mean equal content, if the file system keeps times and the file was left alone for a while
// before the first; see [Clock].
type Stat struct {
	Size     int64
	Modified int64 // nanoseconds since 1970
	Changed  int64 // likewise, of the inode; no program can set it
	Inode    uint64
	Perm     uint16 // of a regular file: odd and its permissions, or 0 if they are those of [Usual]
}

// A Clock says how far the times of files can be trusted.
type Clock struct {
	Slack time.Duration // by how much they may lag behind
	Keeps bool          // every change of a content changes them
}

// settled reports whether any change of a file after the time at gives it another stat than this.
func (c Clock) settled(s Stat, at time.Time) bool {
	return c.Keeps && max(s.Modified, s.Changed) < at.Add(-c.Slack).UnixNano()
}

// odd marks, in [Stat.Perm], permissions other than those of [Usual].
const odd = 1 << 15

// Usual returns the permissions that git gives a file of a mode under an umask.
func Usual(mode uint32, umask fs.FileMode) fs.FileMode {
	if mode == Executable {
		return 0o777 &^ umask
	}
	return 0o666 &^ umask
}

// OddPerms returns the permissions of the files below a directory that have others than those of
// [Usual], by path.
func (d *Dir) OddPerms() map[string]fs.FileMode {
	found := make(map[string]fs.FileMode)
	var take func(path string, d *Dir)
	take = func(path string, d *Dir) {
		for i := range d.files {
			if f := &d.files[i]; f.stat.Perm != 0 {
				found[path+f.Name] = fs.FileMode(f.stat.Perm) & fs.ModePerm
			}
		}
		for _, child := range d.Dirs {
			take(path+child.Name+"/", child)
		}
	}
	take("", d)
	return found
}
