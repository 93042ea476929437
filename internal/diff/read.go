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
	"time"

	"codeloops/internal/diff/attr"
	"codeloops/internal/diff/index"
	"codeloops/internal/diff/repo"
	"codeloops/internal/diff/repo/file"
	"codeloops/internal/diff/scan"
)

// tracked is the index as it was last read.
type tracked struct {
	read  time.Time // when, less what a file's times may lag behind the clock
	stamp file.Stamp
	root  *scan.Dir // nil when nothing is tracked

	entries int  // in the index
	partial bool // git would not make a tree of all of them, or it is not known
	// ignores are the .gitignore files that a sparse checkout leaves out.
	ignores map[string]index.ID
	marked  marked
}

// current reports whether the index file is the one that was read.
func (t *tracked) current(name string) bool {
	return t.stamp.Exists() && t.stamp == stampOf(name) && t.stamp.Before(t.read)
}

func stampOf(name string) file.Stamp {
	info, err := os.Stat(name)
	if err != nil {
		return file.Stamp{}
	}
	return file.StampOf(info)
}

// scan finds the state of the work tree, with also in scope, too. The settings are looked at each time: they
// may have changed like any file.
func (t *Tree) scan(ctx context.Context, also *scan.Dir) (scan.State, error) {
	r, err := t.reopen()
	if err != nil {
		return scan.State{}, err
	}
	if err := t.readIndex(ctx); err != nil {
		return scan.State{}, fmt.Errorf("read the index: %w", err)
	}
	rules, err := t.currentRules(ctx, r)
	if err != nil {
		return scan.State{}, err
	}
	s, err := t.scanner(ctx, r)
	if err != nil {
		return scan.State{}, err
	}
	t.nests.reset()
	s.Rules = rules.Rules
	known := scan.Known{Base: t.base, Index: t.tracked.root, Then: t.trackedThen, Last: t.last, Also: also, Listed: rules == t.rules}
	view := viewOf(s, known, rules)
	known.Same = known.Listed && view.like(t.view, t.last)
	state, err := s.Scan(ctx, known)
	if err == nil && t.last != nil && t.reconverted(s.Settings, state.Root) {
		known.Last, known.Listed, known.Same = t.found, false, false
		state, err = s.Scan(ctx, known)
	}
	if err != nil {
		return scan.State{}, err
	}
	t.last, t.view, t.settings, t.rules = state.Root, view, s.Settings, rules
	state.Warnings = append(state.Warnings, rules.unread()...)
	state, err = t.scanNests(ctx, s, state, also)
	t.setup = t.setupOf(r)
	t.sways = t.swaysOf(r)
	t.fakes = t.nestSetup(t.setup)
	return state, err
}

// reconverted reports whether git may convert files otherwise than at the last
// scan. What has been read since the baseline must then be read again; to the
// rest git clings, too.
func (t *Tree) reconverted(now attr.Settings, root *scan.Dir) bool {
	return !reflect.DeepEqual(now, t.settings) ||
		slices.ContainsFunc(scan.Compare(t.last, root), func(c scan.Change) bool {
			return path.Base(c.Path) == ".gitattributes"
		})
}

// readIndex reads the index unless it is the one that was read before.
func (t *Tree) readIndex(ctx context.Context) error {
	if t.tracked.current(t.repo.IndexFile()) {
		return nil
	}
	at := t.looked().Add(-scan.Slack(t.GitDir()))
	stamp := stampOf(t.repo.IndexFile())
	read := tracked{read: at, stamp: stamp, ignores: make(map[string]index.ID)}
	x, err := read.take(func(take func(*index.Index, *index.Entry)) (*index.Index, error) {
		return index.Each(t.repo.IndexFile(), take)
	})
	if err != nil { // it is of an unusual form, or wrong as a whole, too
		read.entries, read.partial = 0, false
		clear(read.ignores)
		x, err = read.take(func(take func(*index.Index, *index.Entry)) (*index.Index, error) {
			return t.wholeIndex(ctx, take)
		})
	}
	if err != nil {
		return err
	}
	read.partial = read.partial || x.Trailer == index.ID{} // git may have read it
	t.tracked = read
	return nil
}

