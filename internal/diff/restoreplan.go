package diff

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"codeloops/internal/diff/restore"
	"codeloops/internal/file"
)

// A RestorePlan lists the changes that lead from the current files to another state of the work tree.
type RestorePlan struct {
	Changes []restore.PathChange
	// Files that stay although they are not in that state: those that are ignored now, or
	// were in one of the states, and those of nested repositories.
	Ignored, Nested []string
	// Moved are nested repositories that are at another commit, and stay there.
	Moved []string
	// HeadThen and HeadNow say in words where HEAD was in that state, and where it is now.
	// HeadThen is "" if HEAD has not moved, or if that is not known.
	HeadThen, HeadNow string
	// Unread are sentences about files that cannot be read, which count as what they were when
	// they last could.
	Unread []string
}

// PlanRestore returns the changes that lead from the current files to a state that [Tree.Recall] or
// [Tree.Patched] returned. It leaves alone what is ignored under the rules of now, of that state
// or of one of the others.
func (t *Tree) PlanRestore(ctx context.Context, to string, others ...string) (RestorePlan, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &restorePlanner{watcher: &t.watcher, target: t.version(to)}
	if err := w.plan(ctx, &t.memory, to, others...); err != nil {
		return RestorePlan{}, fmt.Errorf("put the files of %s back: %w", t.Root(), err)
	}
	now := t.setupOf()
	for _, state := range append([]string{to}, others...) {
		if then := t.recalled[state]; then != nil && then.Began != nil && then.Began.Setup[moves] != now[moves] {
			return RestorePlan{}, fmt.Errorf("put files back: %w", &MovedError{Root: t.Root()})
		}
	}
	if then := t.recalled[to]; then != nil && then.Head != "" {
		w.HeadThen, w.HeadNow = whereIs(then.Head, then.Branch), t.where()
	}
	if w.HeadThen == w.HeadNow {
		w.HeadThen = ""
	}
	return w.RestorePlan, nil
}

// moves is the setting that says where the work tree is.
const moves = "core.worktree"

// A MovedError says that the repository had another work tree when the session began.
type MovedError struct{ Root string }

func (e *MovedError) Error() string {
	return moves + " was not what it is now when the session began, and names " + e.Root
}

// Hint returns what to do about it.
func (e *MovedError) Hint() string {
	return "was it the agent? `git config --show-origin " + moves + "` shows where it is set"
}

// A restorePlanner is a [RestorePlan] while it is worked out.
type restorePlanner struct {
	*watcher
	RestorePlan
	// From is where the work of [Tree.Work] began, and both are the files whose permissions were
	// changed differently in both places. They are zero for [Tree.PlanRestore].
	from    version
	both    []string
	target  version
	now     *state
	perms   permissions     // of the files now
	ignored map[string]bool // of the files that are not in the target
	root    *os.Root
}

// A version is a state with the checkpoint of it.
type version struct {
	state  *state
	record *record // nil if not known
}

func (t *Tree) version(state string) version { return version{t.states[state], t.recalled[state]} }

// plan works out the plan. The ignore rules of the target and of the other states count. Those outside
// the work tree are the current ones.
func (w *restorePlanner) plan(ctx context.Context, known *memory, to string, others ...string) (err error) {
	states := append(others, to)
	for _, state := range states {
		if known.states[state] == nil {
			return ErrUnknownState
		}
	}
	if err := w.see(ctx, w.target.state); err != nil {
		return err
	}
	w.now, w.Unread = w.sight.state, w.sight.warnings
	differ, err := w.objects.compare(ctx, w.now, w.target.state)
	if err == nil {
		w.perms, err = w.permissions(ctx, w.now, nil)
	}
	if err == nil {
		err = w.findIgnored(ctx, differ, known, states)
	}
	if err != nil {
		return err
	}
	if w.root, err = os.OpenRoot(w.Root()); err != nil {
		return err
	}
	defer w.root.Close() //nolint:errcheck // only read
	for _, d := range differ {
		switch {
		case slices.Contains(w.sight.unread, d.path): // it stays as it is, and is named
		case w.staysAt(d):
			w.Moved = append(w.Moved, d.path)
		case d.after == nil:
			err = w.remove(d)
		default:
			err = w.put(ctx, d)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d.path, err)
		}
	}
	return w.otherwise(ctx)
}

// findIgnored finds which of the files that are to be removed are ignored, by the rules of now or of some states.
func (w *restorePlanner) findIgnored(ctx context.Context, differ []difference, known *memory, states []string) error {
	w.ignored = map[string]bool{}
	var names []string
	for _, d := range differ {
		if d.after == nil && d.before.Mode != Gitlink {
			names = append(names, d.path)
		}
	}
	if names == nil {
		return nil
	}
	for _, s := range append([]*state{w.now}, statesOf(known, states)...) {
		ignored, err := w.ignores(ctx, rules{state: s, outside: w.rulesOutside(), ignoreCase: w.files.IgnoreCase}, names)
		if err != nil {
			return err
		}
		for name := range ignored {
			w.ignored[name] = true
		}
	}
	return nil
}

func statesOf(known *memory, names []string) (all []*state) {
	for _, name := range names {
		all = append(all, known.states[name])
	}
	return all
}

