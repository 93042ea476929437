package merge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/view"
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

	gone  []Commit // removed by the user together with the waiting commit, or from below it
	back  []Commit // the head is based on them; they stay out
	apart bool     // only the changes after them are merged, not the head itself
}

func (j *job) merge(ctx context.Context) (Result, error) {
	if err := j.clear(); err != nil { // left by a killed process
		return Result{}, err
	}
	for range rounds {
		if res, err := j.round(ctx); err != nil || res.Outcome != "" {
			res.Partial = j.apart
			for _, c := range slices.Concat(j.back, j.gone) {
				if !slices.Contains(res.Removed, c) {
					res.Removed = append(res.Removed, c)
				}
			}
			return res, err
		}
	}
	return Result{}, hint.Errorf("try again when nobody else commits to it",
		"it has moved on %d times while the merge was checked", rounds)
}

// A relation says which commits contain which.
type relation struct {
	inTip, inAhead bool   // the branch, or the waiting commit, contains the head
	apart          bool   // the branch has commits that the waiting commit lacks
	lost           string // see [Merger.lost]
}

func (j *job) relate(ctx context.Context, at position) (r relation, err error) {
	has := func(commit, other string) (in bool) {
		if err == nil {
			in, err = j.repo.Contains(ctx, commit, other)
		}
		return in
	}
	if r.inTip = has(at.tip, j.head); at.ahead == "" || err != nil {
		return r, err
	}
	r.lost, err = j.lost(ctx, at)
	r.inAhead, r.apart = has(at.ahead, j.head), !has(at.ahead, at.tip)
	return r, err
}

// round does one step. The outcome is "" where another round is needed.
func (j *job) round(ctx context.Context) (Result, error) {
	at, err := j.look(ctx, j.Target)
	if err != nil {
		return Result{}, err
	}
	is, err := j.relate(ctx, at)
	ok, res := false, Result{}
	switch {
	case err != nil:
	case is.lost != "" && is.lost == at.ahead:
		if j.gone, err = j.lacks(ctx, at, at.tip, at.ahead); err == nil {
			err = j.taken(ctx, at)
		}
	case is.inTip:
		res, err = j.found(ctx, Result{Ref: heads + j.Target, Tip: at.tip})
	case is.lost != "":
		res, err = j.renew(ctx, at, is.lost)
	case is.apart:
		_, res, err = j.join(ctx, at, at.ahead, part{commit: at.tip, message: "Merge " + at.target + " into what waits for it\n"})
		if is.inAhead && res.Outcome != "" {
			res.Outcome = Merged
		}
	case is.inAhead && at.tree != "":
		res, err = j.found(ctx, Result{Ref: at.ref(), Tip: at.ahead, Take: j.take(at, "--ff-only ")})
	case is.inAhead:
		ok, err = j.publish(ctx, at, at.ahead, "take what waited")
	default:
		ok, res, err = j.bringHead(ctx, at)
	}
	if ok {
		return j.verified(ctx, at)
	}
	return res, err
}

// found is the result where the target contains the head already: an earlier job was killed after its merge, or
// somebody else has merged it, perhaps the task's own agent. So what has changes of its own is checked here, too.
func (j *job) found(ctx context.Context, res Result) (_ Result, err error) {
	if j.head != j.Base {
		res.Failure, err = j.check(ctx, res.Tip)
	}
	if res.Outcome = Merged; res.Failure != nil {
		res.Outcome, res.Take = Red, ""
	}
	return res, err
}

// join merges the user's own commits with the waiting commit.
func (j *job) join(ctx context.Context, at position, onto string, p part) (ok bool, res Result, err error) {
	ok, res, err = j.bring(ctx, at, onto, p)
	if res.Outcome != "" {
		res.UserCommits, res.Ref, res.Take = true, waiting+j.Target, j.take(at, "")
	}
	return ok, res, err
}

