package diff

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Modes of a file, as a git tree has them.
const (
	Regular    = uint32(filemode.Regular)
	Executable = uint32(filemode.Executable)
	Symlink    = uint32(filemode.Symlink)
	Gitlink    = uint32(filemode.Submodule)
)

// A state is what a work tree held at some time. It does not change.
type state struct {
	id   string        // see [loop.Change.State]
	tree plumbing.Hash // of the files
	beside
}

// beside is what a state has besides its tree.
type beside struct {
	// Links are the commits that repositories inside are at whose files are in the tree: a tree cannot have both.
	Links byName[string] `json:"links,omitempty"`
	// Large are files above [Large] whose content is not kept.
	Large byName[entry] `json:"large,omitempty"`
}

// An entry is what a state has at a path.
type entry struct {
	Mode uint32
	ID   plumbing.Hash
	Size int64 // of a file whose content is not kept, in bytes
}

// MarshalText implements [encoding.TextMarshaler].
func (e entry) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%06o %s %d", e.Mode, e.ID, e.Size), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (e *entry) UnmarshalText(text []byte) error {
	var id string
	_, err := fmt.Sscanf(string(text), "%o %s %d", &e.Mode, &id, &e.Size)
	e.ID = plumbing.NewHash(id)
	return err
}

func (e *entry) isFile() bool { return e.Mode == Regular || e.Mode == Executable }

// named gives a state its id: that of the tree that `git write-tree` would write, if there can be such a tree.
func (o *objects) named(tree plumbing.Hash, b beside) (*state, error) {
	s := &state{tree: tree, beside: b}
	if len(b.Links) > 0 {
		text, err := json.Marshal(b)
		s.id = plumbing.ComputeHash(plumbing.BlobObject, append(tree[:], text...)).String()
		return s, err
	}
	whole := map[string]*object.TreeEntry{}
	for name, e := range b.Large {
		whole[name] = &object.TreeEntry{Mode: filemode.FileMode(e.Mode), Hash: e.ID}
	}
	id, err := o.edited(tree, whole)
	s.id = id.String()
	return s, err
}

// find returns what a state has at a path; nil for nothing, and for a directory. An error means that a tree cannot be
// read.
func (o *objects) entry(s *state, name string) (*entry, error) {
	if e, is := s.Large[name]; is {
		return &e, nil
	}
	if commit, is := s.Links[name]; is {
		return &entry{Mode: Gitlink, ID: plumbing.NewHash(commit)}, nil
	}
	e, err := o.at(s.tree, name)
	if e == nil || e.Mode == filemode.Dir {
		return nil, err
	}
	return &entry{Mode: uint32(e.Mode), ID: e.Hash}, nil
}

// at returns the entry of a tree at a path, which may be a directory; nil if there is none.
func (o *objects) at(tree plumbing.Hash, name string) (*object.TreeEntry, error) {
	for {
		t, err := o.tree(tree)
		if err != nil {
			return nil, err
		}
		first, rest, deeper := strings.Cut(name, "/")
		i := slices.IndexFunc(t.Entries, func(e object.TreeEntry) bool { return e.Name == first })
		if i < 0 || deeper && t.Entries[i].Mode != filemode.Dir {
			return nil, nil
		}
		if !deeper {
			return &t.Entries[i], nil
		}
		tree, name = t.Entries[i].Hash, rest
	}
}

// A difference is a path that two states differ in. Before or After is nil if there is no file.
type difference struct {
	path          string
	before, after *entry
}