// staysAt reports whether a change only moves a nested repository to another commit. Its HEAD is
// never touched.
func (w *restorePlanner) staysAt(d difference) bool {
	if d.after == nil || d.after.Mode != Gitlink {
		return false
	}
	if d.before != nil {
		return d.before.Mode == Gitlink
	}
	info, err := w.root.Lstat(d.path)
	return err == nil && info.IsDir()
}

// remove adds the removal of a file that is not in the target, unless it is to stay.
func (w *restorePlanner) remove(d difference) error {
	switch {
	case d.before.Mode == Gitlink, w.belowRepository(d.path):
		w.Nested = append(w.Nested, d.path)
		return nil
	case w.ignored[d.path]:
		w.Ignored = append(w.Ignored, d.path)
		return nil
	}
	w.Changes = append(w.Changes, restore.PathChange{Path: d.path, Before: w.kind(d.before)})
	for dir := path.Dir(d.path); dir != "."; dir = path.Dir(dir) {
		link, err := w.objects.entry(w.target.state, dir)
		if err != nil {
			return err
		}
		if _, files := w.target.state.Links[dir]; link != nil && link.Mode == Gitlink && !files &&
			!slices.ContainsFunc(w.Changes, func(c restore.PathChange) bool { return c.Path == dir }) {
			w.Changes = append(w.Changes, restore.PathChange{Path: dir, After: restore.State{Kind: restore.Place}})
		}
	}
	return nil
}

// belowRepository reports whether a file is in a nested repository.
func (w *restorePlanner) belowRepository(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, err := w.root.Lstat(dir + "/.git"); err == nil || w.isBare(dir) {
			return true
		}
	}
	return false
}

// isBare reports whether a directory has the layout of a bare repository.
func (w *restorePlanner) isBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if info, err := w.root.Lstat(dir + "/" + name); err != nil || info.IsDir() == (name == "HEAD") {
			return false
		}
	}
	return true
}

func (w *restorePlanner) kind(f *entry) restore.Kind {
	switch {
	case f == nil:
		return restore.Nothing
	case f.Mode == Gitlink:
		return restore.Place
	case f.Mode == Symlink && w.files.Symlinks:
		return restore.Link
	}
	return restore.File
}

// put adds the change of a file to that of the target, unless it is the same already.
func (w *restorePlanner) put(ctx context.Context, d difference) error {
	change := restore.PathChange{Path: d.path, Before: w.kind(d.before), After: restore.State{Kind: w.kind(d.after)}}
	if change.After.Kind == restore.Place {
		w.Changes = append(w.Changes, change)
		return nil
	}
	info, _ := w.root.Lstat(d.path) // nil if there is nothing
	change.After.Perm = w.perm(d, info)
	change.After.Open = func(ctx context.Context) (io.ReadCloser, error) { return w.objects.open(ctx, d.after.ID) }
	if !w.objects.holds(d.after.ID) {
		change.After.Err = ErrMissing
	}
	if change.Before == change.After.Kind && info != nil && (change.Before == restore.Link || info.Mode().Perm() == change.After.Perm) {
		same, err := w.same(ctx, change, d)
		if err != nil || same {
			return err
		}
	}
	w.Changes = append(w.Changes, change)
	return nil
}

// perm returns the target permissions of a file. If they are not known, the executable bit is
// as in git, and the rest stays.
func (w *restorePlanner) perm(d difference, there fs.FileInfo) fs.FileMode {
	regular, known := there != nil && there.Mode().IsRegular(), w.target.record
	switch {
	case regular && !w.files.FileMode:
		return there.Mode().Perm()
	case known != nil && regular && w.from.record != nil:
		return w.merged(d.path, there.Mode().Perm(), known.perm(d.path, d.after.Mode))
	case known != nil:
		return known.perm(d.path, d.after.Mode)
	case !regular:
		return usual(d.after.Mode, Umask())
	case d.after.Mode == Executable:
		return there.Mode().Perm() | 0o111&^Umask()
	}
	return there.Mode().Perm() &^ 0o111
}

// same reports whether a file or link has its target content already.
func (w *restorePlanner) same(ctx context.Context, c restore.PathChange, d difference) (bool, error) {
	if c.After.Err != nil {
		return d.before != nil && d.before.ID == d.after.ID, nil
	}
	want, err := c.After.Open(ctx)
	if err != nil {
		return false, nil // the restore will report it
	}
	defer want.Close() //nolint:errcheck // only read
	have, _, err := restore.Read(w.root, c.Path, c.Before)
	if err != nil {
		return false, err
	}
	defer have.Close() //nolint:errcheck // likewise
	return file.Same(file.Until(ctx, have), want)
}

// otherwise adds the changes of files that are the same for git, but have other permissions.
func (w *restorePlanner) otherwise(ctx context.Context) error {
	if w.target.record == nil {
		return nil
	}
	for name := range maps.Keys(union(w.target.record.Perms, w.perms)) {
		if slices.Contains(w.sight.unread, name) {
			continue // as in plan
		}
		before, err := w.objects.entry(w.now, name)
		var after *entry
		if err == nil {
			after, err = w.objects.entry(w.target.state, name)
		}
		if err == nil && before != nil && after != nil && before.ID == after.ID && before.Mode == after.Mode && after.Mode != Gitlink {
			err = w.put(ctx, difference{name, before, after})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
