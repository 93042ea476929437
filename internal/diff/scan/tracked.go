package scan

import (
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/index"
)

// emptyBlob is the id of the blob without content.
const emptyBlob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

// A Tracking makes directories of the entries of an index, which come one by
// one. While that goes on, another goroutine computes the ids of those that are
// whole.
type Tracking struct {
	emptyBlob plumbing.Hash
	path      []byte // of the innermost of the open directories, with a slash at its end
	open      []level
	depth     int // how many of them are open; the memory of the others is used again

	names strings.Builder
	files []File // room for those of directories to come
	dirs  []*Dir
	made  []Dir
	whole []*Dir // to be sealed
	batch chan []*Dir
	done  chan struct{}
}

// A level is a directory of which more may come.
type level struct {
	name  string
	files []File
	dirs  []*Dir
}

// Sizes of the pieces in which memory is allocated, and directories are sealed.
const (
	namesPiece = 32 << 10 // bytes
	filesPiece = 512
	dirsPiece  = 128
)

// Track begins to make directories.
func Track() *Tracking {
	t := &Tracking{emptyBlob: plumbing.NewHash(emptyBlob), batch: make(chan []*Dir, 64), done: make(chan struct{})}
	t.enter("")
	go func() {
		defer close(t.done)
		s := &scratch{}
		for dirs := range t.batch {
			for _, d := range dirs { // those below a directory have come before it
				d.seal(nil, s)
			}
		}
	}()
	return t
}

// Add adds the entry that comes next in an index. It keeps nothing of it.
func (t *Tracking) Add(x *index.Index, e *index.Entry) {
	for len(e.Path) < len(t.path) || e.Path[:len(t.path)] != string(t.path) {
		t.leave()
	}
	rest := e.Path[len(t.path):]
	for {
		name, below, deeper := strings.Cut(rest, "/")
		if !deeper {
			break
		}
		t.path = append(append(t.path, name...), '/')
		t.enter(t.name(name))
		rest = below
	}
	l := &t.open[t.depth-1]
	if last := len(l.files) - 1; last >= 0 && l.files[last].Name == rest {
		// The stages of a conflict, of which the last stands for all.
		l.files[last] = t.file(x, l.files[last].Name, e)
		return
	}
	l.files = append(l.files, t.file(x, t.name(rest), e))
}

// Root ends it and returns the directories, nil when there was no entry.
func (t *Tracking) Root() *Dir {
	for t.depth > 1 {
		t.leave()
	}
	var root *Dir
	if l := &t.open[0]; len(l.files)+len(l.dirs) > 0 {
		root = t.dir(l)
	}
	t.batch <- t.whole
	close(t.batch)
	<-t.done
	return root
}

// name returns a name that stays.
func (t *Tracking) name(name string) string {
	if t.names.Cap()-t.names.Len() < len(name) {
		t.names = strings.Builder{}
		t.names.Grow(max(namesPiece, len(name)))
	}
	from := t.names.Len()
	t.names.WriteString(name)
	return t.names.String()[from:]
}

// enter opens a directory.
func (t *Tracking) enter(name string) {
	if t.depth == len(t.open) {
		t.open = append(t.open, level{})
	}
	l := &t.open[t.depth]
	l.name, l.files, l.dirs = name, l.files[:0], l.dirs[:0]
	t.depth++
}

// leave closes the innermost directory.
func (t *Tracking) leave() {
	l := &t.open[t.depth-1]
	t.depth--
	t.path = t.path[:len(t.path)-len(l.name)-1]
	above := &t.open[t.depth-1]
	above.dirs = append(above.dirs, t.dir(l))
}

// dir makes a directory of which nothing more comes.
func (t *Tracking) dir(l *level) *Dir {
	if len(t.made) == 0 {
		t.made = make([]Dir, dirsPiece)
	}
	d := &t.made[0]
	t.made = t.made[1:]
	d.Name = l.name
	d.files, t.files = settle(l.files, t.files, filesPiece)
	d.Dirs, t.dirs = settle(l.dirs, t.dirs, dirsPiece)
	if t.whole = append(t.whole, d); len(t.whole) == dirsPiece {
		t.batch <- t.whole
		t.whole = make([]*Dir, 0, dirsPiece)
	}
	return d
}

// settle copies elements into room, or into new room if that is too small, and
// returns what is left of it.
func settle[T any](some, room []T, piece int) (settled, rest []T) {
	if len(some) == 0 {
		return nil, room
	}
	if len(room) < len(some) {
		room = make([]T, max(piece, len(some)))
	}
	n := copy(room, some)
	return room[:n:n], room[n:]
}

// file makes a file of an entry.
func (t *Tracking) file(x *index.Index, name string, e *index.Entry) File {
	f := File{
		Name: name,
		Mode: e.Mode,
		ID:   plumbing.Hash(e.ID),
		stat: Stat{Size: int64(e.Size), Modified: nanoseconds(e.Mtime), Changed: nanoseconds(e.Ctime), Inode: uint64(e.Ino)},
	}
	if e.Stage == 0 && e.Flags&index.IntentToAdd == 0 && !t.smudged(e) && !x.Racy(e) {
		f.trust = fromIndex
	}
	return f
}

// smudged reports git's mark for an entry that was racy when it wrote the
// index: a size of zero.
func (t *Tracking) smudged(e *index.Entry) bool {
	return e.Size == 0 && plumbing.Hash(e.ID) != t.emptyBlob
}

func nanoseconds(t index.Time) int64 { return int64(t.Sec)*int64(time.Second) + int64(t.Nsec) }