// compare returns the paths that differ, in git's order.
func (o *objects) compare(ctx context.Context, a, b *state) (all []difference, err error) {
	changes, err := o.differ(ctx, "", a.tree, b.tree)
	if err != nil {
		return nil, err
	}
	special := odd(a, b)
	for _, d := range changes {
		if !special[d.path] {
			all = append(all, d)
		}
	}
	for name := range special {
		d := difference{path: name}
		var errA, errB error
		d.before, errA = o.entry(a, d.path)
		d.after, errB = o.entry(b, d.path)
		if err := errors.Join(errA, errB); err != nil {
			return nil, err
		}
		if (d.before == nil) != (d.after == nil) || d.before != nil && (d.before.Mode != d.after.Mode || d.before.ID != d.after.ID) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b difference) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// odd returns the paths of what states have besides their trees.
func odd(states ...*state) map[string]bool {
	all := map[string]bool{}
	for _, s := range states {
		for name := range s.Links {
			all[name] = true
		}
		for name := range s.Large {
			all[name] = true
		}
	}
	return all
}

// differ returns the files that two trees differ in, unsorted. go-git's DiffTree rejects some names that git allows.
func (o *objects) differ(ctx context.Context, prefix string, a, b plumbing.Hash) (all []difference, err error) {
	if a == b {
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	entries, trees := map[string][2]*object.TreeEntry{}, map[string][2]plumbing.Hash{}
	for i, id := range []plumbing.Hash{a, b} {
		t, err := o.tree(id)
		if err != nil {
			return nil, err
		}
		for j := range t.Entries {
			e := &t.Entries[j]
			if e.Mode == filemode.Dir {
				both, known := trees[e.Name]
				if !known {
					both = [2]plumbing.Hash{emptyTree(), emptyTree()}
				}
				both[i] = e.Hash
				trees[e.Name] = both
				continue
			}
			both := entries[e.Name]
			both[i] = e
			entries[e.Name] = both
		}
	}
	for name, both := range entries {
		if was, is := both[0], both[1]; was == nil || is == nil || was.Mode != is.Mode || was.Hash != is.Hash {
			all = append(all, difference{prefix + name, entryOf(was), entryOf(is)})
		}
	}
	for name, both := range trees {
		below, err := o.differ(ctx, prefix+name+"/", both[0], both[1])
		if err != nil {
			return nil, err
		}
		all = append(all, below...)
	}
	return all, nil
}

func entryOf(e *object.TreeEntry) *entry {
	if e == nil {
		return nil
	}
	return &entry{Mode: uint32(e.Mode), ID: e.Hash}
}

// edited returns a tree with other entries at some paths; nil removes one. Directories that get empty go. Only new
// trees are written.
func (o *objects) edited(id plumbing.Hash, edits map[string]*object.TreeEntry) (plumbing.Hash, error) {
	if len(edits) == 0 {
		return id, nil
	}
	t, err := o.tree(id)
	if err != nil {
		return id, err
	}
	entries, deeper := map[string]object.TreeEntry{}, map[string]map[string]*object.TreeEntry{}
	for _, e := range t.Entries {
		entries[e.Name] = e
	}
	for at, e := range edits {
		name, rest, more := strings.Cut(at, "/")
		switch {
		case more:
			if deeper[name] == nil {
				deeper[name] = map[string]*object.TreeEntry{}
			}
			deeper[name][rest] = e
		case e == nil:
			delete(entries, name)
		default:
			entries[name] = object.TreeEntry{Name: name, Mode: e.Mode, Hash: e.Hash}
		}
	}
	for name, in := range deeper {
		was, is := entries[name], emptyTree()
		if was.Mode == filemode.Dir {
			is = was.Hash
		}
		if is, err = o.edited(is, in); err != nil {
			return id, err
		}
		if is != emptyTree() {
			entries[name] = object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: is}
		} else if was.Mode == filemode.Dir {
			delete(entries, name)
		}
	}
	return o.write(plumbing.TreeObject, encoded(entries))
}

// encoded returns the content of a tree object.
func encoded(entries map[string]object.TreeEntry) (content []byte) {
	var all []object.TreeEntry
	for _, e := range entries {
		all = append(all, e)
	}
	sorted := func(e object.TreeEntry) string {
		if e.Mode == filemode.Dir {
			return e.Name + "/"
		}
		return e.Name
	}
	slices.SortFunc(all, func(a, b object.TreeEntry) int { return strings.Compare(sorted(a), sorted(b)) })
	for _, e := range all {
		content = strconv.AppendUint(content, uint64(e.Mode), 8)
		content = append(append(append(content, ' '), e.Name...), 0)
		content = append(content, e.Hash[:]...)
	}
	return content
}
