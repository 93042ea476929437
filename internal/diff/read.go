package diff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"

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

// tracked is what is used of an index.
type tracked struct {
	from    index.Mark
	root    *scan.Dir // nil when nothing is tracked
	partial bool      // git may be unable to make a tree of it
	// ignores are the .gitignore files that a sparse checkout leaves out.
	ignores map[string]plumbing.Hash
	// Entries that git treats differently from others.
	assumed marks     // --assume-unchanged
	skipped marks     // --skip-worktree, as those that a sparse checkout leaves out
	cut     *scan.Dir // the latter; nil if there are none
	open    marks     // in conflict, or added with --intent-to-add
}

func trackedIn(x *index.Index) tracked {
	t := tracked{
		root:    scan.Tracked(x),
		ignores: make(map[string]plumbing.Hash),
		assumed: marksIn(x, func(e *index.Entry) bool { return e.Flags&index.AssumeValid != 0 }),
		skipped: marksIn(x, func(e *index.Entry) bool { return e.Flags&index.SkipWorktree != 0 }),
		open:    marksIn(x, func(e *index.Entry) bool { return e.Stage != 0 || e.Flags&index.IntentToAdd != 0 }),
	}
	t.partial = t.open.digest != "" || x.Trailer.IsZero() // git may have read it
	cut := &index.Index{}
	for i := range x.Entries {
		if e := &x.Entries[i]; e.Flags&index.SkipWorktree != 0 {
			cut.Entries = append(cut.Entries, *e)
			if path.Base(e.Path) == ".gitignore" {
				t.ignores[e.Path] = e.ID
			}
		}
	}
	t.cut = scan.Tracked(cut)
	return t
}

// scan finds the state of the work tree, with the files of also in scope, too. It reads the settings
// each time, because they can change like any file.
func (w *watcher) scan(ctx context.Context, also *scan.Dir) error {
	r, err := w.reopen()
	if err != nil {
		return err
	}
	if err := w.readIndex(ctx); err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	o, err := originOf(r)
	if err != nil {
		return err
	}
	s := &scan.Scanner{
		Root: w.Root(), Now: w.options.Now, Since: w.since, Clock: w.clock, Alone: w.alone,
		Blobs: w.store, Inside: &w.nests, Hash: w.hashByGit,
	}
	if s.FileSystem, err = scan.FileSystemOf(r.Config); err != nil {
		return err
	}
	if s.Conversion, err = w.conversion(ctx, r); err != nil {
		return err
	}
	o.WorkTree, o.FromIndex = w.Root(), w.leftOut(ctx)
	w.rules = ignore.New(o)
	s.Rules = w.rules
	known := scan.Known{Base: w.base, Index: w.tracked.root, Then: w.trackedThen, Last: w.state.Root, Also: also}
	state, err := w.scanAll(ctx, s, known)
	if err == nil && known.Last != nil && w.reconverted(s.Conversion.Settings, state.Root) {
		known.Last = w.found
		state, err = w.scanAll(ctx, s, known)
	}
	if err != nil {
		return err
	}
	state.Root, w.cutSince = w.asBefore(state.Root)
	w.state, w.how, w.opened = state, s.Conversion, r
	return nil
}

func (w *watcher) scanAll(ctx context.Context, s *scan.Scanner, known scan.Known) (scan.State, error) {
	w.nests.found, w.nests.gits, w.nests.rules = nil, make(map[string]gitDir), make(map[string]*ignore.Rules)
	state, err := s.Scan(ctx, known)
	if err != nil {
		return state, err
	}
	state.Warnings = append(state.Warnings, unread(w.rules)...)
	return w.scanNests(ctx, s, state, known)
}

// reconverted reports whether git may convert files differently than at the last scan. Files that
// were read since the baseline must then be read again. Of the others, git keeps what it knows,
// too.
func (s *seen) reconverted(now attr.Settings, root *scan.Dir) bool {
	return !reflect.DeepEqual(now, s.how.Settings) ||
		slices.ContainsFunc(scan.Compare(s.state.Root, root), func(c scan.Difference) bool {
			return path.Base(c.Path) == ".gitattributes"
		})
}

