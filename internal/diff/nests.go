package diff

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/index"
	"codeloops/internal/diff/repo"
	"codeloops/internal/diff/repo/file"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/shown"
)

// A nest is a directory of the work tree with a scan of its own: a repository that
// was there when the session began, or what a gitlink stands for, whose repository
// may be missing. A repository that comes later is a directory like any other, so
// that nothing can be hidden in one.
//
// The files of a nest are what they are on the disk, whatever its attributes say. Of
// its index only the names count, and nothing is written into its git directory.
type nest struct {
	path  string // from the root of the work tree
	last  *scan.Dir
	index tracked
	rules *rules
}

// nests are those of a work tree.
type nests struct {
	begun map[string]bool // paths of those that the session began with; nil before it has
	known map[string]*nest
	parts []*scan.Dir // of the last joined state: the tree around them, and theirs
	whole *scan.Dir   // the last joined state

	// What a scan finds, in several goroutines.
	mu    sync.Mutex
	found []string          // paths, each after the nest that it is in
	at    int               // so many of them have been returned by next
	gits  map[string]gitDir // by the directory that has it
}

// scanNests scans the nests that the scan of the tree around them has found, and
// joins their states with that one.
func (t *Tree) scanNests(ctx context.Context, s *scan.Scanner, state scan.State, also *scan.Dir) (scan.State, error) {
	parts := []*scan.Dir{state.Root}
	var paths []string
	for { // those inside one come behind it
		path, more := t.nests.next()
		if !more {
			break
		}
		inside, err := t.scanNest(ctx, path, s, also.Dir(path))
		if err != nil {
			return state, err
		}
		state.Warnings = append(state.Warnings, inside.Warnings...)
		for _, dir := range inside.Hidden {
			state.Hidden = append(state.Hidden, path+"/"+dir)
		}
		if inside.Root != nil {
			paths, parts = append(paths, path), append(parts, inside.Root)
		}
	}
	if !slices.Equal(parts, t.nests.parts) {
		whole := state.Root
		for i, path := range paths {
			whole = whole.Graft(path, parts[i+1])
		}
		t.nests.parts, t.nests.whole = parts, whole
	}
	state.Root = t.nests.whole
	slices.Sort(state.Hidden)
	return state, nil
}

// scanNest finds the state of a nest, nil when it is gone.
func (t *Tree) scanNest(ctx context.Context, path string, outer *scan.Scanner, also *scan.Dir) (scan.State, error) {
	n := t.nests.known[path]
	if n == nil {
		n = &nest{path: path}
		t.nests.known[path] = n
	}
	s := &scan.Scanner{
		Root: filepath.Join(t.Root(), filepath.FromSlash(path)), Within: path + "/",
		FileMode: outer.FileMode, Symlinks: outer.Symlinks, IgnoreCase: outer.IgnoreCase,
		Now: t.options.Now, Since: t.since, Content: !t.keeps, Blobs: t.store,
	}
	t.looksInside(s)
	warnings, listed := n.prepare(t, s)
	known := scan.Known{Base: t.base.Dir(path), Index: n.index.root, Names: true, Last: n.last, Listed: listed, Also: also}
	state, err := s.Scan(ctx, known)
	switch {
	case err == nil:
		n.last = state.Root
	case file.Missing(err):
		return scan.State{}, nil
	case errors.Is(err, fs.ErrPermission):
		state.Root = n.last // as of any directory that cannot be read; its repository cannot be, either, which is told
		if state.Root == nil {
			state.Root = t.base.Dir(path)
		}
	default:
		return scan.State{}, err
	}
	state.Warnings = append(append(state.Warnings, warnings...), n.rules.unread()...)
	return state, nil
}

// prepare reads what says which files of the nest are in scope. It reports whether
// the rules are those of the last scan.
func (n *nest) prepare(t *Tree, s *scan.Scanner) (warnings []string, listed bool) {
	o := origin{excludes: t.rules.origin.excludes, ignoreCase: s.IgnoreCase}
	r, _ := t.openNest(n.path) // or the scan around it has said why
	if r == nil || !t.nests.begins(n.path) {
		n.index = tracked{}
	} else {
		if t.base == nil || t.digestOf(r.InfoExclude()) == t.setupThen[t.nameOf(r.InfoExclude())] {
			o.info = r.InfoExclude() // and no file can be hidden by another one
		}
		if err := n.readIndex(t, r); err != nil {
			warnings = append(warnings, shown.In(fmt.Sprintf(
				"cannot read the index of the repository %s: %v; what it ignores and tracks all the same is not seen", n.path, err), n.path))
		}
	}
	listed = n.rules != nil && n.rules.origin == o && !n.rules.Changed()
	if !listed {
		n.rules = &rules{origin: o, Rules: ignore.New(ignore.Options{
			WorkTree: s.Root, InfoExclude: o.info, ExcludesFile: o.excludes, IgnoreCase: o.ignoreCase, Now: t.looked,
		})}
	}
	s.Rules = n.rules.Rules
	return warnings, listed
}

