package merge

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/view"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// change updates refs atomically; ok is false where the target has moved from its position.
func (m *Merger) change(ctx context.Context, at position, why string, changes ...string) (ok bool, err error) {
	for _, c := range changes {
		ref := strings.Fields(c)[1]
		if !strings.HasPrefix(ref, "refs/codeloops/") {
			continue
		}
		// A killed git has left this: we alone change the ref, and we hold the target's lock.
		if err := os.Remove(filepath.Join(m.repo.CommonDir, filepath.FromSlash(ref)+".lock")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
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
		if res, err := j.round(ctx); err != nil || res.Outcome != "" {
			return res, err
		}
	}
	return Result{}, hint.Errorf("try again when nobody else commits to it",
		"it has moved on %d times while the merge was checked", rounds)
}

// round does one step. The outcome is "" where another round is needed.
func (j *job) round(ctx context.Context) (res Result, err error) {
	at, err := j.look(ctx, j.Target)
	if err != nil {
		return res, err
	}
	has := func(commit, other string) (in bool) {
		if err == nil && commit != "" {
			in, err = j.repo.Contains(ctx, commit, other)
		}
		return in
	}
	inTip, taken := has(at.tip, j.head), at.ahead != "" && has(at.tip, at.ahead)
	inAhead, apart := has(at.ahead, j.head), at.ahead != "" && !has(at.ahead, at.tip)
	switch {
	case err != nil:
		return res, err
	case taken:
		_, err = j.change(ctx, at, "taken", at.without()...)
		return res, err
	case inTip:
		return j.found(ctx, Result{Ref: heads + j.Target, Tip: at.tip})
	}
	if err := cmp.Or(j.kept(ctx, at), j.tell(ctx, at)); err != nil {
		return res, err
	}
	return j.step(ctx, at, inAhead, apart)
}

// step does one step for a head that the branch does not have. inAhead: what waits has it; apart: that lacks commits of
// the branch.
func (j *job) step(ctx context.Context, at position, inAhead, apart bool) (res Result, err error) {
	ok := false
	switch {
	case apart:
		if _, res, err = j.join(ctx, at); inAhead && res.Outcome != "" {
			res.Outcome = Merged
		}
	case inAhead && at.tree != "":
		res, err = j.found(ctx, Result{Ref: at.ref(), Tip: at.ahead, Waits: true})
	case inAhead:
		ok, err = j.publish(ctx, at, at.ahead, "take what waited")
	default:
		ok, res, err = j.bringHead(ctx, at)
	}
	if ok {
		return j.verified(ctx, at)
	}
	return res, err
}

// tell tells which commits of others the target has got since the task began: they may be the user's, or an agent's.
func (j *job) tell(ctx context.Context, at position) error {
	if j.told || j.Tell == nil || j.Base == "" {
		return nil
	}
	j.told = true
	args := []string{"rev-list", "--first-parent", "--no-commit-header", "--format=%h (%s)", "--invert-grep", "--grep=^Task: ", at.tip, "^" + j.Base}
	if at.ahead != "" {
		args = append(args, "^"+at.ahead)
	}
	out, err := j.repo.Run(ctx, j.repo.Root, append(args, "--")...)
	if err == nil && out != "" {
		j.Tell(wording.Name(j.Target) + " has moved while it was worked on, and is merged as it is: " + wording.List(strings.Split(out, "\n"), 5))
	}
	return err
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
func (j *job) join(ctx context.Context, at position) (ok bool, res Result, err error) {
	ok, res, err = j.bring(ctx, at, at.ahead, at.tip, "Merge "+at.target+" into what waits for it\n")
	if res.Outcome != "" {
		res.UserCommits, res.Ref, res.Waits = true, waiting+j.Target, true
	}
	return ok, res, err
}

// bringHead merges the head.
func (j *job) bringHead(ctx context.Context, at position) (ok bool, res Result, err error) {
	if err := j.crowded(at); err != nil {
		return false, Result{}, err
	}
	if j.Base != "" {
		if in, err := j.repo.Contains(ctx, at.onto(), j.Base); err != nil || !in {
			return false, Result{}, cmp.Or(err, j.rewritten(at, j.Base, "the task began at it",
				"git cherry-pick "+j.Base[:12]+".."+j.head[:12]+" takes its work, and codeloops queue rm then removes the task"))
		}
	}
	return j.bring(ctx, at, at.onto(), j.head, j.Message)
}

// bring merges a commit into another, and moves the target there. If ok is false and the outcome is "", the target
// has moved.
func (j *job) bring(ctx context.Context, at position, onto, commit, message string) (ok bool, res Result, err error) {
	res = Result{Ref: at.ref(), Tip: onto}
	m, err := j.repo.MergeTree(ctx, onto, commit)
	if err != nil {
		return false, Result{}, err
	}
	if len(m.Files) > 0 {
		res.Outcome, res.Files, res.Text = Conflict, m.Files, m.Text
		return false, res, nil
	}
	if j.Amend != nil && commit == j.head {
		if m.Tree, err = j.Amend(ctx, m.Tree); err != nil {
			return false, Result{}, err
		}
	}
	merged, err := j.commit(ctx, m.Tree, message, onto, commit)
	if err != nil {
		return false, Result{}, err
	}
	if res.Failure, err = j.check(ctx, merged); err != nil {
		return false, Result{}, err
	}
	if res.Failure != nil {
		res.Outcome = Red
		return false, res, nil
	}
	first, _, _ := strings.Cut(message, "\n")
	ok, err = j.publish(ctx, at, merged, first)
	return ok, Result{}, err
}

// commit makes a commit.
func (m *Merger) commit(ctx context.Context, tree, message string, parents ...string) (string, error) {
	env, err := m.repo.Identity(ctx, m.repo.Root)
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", tree, "-F", "-"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return m.repo.Do(ctx, git.Call{Dir: m.repo.Root, Env: env, Stdin: []byte(message)}, args...)
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
	if err := j.repo.Trees().Part(ctx, j.scratch, ""); err != nil {
		return nil, err
	}
	failed, err = j.Check(ctx, j.scratch)
	if err == nil && ctx.Err() != nil { // its result cannot be trusted
		err = context.Cause(ctx)
	}
	return failed, err
}

// clear removes the work tree for checks.
func (j *job) clear() error {
	return errors.Join(view.Remove(j.scratch), j.repo.Trees().Forget(j.scratch))
}

// verified returns the result, once git confirms that the merge is there.
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
	return Result{Outcome: Merged, Ref: at.ref(), Tip: tip, Waits: at.tree != ""}, nil
}
