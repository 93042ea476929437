package merge

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/queue/git"
	"codeloops/internal/view"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// change updates refs atomically; ok is false where the target has moved from its position.
func (m *Merger) change(ctx context.Context, at Position, why string, changes ...string) (ok bool, err error) {
	for _, c := range changes {
		ref := strings.Fields(c)[1]
		if !strings.HasPrefix(ref, "refs/codeloops/") {
			continue
		}
		// A killed git may have left this: we alone change the ref, and we hold the target's lock. Git says if it stays.
		_ = os.Remove(filepath.Join(m.repo.CommonDir, filepath.FromSlash(ref)+".lock"))
	}
	stdin := strings.Join(changes, "\n") + "\n"
	_, err = m.repo.Do(ctx, git.Call{Dir: m.repo.Root, Stdin: []byte(stdin)}, "update-ref", "-m", "codeloops: "+why, "--stdin")
	if err == nil {
		return true, nil
	}
	if now, e := m.Look(ctx, at.target); e == nil && now != at {
		return false, nil
	}
	return false, err
}

// A job is one merge. It holds the lock of its target.
type job struct {
	*Merger
	Request

	head    string
	scratch string // work tree for checks
	told    bool   // that the target has moved
}

func (j *job) merge(ctx context.Context) (Result, error) {
	if err := j.clear(); err != nil { // left by a killed process
		return Result{}, err
	}
	for range rounds {
		res, err := j.round(ctx)
		if git.Lost(err) && ctx.Err() == nil {
			err = j.mend(ctx)
			time.Sleep(moment)
		}
		if err != nil || res.Outcome != "" {
			return res, err
		}
	}
	return Result{}, hint.Errorf("try again when nobody else commits to it",
		"it has moved on %d times while the merge was checked", rounds)
}

// moment is the pause before something is tried again that housekeeping elsewhere has spoiled.
const moment = 50 * time.Millisecond

// round does one step. The outcome is "" where another round is needed.
func (j *job) round(ctx context.Context) (res Result, err error) {
	at, err := j.settle(ctx, j.Target)
	if err != nil {
		return res, err
	}
	if in, err := j.holds(ctx, at.tip); err != nil {
		return res, err
	} else if in {
		return j.found(ctx, Result{Ref: heads + j.Target, Tip: at.tip})
	}
	if err := cmp.Or(j.kept(ctx, at), j.tell(ctx, at)); err != nil {
		return res, err
	}
	if at.ahead == "" {
		return j.bringHead(ctx, at)
	}
	in, err := j.holds(ctx, at.ahead)
	if err != nil {
		return res, err
	}
	whole, err := j.repo.Contains(ctx, at.ahead, at.tip)
	switch {
	case err != nil:
	case !whole: // it lacks commits of the branch
		if res, err = j.join(ctx, at); in && res.Outcome != "" {
			res.Outcome = Merged
		}
	case !in:
		return j.bringHead(ctx, at)
	case at.tree != "":
		return j.found(ctx, Result{Ref: at.ref(), Tip: at.ahead, Waits: true})
	default:
		var ok bool
		if ok, err = j.publish(ctx, at, at.ahead, "take what waited"); ok {
			res = Result{Outcome: Merged, Ref: at.ref(), Tip: at.ahead}
		}
	}
	return res, err
}

// holds reports whether a commit has the head, or a merge that its mark names.
func (j *job) holds(ctx context.Context, commit string) (bool, error) {
	in, err := j.repo.Contains(ctx, commit, j.head)
	if in || err != nil || j.Mark == "" {
		return in, err
	}
	made, err := j.Named(ctx, Position{tip: commit}, j.Mark, j.Since)
	return made != "", err
}

// tell tells which commits of others the target has got since the task began: they may be the user's, or an agent's.
func (j *job) tell(ctx context.Context, at Position) error {
	if j.told || j.Tell == nil || j.Base == "" {
		return nil
	}
	j.told = true
	moved, err := j.others(ctx, at, j.Base)
	if err == nil && moved != "" {
		j.Tell(wording.Name(j.Target) + " has moved while it was worked on, and is merged as it is: " + moved)
	}
	return err
}

// others names the commits that a target has got since one, other than merges of ours; "" is none.
func (m *Merger) others(ctx context.Context, at Position, since string) (string, error) {
	args := []string{"rev-list", "--first-parent", "--no-commit-header", "--format=%h (%s)", "--invert-grep", "--grep=^Task: ", at.tip, "^" + since}
	if at.ahead != "" {
		args = append(args, "^"+at.ahead)
	}
	out, err := m.repo.Run(ctx, m.repo.Root, append(args, "--")...)
	if err != nil || out == "" {
		return "", err
	}
	return wording.List(strings.Split(out, "\n"), 5), nil
}

