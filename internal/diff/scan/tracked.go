package scan

import (
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
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
	t.slots = make(chan struct{}, runtime.GOMAXPROCS(0)-1)
	d := &Dir{}
	t.fill(d, x.Entries, 0, make([]File, 0, len(x.Entries)), &scratch{})
	t.others.Wait()
	d.Seal()
	return d
}

// A tracked index is being made into directories, by several goroutines.
type tracked struct {
	*index.Index
	emptyBlob plumbing.Hash
	slots     chan struct{} // one for each goroutine besides the first
	others    sync.WaitGroup
}

// several is from how many entries on it is worth a goroutine of its own to
// make them into directories.
const several = 500

// fill fills a directory with the entries below it. Their paths share the first
// prefix bytes. Their files go to room, which has a place for each. The
// directory is sealed unless another goroutine is at work below it, which fill
// reports by false.
func (t *tracked) fill(d *Dir, entries []index.Entry, prefix int, room []File, s *scratch) bool {
	var below [][]index.Entry
	for len(entries) > 0 {
		path := entries[0].Path
		slash := strings.IndexByte(path[prefix:], '/')
		if slash < 0 {
			end := endOf(entries, func(other string) bool { return other == path })
			room = append(room, t.file(path[prefix:], entries[:end]))
			entries = entries[end:]
			continue
		}
		within := path[:prefix+slash+1]
		end := endOf(entries, func(other string) bool { return strings.HasPrefix(other, within) })
		d.Dirs = append(d.Dirs, &Dir{Name: path[prefix : prefix+slash]})
		below = append(below, entries[:end])
		entries = entries[end:]
	}
	d.Files = slices.Clip(room)
	whole := true
	for i, child := range d.Dirs {
		entries, prefix := below[i], prefix+len(child.Name)+1
		first := len(room)
		room = room[:first+len(entries)]
		whole = t.enter(child, entries, prefix, room[first:first:len(room)], s) && whole
	}
	if whole {
		d.seal(nil, s)
	}
	return whole
}

// enter is fill, now or in a goroutine of its own.
func (t *tracked) enter(d *Dir, entries []index.Entry, prefix int, room []File, s *scratch) bool {
	if len(entries) >= several {
		select {
		case t.slots <- struct{}{}:
			t.others.Go(func() {
				t.fill(d, entries, prefix, room, &scratch{})
				<-t.slots
			})
			return false
		default:
		}
	}
	return t.fill(d, entries, prefix, room, s)
}

// endOf returns how many of the entries, the first for certain, come before
// one that does not belong. Most often they are few.
func endOf(entries []index.Entry, belongs func(path string) bool) int {
	low, step := 1, 1
	for low+step <= len(entries) && belongs(entries[low+step-1].Path) {
		low += step
		step *= 2
	}
	rest := entries[low:min(low+step, len(entries))]
	return low + sort.Search(len(rest), func(i int) bool { return !belongs(rest[i].Path) })
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