// take takes the entries that each hands out.
func (t *tracked) take(each func(take func(*index.Index, *index.Entry)) (*index.Index, error)) (*index.Index, error) {
	tracking, marking := scan.Track(), &marking{}
	x, err := each(func(x *index.Index, e *index.Entry) {
		marking.take(e)
		t.entries++
		t.partial = t.partial || e.Stage != 0 || e.Flags&index.IntentToAdd != 0
		if e.Flags&index.SkipWorktree != 0 && strings.HasSuffix(e.Path, ".gitignore") {
			t.ignores[strings.Clone(e.Path)] = e.ID
		}
		tracking.Add(x, e)
	})
	t.root, t.marked = tracking.Root(), marking.end()
	return x, err
}

// wholeIndex hands out the entries of an index in an unusual form.
func (t *Tree) wholeIndex(ctx context.Context, take func(*index.Index, *index.Entry)) (*index.Index, error) {
	x, err := index.Read(t.repo.IndexFile(), t.repo.GitDir)
	if errors.Is(err, index.ErrSparse) || errors.Is(err, index.ErrExtension) {
		x, err = t.listIndex(ctx)
	}
	if err != nil {
		return nil, err
	}
	for i := range x.Entries {
		take(x, &x.Entries[i])
	}
	return x, nil
}

func (t *Tree) scanner(ctx context.Context, r *repo.Repository) (*scan.Scanner, error) {
	s := &scan.Scanner{
		Root:  t.Root(),
		Now:   t.options.Now,
		Since: t.since, Content: !t.keeps,
		Blobs: t.store,
		Hash:  t.hash,
	}
	var err error
	for key, field := range map[string]*bool{
		"core.fileMode": &s.FileMode, "core.symlinks": &s.Symlinks, "core.ignoreCase": &s.IgnoreCase,
	} {
		if *field, err = r.Config.Bool(key, key != "core.ignoreCase"); err != nil {
			return nil, err
		}
	}
	t.looksInside(s)
	s.Attributes, s.Settings, err = t.conversion(ctx, r)
	return s, err
}

// conversion returns what tells how git converts the files of the work tree.
// The reader keeps what it reads.
func (t *Tree) conversion(ctx context.Context, r *repo.Repository) (*attr.Reader, attr.Settings, error) {
	settings, err := attr.SettingsOf(r.Config)
	if err != nil {
		return nil, settings, err
	}
	ignoreCase, err := r.Config.Bool("core.ignoreCase", false)
	if err != nil {
		return nil, settings, err
	}
	files, err := r.AttributesFiles()
	return attr.New(attr.Options{
		WorkTree:   t.Root(),
		System:     files.System,
		User:       files.User,
		Info:       files.Info,
		IgnoreCase: ignoreCase,
		FromIndex: func(name string) ([]byte, bool) {
			f := t.tracked.root.Find(name)
			if f == nil || f.Mode == scan.Symlink || f.Mode == scan.Gitlink {
				return nil, false
			}
			blob, err := t.store.Blob(ctx, f.ID)
			return blob, err == nil
		},
	}), settings, err
}

// configured is a repository as it was opened last.
type configured struct {
	*repo.Repository
	read time.Time // before it was
}

// reopen reads the configuration anew, unless it is what it was. The directory that
// the session began in may be gone by now, or be part of another repository.
func (t *Tree) reopen() (*repo.Repository, error) {
	if t.now.Current(t.now.read) {
		return t.now.Repository, nil
	}
	at := t.looked()
	found, err := repo.Open(t.dir, t.options.Env)
	if err != nil { // the directory may be gone
		found, err = repo.Open(t.Root(), t.options.Env)
	}
	switch {
	case err == nil && found.GitDir == t.GitDir() && found.WorkTree == t.Root():
		t.now, t.elsewhere = configured{found, at}, ""
		return found, nil
	case err == nil && found.GitDir != t.GitDir():
		t.elsewhere = found.GitDir
	}
	r, err := repo.Open(t.Root(), t.environment(t.GitDir(), t.Root()))
	if errors.Is(err, ErrNotRepository) {
		err = t.lost()
	}
	return r, err
}

// lost says what has become of the repository that the session began in.
func (t *Tree) lost() error {
	if _, err := os.Lstat(t.GitDir()); file.Missing(err) {
		return fmt.Errorf("the repository that the session began in is gone: %w", err)
	}
	return fmt.Errorf("%s, which the session began in, is %w any more", t.GitDir(), ErrNotRepository)
}

// environment names a repository and hides the one that the user's environment
// may name.
func (t *Tree) environment(gitDir, workTree string) repo.Env {
	return func(name string) (string, bool) {
		switch {
		case name == "GIT_DIR":
			return gitDir, true
		case name == "GIT_WORK_TREE":
			return workTree, true
		case strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_CONFIG"):
			return "", false
		}
		return t.options.Env(name)
	}
}
