package scan

import (
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/index"
)

// emptyBlob is the id of the blob without content.
const emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

// Tracked returns the files of an index as directories, nil when there are
// none.
func Tracked(x *index.Index) *Dir {
	if len(x.Entries) == 0 {
		return nil
	}
	t := tracked{Index: x, emptyBlob: plumbing.NewHash(emptyBlob)}
	return t.dir("", x.Entries, 0)
}

type tracked struct {
	*index.Index
	emptyBlob plumbing.Hash
}

// dir builds a directory from the entries below it. Their paths share the
// first prefix bytes.
func (t *tracked) dir(name string, entries []index.Entry, prefix int) *Dir {
	d := &Dir{Name: name}
	for i := 0; i < len(entries); {
		child, _, deeper := strings.Cut(entries[i].Path[prefix:], "/")
		end := i + 1
		if !deeper {
			for end < len(entries) && entries[end].Path == entries[i].Path {
				end++
			}
			d.Files = append(d.Files, t.file(child, entries[i:end]))
		} else {
			within := entries[i].Path[:prefix+len(child)+1]
			for end < len(entries) && strings.HasPrefix(entries[end].Path, within) {
				end++
			}
			d.Dirs = append(d.Dirs, t.dir(child, entries[i:end], len(within)))
		}
		i = end
	}
	return d
}

// file makes a file of the entries of one path: a single one, or the stages of
// a conflict, of which the last stands for all.
func (t *tracked) file(name string, stages []index.Entry) File {
	e := &stages[len(stages)-1]
	f := File{
		Name: name,
		Mode: e.Mode,
		ID:   plumbing.Hash(e.ID),
		stat: Stat{Size: int64(e.Size), Modified: nanoseconds(e.Mtime), Changed: nanoseconds(e.Ctime), Inode: uint64(e.Ino)},
	}
	if e.Stage == 0 && e.Flags&index.IntentToAdd == 0 && !t.smudged(e) && !t.Racy(e) {
		f.trust = fromIndex
	}
	return f
}

// smudged reports git's mark for an entry that was racy when it wrote the
// index: a size of zero.
func (t *tracked) smudged(e *index.Entry) bool {
	return e.Size == 0 && plumbing.Hash(e.ID) != t.emptyBlob
}

func nanoseconds(t index.Time) int64 { return int64(t.Sec)*int64(time.Second) + int64(t.Nsec) }
