package merge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/view"
	"codeloops/internal/wording/hint"
)

// change makes changes of refs, all or none; ok is false where the target is no longer at its
// position.
func (m *Merger) change(ctx context.Context, at position, why string, changes ...string) (ok bool, err error) {
	stdin := strings.Join(changes, "\n") + "\n"
	_, err = m.repo.Do(ctx, git.Call{Dir: m.repo.Root, Stdin: []byte(stdin)}, "update-ref", "-m", "codeloops: "+why, "--stdin")
	if err == nil {
		return true, nil
	}
	if now, e := m.look(ctx, at.target); e == nil && now != at {
		return false, nil
	}
	return false, err
}

// A job is one merge. It has the lock of its target.
type job struct {
	*Merger
	Request

	head    string
	scratch string // where the work tree for checks is made

	left      []Commit // out
	replanted bool     // the head is not merged itself
}

func (j *job) merge(ctx context.Context) (Result, error) {
	lock := filepath.Join(j.repo.CommonDir, filepath.FromSlash(waiting+j.Target)+".lock")
	if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Result{}, err
	}
	if err := j.clear(); err != nil { // what a process that was killed has left
		return Result{}, err
	}
	for range rounds {
		if res, err := j.round(ctx); err != nil || res.Outcome != "" {
			res.Removed, res.Apart = j.left, j.replanted
			return res, err
		}
	}
	return Result{}, hint.Errorf("merge it when nobody else is at work on it",
		"it has moved on %d times while the merge was checked", rounds)
}

// A relation is who has what.
type relation struct {
	inTip, inAhead bool     // the head, in the branch and in what waits
	taken          bool     // what waits, in the branch
	apart          bool     // the branch has commits that what waits lacks
	removed        []string // of what waits, those that were taken out of the branch
}

func (j *job) relate(ctx context.Context, at position) (r relation, err error) {
	has := func(commit, other string) (in bool) {
		if err == nil {
			in, err = j.repo.Contains(ctx, commit, other)
		}
		return in
	}
	r.inTip = has(at.tip, j.head)
	if at.ahead != "" {
		r.taken, r.inAhead, r.apart = has(at.tip, at.ahead), has(at.ahead, j.head), !has(at.ahead, at.tip)
	}
	if err == nil && at.ahead != "" && !r.taken {
		r.removed, err = j.removed(ctx, at, at.ahead)
	}
	return r, err
}

// round goes one step on the way. The outcome is "" where there is another one to go.
func (j *job) round(ctx context.Context) (Result, error) {
	at, err := j.look(ctx, j.Target)
	if err != nil {
		return Result{}, err
	}
	is, err := j.relate(ctx, at)
	ok, res := false, Result{}
	switch {
	case err != nil:
	case is.taken:
		_, err = j.taken(ctx, at)
	case is.inTip:
		res = Result{Outcome: Merged, Ref: heads + j.Target, Tip: at.tip}
	case len(is.removed) > 0:
		res, err = j.rebuild(ctx, at, is.removed)
	case is.apart:
		if res, err = j.join(ctx, at); is.inAhead && res.Outcome != "" {
			res.Outcome = Merged
		}
	case is.inAhead && at.tree != "":
		res = Result{Outcome: Merged, Ref: at.ref(), Tip: at.ahead, Take: j.take(at, "--ff-only ")}
	case is.inAhead:
		ok, err = j.publish(ctx, at, at.ahead, "take what waited")
	default:
		ok, res, err = j.bring(ctx, at, at.onto(), part{commit: j.head, message: j.Message})
	}
	if ok {
		return j.verified(ctx, at)
	}
	return res, err
}

// join merges the user's own commits into what waits for the target.
func (j *job) join(ctx context.Context, at position) (Result, error) {
	_, res, err := j.bring(ctx, at, at.ahead, part{commit: at.tip, message: "Merge " + j.Target + " into what waits for it\n"})
	if res.Outcome != "" {
		res.Own, res.Ref, res.Take = true, waiting+j.Target, j.take(at, "")
	}
	return res, err
}

// bring merges one commit onto another, and moves the target to that. Where it is not ok, and the
// outcome is "", the target has moved on.
func (j *job) bring(ctx context.Context, at position, onto string, p part) (ok bool, res Result, err error) {
	res = Result{Ref: at.ref(), Tip: onto}
	merged, m, err := j.combine(ctx, at, onto, p)
	if err != nil {
		return false, Result{}, err
	}
	if res.conflict(m) {
		return false, res, nil
	}
	if merged == at.tip { // which has all that was not taken out of it
		return false, Result{Outcome: Merged, Ref: heads + at.target, Tip: merged}, nil
	}
	if res.Failure, err = j.check(ctx, merged); err != nil {
		return false, Result{}, err
	}
	if res.Failure != nil {
		res.Outcome = Red
		return false, res, nil
	}
	first, _, _ := strings.Cut(p.message, "\n")
	if ok, err = j.publish(ctx, at, merged, first); ok && p.commit == j.head {
		j.head = merged
	}
	return ok, Result{}, err
}

// conflict reports whether a merge has conflicts, which make the result.
func (r *Result) conflict(m git.Merged) bool {
	if len(m.Files) == 0 {
		return false
	}
	r.Outcome, r.Files, r.Text = Conflict, m.Files, m.Text
	return true
}

// check checks a commit in a work tree of its own.
func (j *job) check(ctx context.Context, commit string) (failed *Failure, err error) {
	if j.Check == nil {
		return nil, nil
	}
	defer func() { err = errors.Join(err, j.clear()) }()
	if err := j.repo.Trees().Add(ctx, "--detach", j.scratch, commit); err != nil {
		return nil, err
	}
	if err := j.repo.Trees().CheckOut(ctx, j.scratch); err != nil {
		return nil, err
	}
	if j.Bring != nil {
		if _, err := j.Bring(ctx, j.scratch); err != nil {
			return nil, err
		}
	}
	failed, err = j.Check(ctx, j.scratch)
	if err == nil && ctx.Err() != nil { // whatever it has seen
		err = context.Cause(ctx)
	}
	return failed, err
}

// clear removes the work tree for checks.
func (j *job) clear() error {
	return errors.Join(view.Remove(j.scratch), j.repo.Trees().Forget(j.scratch))
}

// verified returns the result of a merge that git says is there.
func (j *job) verified(ctx context.Context, at position) (Result, error) {
	tip, there, err := j.repo.Commit(ctx, at.ref())
	if err != nil {
		return Result{}, err
	}
	if there {
		there, err = j.repo.Contains(ctx, tip, j.head)
	}
	if err != nil {
		return Result{}, err
	}
	if !there {
		return Result{}, hint.Errorf("merge it again", "%s was moved back by somebody else right after the merge", at.ref())
	}
	res := Result{Outcome: Merged, Ref: at.ref(), Tip: tip}
	if at.tree != "" {
		res.Take = j.take(at, "--ff-only ")
	}
	return res, nil
}
