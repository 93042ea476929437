package diff

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/index"
	"codeloops/internal/diff/scan"
	"codeloops/internal/file"
	"codeloops/internal/repo"
	"codeloops/internal/wording"
)

// nests are those of a work tree. A nest is a directory with a scan of its own: a repository
// that existed when the session began, or the directory of a gitlink, whose repository may be
// missing. A repository that is made later is treated like any other directory, so that nothing
// can be hidden in it.
//
// The files of a nest are taken as they are on the disk, whatever its attributes say. Only the
// names in its index count, and nothing is written into its git directory.
type nests struct {
	at    *place
	begun []string                 // paths of those that the session began with; nil before that
	rules map[string]*ignore.Rules // of the nests of the last scan, by path

	// Several goroutines of a scan write these.
	mu    sync.Mutex
	found []string          // paths, each after the nest that it is in
	gits  map[string]gitDir // by the directory that has it
}

// scanNests scans the nests that the scan of the tree around them has found, and merges their
// states into that one.
func (w *watcher) scanNests(ctx context.Context, s *scan.Scanner, state scan.State, known scan.Known) (scan.State, error) {
	for at := 0; at < len(w.nests.found); at++ { //nolint:intrange // scanning one can add those inside it
		path := w.nests.found[at]
		if slices.Contains(w.nests.found[:at], path) {
			continue
		}
		below, err := w.scanNest(ctx, path, s, known)
		if err != nil {
			return state, err
		}
		state.Warnings = append(state.Warnings, below.Warnings...)
		state.Unread = append(state.Unread, below.Unread...)
		state.SelfIgnored = append(state.SelfIgnored, below.SelfIgnored...)
		state.IgnoredDirs = append(state.IgnoredDirs, below.IgnoredDirs...)
		if below.Root != nil {
			state.Root = state.Root.Graft(path, below.Root)
		}
	}
	slices.Sort(state.Unread)
	slices.Sort(state.SelfIgnored)
	slices.Sort(state.IgnoredDirs)
	return state, nil
}

// scanNest finds the state of a nest. Its root is nil if the nest is gone.
func (w *watcher) scanNest(ctx context.Context, path string, outer *scan.Scanner, known scan.Known) (scan.State, error) {
	s := *outer
	s.Root, s.Within, s.Conversion = w.absolute(path), path+"/", attr.Conversion{}
	tracked, rules, warnings := w.prepareNest(path, &s)
	s.Rules, w.nests.rules[path] = rules, rules
	known = scan.Known{Base: known.Base.Dir(path), Index: tracked, Names: true, Last: known.Last.Dir(path), Also: known.Also.Dir(path)}
	state, err := s.Scan(ctx, known)
	switch {
	case err == nil:
	case file.Missing(err):
		return scan.State{}, nil
	case errors.Is(err, fs.ErrPermission): // there is a warning that its repository cannot be read
		state.Root = cmp.Or(known.Last, known.Base)
	default:
		return scan.State{}, err
	}
	state.Warnings = append(append(state.Warnings, warnings...), unread(rules)...)
	return state, nil
}

// prepareNest reads the index and the ignore rules of a nest.
func (w *watcher) prepareNest(path string, s *scan.Scanner) (tracked *scan.Dir, _ *ignore.Rules, warnings []string) {
	o := ignore.Options{WorkTree: s.Root, ExcludesFile: w.rules.Options().ExcludesFile, IgnoreCase: s.IgnoreCase}
	r := w.nests.gits[path].repo // nil if it cannot be read, about which the scan around it has warned
	if r != nil && w.nests.atStart(path) {
		if w.base == nil || digestOf(r.InfoExclude()) == w.setupThen[w.nameOf(r.InfoExclude())] {
			o.InfoExclude = r.InfoExclude() // no changed one may hide files
		}
		x, err := index.Read(r.IndexFile)
		if err != nil {
			warnings = append(warnings, wording.NameIn(fmt.Sprintf(
				"cannot read the index of the repository %s: %v; files that it ignores and tracks are not seen", path, err), path))
		} else {
			tracked = scan.Tracked(x)
		}
	}
	return tracked, ignore.New(o), warnings
}

// Head implements [scan.Repositories]. It records the nest of a gitlink.
func (n *nests) Head(path string) (scan.Head, error) {
	n.find(path)
	return n.headOf(path)
}

// Embedded implements [scan.Repositories]. It records a nest when the session begins. Later, a
// repository is treated like any other directory.
func (n *nests) Embedded(path string, scoped bool) (scan.Head, error) {
	head, err := n.headOf(path)
	if scoped || n.begun != nil {
		return scan.Head{}, nil
	}
	if head.Repository {
		n.find(path)
	}
	return head, err
}

// Nest implements [scan.Repositories]. It reports whether the session began with a nest there.
func (n *nests) Nest(path string) bool { return slices.Contains(n.begun, path) }

// headOf opens the repository of a directory of the work tree and reads its HEAD. As in git, only its
// layout makes it a repository.
func (n *nests) headOf(path string) (scan.Head, error) {
	dir := n.at.absolute(path)
	r, err := repo.Open(dir, n.at.environment(filepath.Join(dir, ".git"), dir))
	n.mu.Lock()
	n.gits[path] = gitDir{r, err}
	n.mu.Unlock()
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

func (n *nests) find(path string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.found = append(n.found, path)
}

// atStart reports whether the session began, or begins, with a nest. Before that, every repository is
// one.
func (n *nests) atStart(path string) bool { return n.begun == nil || n.Nest(path) }

// rulesOf returns the rules of the last scan for a path: those of the innermost nest around it,
// with the path from there, or those of the work tree.
func (s *seen) rulesOf(path string) (in *ignore.Rules, rest string) {
	in, rest = s.rules, path
	for i := range path {
		if path[i] == '/' && s.nests.rules[path[:i]] != nil {
			in, rest = s.nests.rules[path[:i]], path[i+1:]
		}
	}
	return in, rest
}

// ignores reports whether the rules of the last scan ignore an untracked file, given its path from
// the root.
func (s *seen) ignores(name string) bool {
	in, rest := s.rulesOf(name)
	return in.Ignored(rest)
}

// keptNests returns the paths of the nests that a checkpoint has kept, which are not nil.
func keptNests(kept checkpoint.Kept) []string {
	paths := append([]string{}, kept.Nested()...)
	for name, digest := range kept.Setup {
		if dir, ok := strings.CutSuffix(name, "/.git"); ok && digest == checkpoint.Digest(isNest) {
			paths = append(paths, dir)
		}
	}
	return paths
}