// readIndex reads the index, and parses it if it has changed.
func (w *watcher) readIndex(ctx context.Context) error {
	at := w.repo.IndexFile
	x, mark, err := index.ReadNew(at, w.tracked.from)
	if errors.Is(err, index.ErrExtension) {
		x, err = w.indexByGit(ctx, at)
		mark = index.Mark{} // a part of it is in another file
	}
	if err == nil && x != nil {
		w.tracked = trackedIn(x)
		w.tracked.from = mark
	}
	return err
}

func (w *watcher) conversion(ctx context.Context, r opened) (c attr.Conversion, err error) {
	if c.Settings, err = attr.SettingsOf(r.Config); err != nil {
		return c, err
	}
	fs, err := scan.FileSystemOf(r.Config)
	if err != nil {
		return c, err
	}
	system, user, err := r.AttributesFiles()
	c.Reader = attr.New(attr.Options{
		WorkTree: w.Root(), System: system, User: user, Info: r.InfoAttributes(),
		IgnoreCase: fs.IgnoreCase, FromIndex: w.contents(ctx, w.tracked.root),
	})
	return c, err
}

// contents returns a function that reads the files of a state.
func (p *place) contents(ctx context.Context, state *scan.Dir) func(name string) ([]byte, bool) {
	return func(name string) ([]byte, bool) {
		f := state.Find(name)
		if f == nil || f.Mode == scan.Symlink || f.Mode == scan.Gitlink {
			return nil, false
		}
		blob, err := p.store.Blob(ctx, f.ID)
		return blob, err == nil
	}
}

// reopen reads the configuration again. The directory that the session began in may be gone by
// now, or be part of another repository.
func (w *watcher) reopen() (opened, error) {
	found, err := openedAt(w.dir, w.options.Environ)
	if err != nil {
		found, err = openedAt(w.Root(), w.options.Environ)
	}
	switch {
	case err == nil && found.GitDir == w.GitDir() && found.WorkTree == w.Root():
		w.elsewhere = ""
		return found, nil
	case err == nil && found.GitDir != w.GitDir():
		w.elsewhere = found.GitDir
	}
	r, err := openedAt(w.Root(), w.environment(w.GitDir(), w.Root()))
	if errors.Is(err, ErrNotRepository) {
		err = w.lost()
	}
	return r, err
}

// lost returns the error for a repository that was removed or damaged during the session.
func (p *place) lost() error {
	if _, err := os.Lstat(p.GitDir()); file.Missing(err) {
		return fmt.Errorf("the repository that the session began in is gone: %w", err)
	}
	return fmt.Errorf("%s, which the session began in, is %w any more", p.GitDir(), ErrNotRepository)
}

// environment returns the user's environment, with variables that name a given repository.
func (p *place) environment(gitDir, workTree string) []string {
	return append(repo.WithoutRepository(p.options.Environ), "GIT_DIR="+gitDir, "GIT_WORK_TREE="+workTree)
}

// marks are the entries of an index that have a mark in common.
type marks struct {
	some   string // the first names
	digest string // of all; "" if there are none
}

func marksIn(x *index.Index, is func(*index.Entry) bool) (m marks) {
	const most = 5
	var all strings.Builder
	var names []string
	for i := range x.Entries {
		if e := &x.Entries[i]; is(e) {
			names = append(names, wording.Name(e.Path))
			fmt.Fprintf(&all, "%q %x %o %d\n", e.Path, e.ID, e.Mode, e.Stage)
		}
	}
	if names == nil {
		return m
	}
	return marks{wording.List(names, most), checkpoint.Digest(all.String())}
}

// digest depends on the entries alone, not on their stats.
func (t *tracked) digest() string {
	all := ""
	if t.root != nil {
		all = fmt.Sprintln(t.root.ID())
	}
	return checkpoint.Digest(all + fmt.Sprintln(t.assumed.digest, t.skipped.digest, t.open.digest))
}
