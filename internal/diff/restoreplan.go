package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/restore"
	"codeloops/internal/diff/scan"
	"codeloops/internal/diff/store"
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
	// Converted are files whose original bytes are not known: they come out as git checks
	// them out.
	Converted []string
	// Unread are sentences about files that cannot be read, which count as what they were when
	// they last could.
	Unread []string
}

// PlanRestore returns the changes that lead from the current files to a state that [Tree.Recall] or
// [Tree.Edited] returned. It leaves alone what is ignored under the rules of now, of that state
// or of one of the others.
func (t *Tree) PlanRestore(ctx context.Context, to string, others ...string) (RestorePlan, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := &restorePlanner{watcher: &t.watcher}
	if err := w.find(ctx, &t.memory, to, others...); err != nil {
		return RestorePlan{}, fmt.Errorf("put the files of %s back: %w", t.Root(), err)
	}
	now := t.setupOf(t.opened)
	for _, state := range append([]string{to}, others...) {
		if then := t.recalled[state].Setup; then != nil && then[moves] != now[moves] {
			return RestorePlan{}, fmt.Errorf("put files back: %w", &MovedError{Root: t.Root()})
		}
	}
	if then := t.recalled[to]; then.Head != "" {
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
	from        version
	both        []string
	target, now version
	rules       []*ignore.Rules // that count besides the current ones
	cutThen     *scan.Dir       // what git had in the target, if a sparse checkout left some of it out
	fs          scan.FileSystem
	root        *os.Root
}

// A version is a state with what a checkpoint of it says of the disk.
type version struct {
	state *scan.Dir
	disk  *checkpoint.Disk // nil if not known
}

// find works out the plan. The ignore rules of the target and of the other states count. Those outside
// the work tree are the current ones.
func (w *restorePlanner) find(ctx context.Context, known *memory, to string, others ...string) error {
	w.target = known.version(to)
	states := append(others, to)
	for _, state := range states {
		if known.states[state] == nil {
			return ErrUnknownState
		}
	}
	if err := w.scan(ctx, w.target.state); err != nil {
		return err
	}
	w.now.state, w.Unread = w.state.Root, w.state.Warnings
	for _, state := range states {
		o := w.watcher.rules.Options()
		o.WorkTree, o.FromIndex = "", w.contents(ctx, known.states[state])
		w.rules = append(w.rules, ignore.New(o))
		if then := known.recalled[state].Setup; w.cutThen == nil && then[overrideMark+skipped] != "" {
			w.cutThen = w.committed(ctx, known.recalled[to].Head)
		}
	}
	var err error
	if w.now.disk, err = known.disk.look(ctx, w.watcher, w.now.state); err != nil {
		return err
	}
	if w.fs, err = scan.FileSystemOf(w.opened.Config); err != nil {
		return err
	}
	if w.root, err = os.OpenRoot(w.Root()); err != nil {
		return err
	}
	defer w.root.Close() //nolint:errcheck // only read
	for _, c := range scan.Compare(w.now.state, w.target.state) {
		switch {
		case w.staysAt(c):
			w.Moved = append(w.Moved, c.Path)
		case c.After == nil:
			w.remove(c)
		default:
			err = w.put(ctx, c)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
	}
	return w.alike(ctx)
}

// staysAt reports whether a change only moves a nested repository to another commit. Its HEAD is
// never touched.
func (w *restorePlanner) staysAt(c scan.Difference) bool {
	if c.After == nil || c.After.Mode != scan.Gitlink {
		return false
	}
	if c.Before != nil {
		return c.Before.Mode == scan.Gitlink
	}
	info, err := w.root.Lstat(c.Path)
	return err == nil && info.IsDir()
}

// remove adds the removal of a file that is not in the target, unless it is to stay.
func (w *restorePlanner) remove(c scan.Difference) {
	switch {
	case alike(w.cutThen.Find(c.Path), c.Before): // a sparse checkout has brought it in since
		return
	case c.Before.Mode == scan.Gitlink, w.belowRepository(c.Path):
		w.Nested = append(w.Nested, c.Path)
		return
	case w.ignores(c.Path), slices.ContainsFunc(w.rules, func(r *ignore.Rules) bool { return r.Ignored(c.Path) }):
		w.Ignored = append(w.Ignored, c.Path)
		return
	}
	w.Changes = append(w.Changes, restore.PathChange{Path: c.Path, Before: w.kind(c.Before)})
	for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
		link := w.target.state.Find(dir)
		if link != nil && link.Mode == scan.Gitlink && w.target.state.Dir(dir).Empty() && !slices.ContainsFunc(w.Changes, func(c restore.PathChange) bool { return c.Path == dir }) {
			w.Changes = append(w.Changes, restore.PathChange{Path: dir, After: restore.State{Kind: restore.Place}})
		}
	}
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

func (w *restorePlanner) kind(f *scan.File) restore.Kind {
	switch {
	case f == nil:
		return restore.Nothing
	case f.Mode == scan.Gitlink:
		return restore.Place
	case f.Mode == scan.Symlink && w.fs.Symlinks:
		return restore.Link
	}
	return restore.File
}

// put adds the change of a file to that of the target, unless it is the same already.
func (w *restorePlanner) put(ctx context.Context, c scan.Difference) error {
	change := restore.PathChange{Path: c.Path, Before: w.kind(c.Before), After: restore.State{Kind: w.kind(c.After)}}
	if change.After.Kind == restore.Place {
		w.Changes = append(w.Changes, change)
		return nil
	}
	info, _ := w.root.Lstat(c.Path) // nil if there is nothing
	change.After.Perm = w.perm(c, info)
	if err := w.content(ctx, c, &change.After); err != nil {
		return err
	}
	if change.Before == change.After.Kind && change.After.Err == nil && info != nil &&
		(change.Before == restore.Link || info.Mode().Perm() == change.After.Perm) {
		same, err := w.same(ctx, change)
		if err != nil || same {
			return err
		}
	}
	if raw, converted := w.raw(c); converted && !raw.Kept() {
		w.Converted = append(w.Converted, c.Path)
	}
	w.Changes = append(w.Changes, change)
	return nil
}

// perm returns the target permissions of a file. If they are not known, the executable bit is
// as in git, and the rest stays.
func (w *restorePlanner) perm(c scan.Difference, there fs.FileInfo) fs.FileMode {
	regular := there != nil && there.Mode().IsRegular()
	switch {
	case regular && !w.fs.FileMode:
		return there.Mode().Perm()
	case w.target.disk != nil && regular && w.from.disk != nil:
		return w.merged(c.Path, there.Mode().Perm(), w.target.disk.Perm(c.Path, c.After.Mode))
	case w.target.disk != nil:
		return w.target.disk.Perm(c.Path, c.After.Mode)
	case !regular:
		return scan.Usual(c.After.Mode, scan.Umask())
	case c.After.Mode == scan.Executable:
		return there.Mode().Perm() | (there.Mode().Perm()&0o444)>>2
	}
	return there.Mode().Perm() &^ 0o111
}

// raw returns what is known of the bytes of a file that git converts, and reports false for any other.
func (w *restorePlanner) raw(c scan.Difference) (raw checkpoint.Raw, converted bool) {
	switch in, _ := w.rulesOf(c.Path); {
	case in != w.watcher.rules || c.After.Mode == scan.Symlink:
		return raw, false
	case w.target.disk != nil:
		raw, converted = w.target.disk.Raw[c.Path]
		return raw, converted
	}
	return raw, w.how.Alters(c.Path)
}

// content sets where the bytes of a file come from.
func (w *restorePlanner) content(ctx context.Context, c scan.Difference, to *restore.State) error {
	id := c.After.ID
	raw, converted := w.raw(c)
	if converted && !raw.Kept() {
		content, err := w.checkedOut(ctx, "to convert files that are put back", c.Path, id)
		if err != nil {
			to.Err = fmt.Errorf("cannot tell what git makes of it: %w", err)
		}
		to.Open = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
		return ctx.Err()
	}
	if converted && !raw.CRLF {
		id = raw.ID
	}
	if _, err := w.store.Size(ctx, id); err != nil {
		to.Err = ErrMissing
	}
	to.Open = func(ctx context.Context) (io.ReadCloser, error) {
		content, err := w.store.Blob(ctx, id)
		if raw.CRLF {
			content = inCRLF(content)
		} else if errors.Is(err, store.ErrLarge) {
			return w.store.Open(ctx, id)
		}
		return io.NopCloser(bytes.NewReader(content)), err
	}
	return ctx.Err()
}

// same reports whether a file or link has its target content already.
func (w *restorePlanner) same(ctx context.Context, c restore.PathChange) (bool, error) {
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

// alike adds the changes of files that are the same for git, but have other permissions or other
// bytes.
func (w *restorePlanner) alike(ctx context.Context) error {
	if w.target.disk == nil {
		return nil
	}
	var names []string
	for _, d := range []*checkpoint.Disk{w.target.disk, w.now.disk} {
		names = slices.AppendSeq(slices.AppendSeq(names, maps.Keys(d.Perms)), maps.Keys(d.Raw))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		before, after := w.now.state.Find(name), w.target.state.Find(name)
		if before == nil || after == nil || before.ID != after.ID || before.Mode != after.Mode || after.Mode == scan.Gitlink {
			continue
		}
		if err := w.put(ctx, scan.Difference{Path: name, Before: before, After: after}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