// renew moves what waits to the target that the user has rewritten below it. Only what came after the lost commit is
// moved.
func (j *job) renew(ctx context.Context, at position, lost string) (Result, error) {
	made, err := j.repo.Run(ctx, j.repo.Root, "rev-list", "--first-parent", "--reverse", "--no-commit-header", "--format=* %s", at.ahead, "^"+lost, "--")
	var back []Commit
	if err == nil {
		back, err = j.lacks(ctx, at, at.tip, lost)
	}
	if err != nil {
		return Result{}, err
	}
	ok, res, err := j.join(ctx, at, at.tip, part{at.ahead, lost, "Merge what waited for " + at.target + " before it was rewritten\n\n" + made + "\n"})
	switch {
	case ok:
		j.gone = append(j.gone, back...)
	case res.Outcome != "" && len(back) > 0:
		res.Outcome, res.Removed = BringsBack, back
	}
	return res, err
}

// bringHead merges the head, or only its own changes where it is based on what the target has no more.
func (j *job) bringHead(ctx context.Context, at position) (ok bool, res Result, err error) {
	if err := j.crowded(at); err != nil {
		return false, Result{}, err
	}
	since, mingled, err := j.fork(ctx, at, j.head, j.Base)
	j.back, j.apart = nil, since != "" && !mingled
	if err == nil && since != "" {
		j.back, err = j.lacks(ctx, at, at.onto(), since)
	}
	switch {
	case err != nil:
		return false, Result{}, err
	case mingled:
		return false, Result{Outcome: BringsBack, Ref: at.ref(), Tip: at.onto()}, nil
	}
	return j.bring(ctx, at, at.onto(), part{j.head, since, j.Message})
}

// A part is what to merge: a commit, or only its changes since another one.
type part struct{ commit, since, message string }

// bring merges a part into a commit, and moves the target there. If ok is false and the outcome is "", the target
// has moved.
func (j *job) bring(ctx context.Context, at position, onto string, p part) (ok bool, res Result, err error) {
	res = Result{Ref: at.ref(), Tip: onto}
	env, err := j.repo.Identity(ctx, j.repo.Root)
	if err != nil {
		return false, Result{}, err
	}
	m, err := j.mergePart(ctx, env, onto, p)
	if err != nil {
		return false, Result{}, err
	}
	if len(m.Files) > 0 {
		res.Outcome, res.Files, res.Text = Conflict, m.Files, m.Text
		return false, res, nil
	}
	if there, e := j.has(ctx, at, onto, m, p); there || e != nil {
		return false, Result{}, e
	}
	merged, err := j.commit(ctx, env, onto, m.Tree, p)
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
	first, _, _ := strings.Cut(p.message, "\n")
	var keep []string
	if p.commit == at.ahead {
		keep = []string{at.keep()}
	}
	if ok, err = j.publish(ctx, at, merged, first, keep...); ok && p.since != "" && p.commit == j.head {
		j.head = merged
	}
	return ok, Result{}, err
}

// mergePart merges a part into a commit, as a tree.
func (j *job) mergePart(ctx context.Context, env []string, onto string, p part) (git.Merged, error) {
	if p.since != "" {
		return j.replant(ctx, env, onto, p)
	}
	return j.repo.MergeTree(ctx, onto, p.commit)
}

// commit makes the commit of a merged part, amended if it is the task's own.
func (j *job) commit(ctx context.Context, env []string, onto, tree string, p part) (commit string, err error) {
	if j.Amend != nil && p.commit == j.head {
		if tree, err = j.Amend(ctx, tree); err != nil {
			return "", err
		}
	}
	args := []string{"commit-tree", tree, "-p", onto}
	if p.since == "" {
		args = append(args, "-p", p.commit)
	}
	return j.repo.Do(ctx, git.Call{Dir: j.repo.Root, Env: env, Stdin: []byte(p.message)}, append(args, "-F", "-")...)
}

// has reports whether a commit already contains the changes of a part, as after a kill.
func (j *job) has(ctx context.Context, at position, onto string, m git.Merged, p part) (bool, error) {
	if p.since == "" {
		return false, nil
	}
	tree, _, err := j.repo.Object(ctx, onto+"^{tree}")
	switch {
	case err != nil || tree != m.Tree:
		return false, err
	case p.commit == at.ahead:
		err = j.taken(ctx, at)
	default:
		j.head = onto
	}
	return true, err
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
	res := Result{Outcome: Merged, Ref: at.ref(), Tip: tip}
	if at.tree != "" {
		res.Take = j.take(at, "--ff-only ")
	}
	return res, nil
}
