package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"codeloops/internal/config/host"
	"codeloops/internal/diff"
	"codeloops/internal/diff/restore"
	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// Kept is the user's directory for files that restores have removed; nil if there is none.
func Kept(h *host.Host) *restore.Keep {
	dir := h.Data("kept")
	if dir == "" {
		return nil
	}
	return &restore.Keep{Dir: dir, Now: h.Now}
}

// keep is where files removed from the work tree go; nil: nowhere.
func (t *Tree) keep() *restore.Keep {
	if t.Aside != "" {
		return &restore.Keep{Dir: t.Aside, Now: t.host.Now}
	}
	return Kept(t.host)
}

// Keep returns where files removed from the work tree go.
func (t *Tree) Keep() (*restore.Keep, error) {
	keep := t.keep()
	if keep == nil {
		return nil, hint.Errorf("set HOME, or XDG_DATA_HOME", "there is no directory to keep the replaced files in")
	}
	if Below(t.Root(), keep.Dir) {
		return nil, hint.Errorf("set XDG_DATA_HOME to a directory elsewhere",
			"files replaced in %s would be kept in %s, which is part of it", t.Root(), keep.Dir)
	}
	return keep, nil
}

// Recover finishes or undoes an interrupted restore. The caller holds the lock.
func (t *Tree) Recover(ctx context.Context) error {
	keep := t.keep()
	if keep == nil {
		return nil
	}
	told, err := keep.Recover(ctx, t.Root())
	for _, sentence := range told {
		if t.recovered = true; t.Fork == "" { // people do not know about copies
			t.tell(sentence)
		}
	}
	if err != nil {
		return &UnrestoredError{err}
	}
	return nil
}

// An UnrestoredError is an interrupted restore that could not be finished.
type UnrestoredError struct{ error }

func (e *UnrestoredError) Unwrap() error { return e.error }

// Hint returns what to do about it.
func (e *UnrestoredError) Hint() string {
	return "fix that; the next codeloops command here then finishes it"
}

// ApplyPlan applies changes to the work tree.
func (t *Tree) ApplyPlan(ctx context.Context, p restore.Plan) (restore.Done, error) {
	keep, err := t.Keep()
	if err != nil {
		return restore.Done{}, err
	}
	done, err := keep.Restore(ctx, t.Root(), p)
	if unfinished, ok := errors.AsType[*restore.UnfinishedError](err); ok {
		return done, hint.Add(unfinished, "fix that, then finish it: codeloops sessions restore --undo")
	}
	if err != nil {
		return done, err
	}
	if len(done.Stayed) > 0 {
		return done, hint.Add(
			fmt.Errorf("new files appeared while the files of %s were put back, and were left alone: %s\nwhat was there before is kept in %s",
				t.Root(), Names(done.Stayed), done.Dir),
			"look at it, and try again",
		)
	}
	if len(done.Later) > 0 {
		return done, hint.Add(fmt.Errorf("files of %s were saved while they were put back, and that content is kept in %s: %s", t.Root(), done.Dir, Names(done.Later)),
			"look at it; codeloops sessions restore --undo brings it back")
	}
	return done, nil
}

// Restore implements [loop.Restorer].
func (t *Tree) Restore(ctx context.Context, commit string) error {
	if err := t.Ready(); err != nil {
		return err
	}
	state, err := t.Recall(commit)
	if err != nil {
		return err
	}
	way, err := t.PlanRestore(ctx, state)
	if err != nil {
		return err
	}
	_, err = t.ApplyPlan(ctx, restore.Plan{Title: "a checkpoint of session " + t.session, Changes: way.Changes})
	return err
}

// Apply implements [loop.Restorer].
func (t *Tree) Apply(ctx context.Context, from, to string) error {
	if err := t.Ready(); err != nil {
		return err
	}
	then, err := t.Recall(from)
	if err != nil {
		return err
	}
	goal, err := t.Recall(to)
	if err != nil {
		return err
	}
	look := func(ctx context.Context) (diff.Work, error) {
		work, err := t.Work(ctx, then, goal)
		if err == nil && len(work.Conflicts) > 0 {
			err = t.conflict(ctx, to, "these files were changed in the work tree as well since its copy was made, so nothing was applied: "+Names(work.Conflicts))
		}
		return work, err
	}
	work, err := look(ctx)
	if err != nil {
		return err
	}
	if missing := pathsOf(work.Changes, func(c restore.PathChange) bool { return errors.Is(c.After.Err, diff.ErrMissing) }); missing != nil {
		return loop.Stop(loop.StopForkLost, "", "the content of these files is gone, and nothing was applied: "+Names(missing))
	}
	if len(work.Changes) == 0 {
		return nil
	}
	still := func(ctx context.Context) error {
		now, err := look(ctx)
		if err == nil && !now.Same(work) { // such as other permissions, which were to stay
			err = restore.ErrChanged
		}
		return err
	}
	_, err = t.ApplyPlan(ctx, restore.Plan{Title: "the work of session " + t.session, Changes: work.Changes, Confirm: still})
	return t.asConflict(ctx, to, err)
}

// asConflict ends the run if the user's own changes kept everything from being applied.
func (t *Tree) asConflict(ctx context.Context, to string, err error) error {
	_, unfinished := errors.AsType[*restore.UnfinishedError](err)
	if unfinished || !errors.Is(err, restore.ErrInTheWay) && !errors.Is(err, restore.ErrChanged) {
		return err
	}
	what := term.Line(strings.TrimPrefix(err.Error(), "nothing was changed: "))
	if refused, ok := errors.AsType[*restore.RefusedError](err); ok {
		what = Names(refused.Problems)
	}
	return t.conflict(ctx, to, "the work tree has changed since its copy was made, so nothing was applied: "+what)
}

// conflict ends the run; the cause is the reference of the checkpoint that could not be applied, if
// it has one.
func (t *Tree) conflict(ctx context.Context, to, sentence string) error {
	ref, err := t.git.In(ctx, t.private, "--git-dir=.", "for-each-ref", "--count=1", "--format=%(refname)", "--points-at="+to, diff.Namespace)
	if err != nil {
		ref = nil
	}
	return loop.Stop(loop.StopConflict, strings.TrimSpace(string(ref)), sentence)
}

// pathsOf lists the paths of some of the changes.
func pathsOf(changes []restore.PathChange, which func(restore.PathChange) bool) (paths []string) {
	for _, c := range changes {
		if which(c) {
			paths = append(paths, c.Path)
		}
	}
	return paths
}

// RecallFrom has the tree use the checkpoints of a session. The caller closes what it returns.
func (t *Tree) RecallFrom(ctx context.Context, store *session.Store, name string) (io.Closer, error) {
	if store.Checkpoints(name) == "" {
		name = session.CheckpointsFor(t.CommonDir())
	}
	dir := store.Checkpoints(name)
	shared, err := session.ShareCheckpoints(ctx, dir)
	if err != nil {
		return nil, err
	}
	return shared, t.KeepIn(dir)
}

// NoCheckpoint adds a hint to the error about a missing checkpoint.
func NoCheckpoint(err error, id string) error {
	if !errors.Is(err, diff.ErrGone) {
		return err
	}
	what := "those of older sessions are removed (keep, keep_for)"
	if id != "" {
		what += "; what it changed is in its log: codeloops sessions diff " + id
	}
	return hint.Add(err, what)
}

// Names lists paths, but only the first few of many.
func Names(paths []string) string {
	const most = 5
	list := make([]string, 0, most+1)
	for _, path := range paths[:min(most, len(paths))] {
		list = append(list, term.Line(path))
	}
	if more := len(paths) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}