// readIndex reads the names in the index unless it is the one that was read before.
func (n *nest) readIndex(t *Tree, r *repo.Repository) error {
	name := r.IndexFile()
	if n.index.current(name) {
		return nil
	}
	read := tracked{read: t.looked().Add(-scan.Slack(r.GitDir)), stamp: stampOf(name), ignores: make(map[string]index.ID)}
	_, err := read.take(func(take func(*index.Index, *index.Entry)) (*index.Index, error) {
		return index.Each(name, take)
	})
	if err != nil { // it is split, or wrong
		_, err = read.take(func(take func(*index.Index, *index.Entry)) (*index.Index, error) {
			x, err := index.Read(name, r.GitDir)
			for i := 0; err == nil && i < len(x.Entries); i++ {
				take(x, &x.Entries[i])
			}
			return x, err
		})
	}
	n.index = read
	return err
}

// looksInside has a scanner ask for what is a repository in the tree that it scans.
func (t *Tree) looksInside(s *scan.Scanner) {
	full := func(path string) string { return s.Within + strings.TrimSuffix(path, "/") }
	s.Head = func(path string) (scan.Head, error) {
		t.nests.find(full(path))
		return t.headOf(full(path))
	}
	s.Embedded = func(path string, scoped bool) (scan.Head, error) {
		head, err := t.headOf(full(path))
		if scoped || t.nests.begun != nil {
			return scan.Head{}, nil // it is a directory like any other
		}
		if head.Repository {
			t.nests.find(full(path))
		}
		return head, err
	}
	if len(t.nests.begun) > 0 {
		s.Nest = func(path string) bool { return t.nests.begun[full(path)] }
	}
}

// headOf looks at a directory of the work tree as a repository of its own.
func (t *Tree) headOf(path string) (scan.Head, error) {
	r, err := t.openNest(path)
	t.nests.look(path, r, err)
	switch {
	case errors.Is(err, repo.ErrNotRepository), errors.Is(err, fs.ErrNotExist):
		return scan.Head{}, nil
	case errors.As(err, new(*repo.UnsupportedError)):
		return scan.Head{Repository: true}, nil
	case err != nil:
		return scan.Head{}, err
	}
	head, err := r.Head()
	return scan.Head{Repository: true, Commit: plumbing.NewHash(head.Commit)}, err
}

// openNest opens the repository of a directory. As for git, it is one by its layout,
// whatever its configuration says.
func (t *Tree) openNest(path string) (*repo.Repository, error) {
	dir := filepath.Join(t.Root(), filepath.FromSlash(path))
	return repo.Open(dir, t.environment(filepath.Join(dir, ".git"), dir))
}

// find takes note of a nest.
func (n *nests) find(path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.found = append(n.found, path)
}

// next returns a nest that was found, and has not been returned since.
func (n *nests) next() (path string, more bool) {
	for ; n.at < len(n.found); n.at++ {
		if path = n.found[n.at]; !slices.Contains(n.found[:n.at], path) {
			n.at++
			return path, true
		}
	}
	return "", false
}

// reset is for the beginning of a scan. Until begin, whatever is a repository becomes
// a nest.
func (n *nests) reset() {
	n.found, n.at, n.gits = nil, 0, nil
	if n.known == nil {
		n.known = make(map[string]*nest)
	}
}

// begin takes the nests of the last scan for those that the session began with.
func (n *nests) begin() { n.beginWith(n.found) }

func (n *nests) beginWith(paths []string) {
	n.begun = make(map[string]bool)
	for _, path := range paths {
		n.begun[path] = true
	}
}

// begins reports whether the session began, or begins, with a nest.
func (n *nests) begins(path string) bool { return n.begun == nil || n.begun[path] }

// of returns the nest that a path is in, the innermost one, with the path in it; nil
// where it is in none.
func (n *nests) of(path string) (in *nest, rest string) {
	for i := range path {
		if path[i] != '/' {
			continue
		}
		if inner := n.known[path[:i]]; inner != nil && inner.rules != nil {
			in, rest = inner, path[i+1:]
		}
	}
	return in, rest
}

// ignores reports whether the rules of the last scan hit an untracked file, by its
// path from the root.
func (t *Tree) ignores(name string) bool {
	if in, rest := t.nests.of(name); in != nil {
		return in.rules.ignores(rest)
	}
	return t.rules.ignores(name)
}

// keptNests returns the paths of the nests that a session began with.
func keptNests(kept checkpoint.Kept) []string {
	paths := kept.Nested()
	for name, digest := range kept.Setup {
		if dir, ok := strings.CutSuffix(name, "/.git"); ok && digest == checkpoint.Digest(isNest) {
			paths = append(paths, dir)
		}
	}
	return paths
}
