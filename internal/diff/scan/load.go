package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"codeloops/internal/diff/index"
	"codeloops/internal/diff/store"
)

// ErrTree is a malformed tree object, or one with a name that could lead out of the work tree.
var ErrTree = errors.New("bad tree object")

// Load reads the state of a tree object. It knows only the modes and ids of the files. It shares
// equal directories with like, which may be nil.
func Load(ctx context.Context, id plumbing.Hash, like *Dir, tree Objects) (*Dir, error) {
	d, err := load(ctx, "", id, like, tree)
	if err != nil {
		return nil, err
	}
	d.Seal()
	if d.id != id {
		return nil, fmt.Errorf("tree %s: %w: its entries are out of order", id, ErrTree)
	}
	return d, nil
}

// Objects returns the content of the object of that id.
type Objects func(context.Context, plumbing.Hash) ([]byte, error)

func load(ctx context.Context, name string, id plumbing.Hash, like *Dir, tree Objects) (*Dir, error) {
	if like != nil && like.sealed && like.id == id {
		return like, nil
	}
	content, err := tree(ctx, id)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(content)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", id, err)
	}
	var files []File
	var dirs []*Dir
	for _, e := range entries {
		if e.Mode != uint32(filemode.Dir) {
			files = append(files, e)
			continue
		}
		child, err := load(ctx, e.Name, e.ID, like.subdir(e.Name), tree)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, child)
	}
	return NewDir(name, files, dirs), nil
}

// parseTree parses a sequence of "<octal mode> <name>\0<20 bytes>".
func parseTree(content []byte) ([]File, error) {
	var entries []File
	for len(content) > 0 {
		mode, rest, _ := bytes.Cut(content, []byte{' '})
		name, rest, found := bytes.Cut(rest, []byte{0})
		bits, err := strconv.ParseUint(string(mode), 8, 32)
		e := File{Name: string(name), Mode: uint32(bits)}
		if err != nil || !found || len(rest) < len(e.ID) || !e.sound() {
			return nil, ErrTree
		}
		content = rest[copy(e.ID[:], rest):]
		entries = append(entries, e)
	}
	return entries, nil
}

func (f *File) sound() bool {
	modes := []uint32{Regular, Executable, Symlink, Gitlink, uint32(filemode.Dir)}
	return slices.Contains(modes, f.Mode) && f.Name != "" && f.Name != "." && f.Name != ".." &&
		!strings.EqualFold(f.Name, ".git") && !strings.ContainsAny(f.Name, "/\x00")
}

// Tracked returns the files of an index as a state, or nil if it has none.
func Tracked(x *index.Index) *Dir {
	if len(x.Entries) == 0 {
		return nil
	}
	t := tracking{index: x, left: x.Entries}
	root := t.dir("", "")
	root.Seal()
	return root
}

// A tracking builds directories from the entries of an index.
type tracking struct {
	index *index.Index
	left  []index.Entry
}

// dir builds the directory of the entries below a path, which is "" or ends in a slash.
func (t *tracking) dir(name, path string) *Dir {
	d := &Dir{Name: name}
	for len(t.left) > 0 && strings.HasPrefix(t.left[0].Path, path) {
		e := &t.left[0]
		name, _, deeper := strings.Cut(e.Path[len(path):], "/")
		if deeper {
			d.Dirs = append(d.Dirs, t.dir(name, e.Path[:len(path)+len(name)+1]))
			continue
		}
		if last := len(d.files) - 1; last >= 0 && d.files[last].Name == name {
			d.files = d.files[:last] // keep the last stage of a conflict
		}
		d.files = append(d.files, t.file(name, e))
		t.left = t.left[1:]
	}
	return d
}

func (t *tracking) file(name string, e *index.Entry) File {
	f := File{
		Name: name,
		Mode: e.Mode,
		ID:   e.ID,
		stat: Stat{Size: int64(e.Size), Modified: e.Mtime, Changed: e.Ctime, Inode: uint64(e.Ino)},
	}
	smudged := e.Size == 0 && e.ID != store.Sum(plumbing.BlobObject, nil) // git marks racy entries like this
	if e.Stage == 0 && e.Flags&index.IntentToAdd == 0 && !smudged && !t.index.Racy(e) {
		f.trust = fromIndex
	}
	return f
}