// found is the result where the target contains the head already: an earlier job was killed after its merge, or
// somebody else has merged it, perhaps the task's own agent. So what has changes of its own is checked here, too.
func (j *job) found(ctx context.Context, res Result) (_ Result, err error) {
	if j.head != j.Base {
		res.Failure, err = j.check(ctx, res.Tip)
	}
	if res.Outcome = Merged; res.Failure != nil {
		res.Outcome, res.Waits = Red, false
	}
	return res, err
}

// join merges the user's own commits with the waiting commit.
func (j *job) join(ctx context.Context, at Position) (res Result, err error) {
	res, err = j.bring(ctx, at, at.ahead, at.tip, "Merge "+at.target+" into what waits for it\n")
	switch res.Outcome {
	case Merged: // the head comes next
		res = Result{}
	case Conflict, Red:
		res.UserCommits, res.Ref, res.Waits = true, waiting+j.Target, true
	}
	return res, err
}

// bringHead merges the head.
func (j *job) bringHead(ctx context.Context, at Position) (res Result, err error) {
	if j.Base != "" {
		if in, err := j.repo.Contains(ctx, at.onto(), j.Base); err != nil || !in {
			return Result{}, cmp.Or(err, j.rewritten(at, j.Base, "the task began at it",
				"git cherry-pick "+j.Base[:12]+".."+j.head[:12]+" takes its work, and codeloops queue rm then removes the task"))
		}
	}
	return j.bring(ctx, at, at.onto(), j.head, j.Message)
}

// bring merges a commit into another, and moves the target there. The outcome is "" where the target has moved.
func (j *job) bring(ctx context.Context, at Position, onto, commit, message string) (res Result, err error) {
	merged, conflicts, err := j.merged(ctx, onto, commit, message)
	if err != nil {
		return Result{}, err
	}
	res = Result{Ref: at.ref(), Tip: onto}
	if len(conflicts.Files) > 0 {
		res.Outcome, res.Files, res.Text = Conflict, conflicts.Files, conflicts.Text
		return res, nil
	}
	if res.Failure, err = j.check(ctx, merged); err != nil {
		return Result{}, err
	}
	if res.Failure != nil {
		res.Outcome = Red
		return res, nil
	}
	first, _, _ := strings.Cut(message, "\n")
	ok, err := j.publish(ctx, at, merged, first)
	if err != nil || !ok {
		return Result{}, err
	}
	return Result{Outcome: Merged, Ref: at.ref(), Tip: merged, Waits: at.tree != ""}, nil
}

// merged makes the commit of a merge, unless there are conflicts.
func (j *job) merged(ctx context.Context, onto, commit, message string) (merged string, m git.Merged, err error) {
	merged, err = j.keep(ctx, j.Target, func(d *git.Draft) (string, error) {
		if m, err = j.repo.MergeTree(ctx, d.Env, onto, commit); err != nil || len(m.Files) > 0 {
			return "", err
		}
		parents, own := []string{onto, commit}, commit == j.head
		if own && j.Amend != nil {
			if m.Tree, err = j.Amend(ctx, d, m.Tree); err != nil {
				return "", err
			}
		}
		if own && j.Squash {
			parents = parents[:1]
		}
		if own && j.Mark != "" {
			message += j.Mark + "\n"
		}
		return d.Commit(ctx, m.Tree, message, parents...)
	})
	return merged, m, err
}

// keep makes a commit, if any, that a ref keeps until the target's lock is released.
func (m *Merger) keep(ctx context.Context, target string, how func(*git.Draft) (commit string, err error)) (commit string, err error) {
	d, done, err := m.repo.Draft(filepath.Join(m.room(target), "draft"))
	defer done()
	if err == nil {
		commit, err = how(d)
	}
	if err == nil && commit != "" {
		err = d.Give(ctx, commit, pending+target)
	}
	return commit, err
}

// check checks a commit in a work tree of its own.
func (j *job) check(ctx context.Context, commit string) (failed *Failure, err error) {
	if j.Check == nil {
		return nil, nil
	}
	defer func() { err = errors.Join(err, j.clear()) }()
	if err := os.MkdirAll(j.scratch, 0o700); err != nil {
		return nil, err
	}
	if err := j.repo.CheckOut(ctx, j.scratch, "", commit); err != nil {
		return nil, err
	}
	failed, err = j.Check(ctx, j.scratch)
	if err == nil && ctx.Err() != nil { // its result cannot be trusted
		err = context.Cause(ctx)
	}
	return failed, err
}

// clear removes the work tree for checks.
func (j *job) clear() error { return view.Remove(j.scratch) }
