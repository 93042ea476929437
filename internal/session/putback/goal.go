package putback

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"codeloops/internal/diff"
	"codeloops/internal/git"
	"codeloops/internal/loop/progress"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// Last is the last iteration that was kept.
const Last = math.MinInt

// A Goal is the state to which a work tree is restored.
type Goal struct {
	Dir        string // in the work tree
	Checkpoint string
	Began      string // the checkpoint of the session's start; "" if unknown
	Name       string // for people
	Session    string // "": none
	Kept       string // the private repository, as the log names it
}

// way computes the changes that lead from the current files to the goal.
func (g Goal) way(ctx context.Context, t *worktree.Tree) (diff.RestorePlan, error) {
	if err := t.Baseline(ctx); err != nil {
		return diff.RestorePlan{}, err
	}
	var others []string
	if g.Began != "" {
		state, err := t.Recall(g.Began)
		if err != nil {
			return diff.RestorePlan{}, fmt.Errorf("read the start of the session of %s: %w", g.Name, err)
		}
		others = append(others, state)
	}
	state, err := t.Recall(g.Checkpoint)
	if err != nil {
		return diff.RestorePlan{}, fmt.Errorf("read %s: %w", g.Name, err)
	}
	return t.PlanRestore(ctx, state, others...)
}

// Iteration is the goal of the state after an iteration of a session; 0 is its start and
// [Last] the last one.
func Iteration(ctx context.Context, c session.Course, n int) (Goal, error) {
	rounds := c.Journal.Rounds()
	last := len(rounds)
	if c.Unjudged != "" {
		last++
	}
	g := Goal{
		Dir: c.Origin.WorkingDir, Checkpoint: c.Origin.Checkpoint, Began: c.Origin.Checkpoint, Name: "the start of session " + c.Origin.ID,
		Session: c.Origin.ID, Kept: c.Origin.Checkpoints,
	}
	kept := c.Left()
	switch {
	case n > 0 && last == 0:
		return g, hint.Errorf("0 is the session's start", "session %s has kept no iteration", c.Origin.ID)
	case n == Last: // not the work of a fork that was not applied: it never was in the work tree
	case n < 0 || n > last:
		return g, hint.Errorf("0 is the session's start", "session %s has kept iterations 1 to %d, not %d", c.Origin.ID, last, n)
	case n > len(rounds):
		kept = progress.Capture{Iteration: n, Checkpoint: c.Unjudged}
	case n > 0:
		kept = progress.Capture{Iteration: n, Checkpoint: rounds[n-1].Change.Checkpoint}
	default:
		kept = progress.Capture{}
	}
	switch {
	case kept.Iteration > len(rounds):
		g.Checkpoint, g.Name = kept.Checkpoint, fmt.Sprintf("iteration %d, not judged, of session %s", kept.Iteration, c.Origin.ID)
	case kept.Iteration > 0:
		g.Checkpoint, g.Name = kept.Checkpoint, fmt.Sprintf("iteration %d of session %s", kept.Iteration, c.Origin.ID)
	}
	if g.Checkpoint == "" {
		return g, hint.Errorf("its diff is in the log: codeloops sessions diff "+c.Origin.ID, "no checkpoint was kept for %s", g.Name)
	}
	var err error
	if g.Dir, err = worktree.SessionDir(ctx, c.Origin); errors.Is(err, fs.ErrNotExist) {
		err = hint.Add(err, "was it moved? Say where it is: codeloops sessions restore -d DIR "+c.Origin.ID)
	}
	return g, err
}

// Reference is the goal of a git reference in the private repository of the user's repository.
func (d *Restorer) Reference(ctx context.Context, store *session.Store, ref string) (Goal, error) {
	tree, err := worktree.Open(ctx, d.Host, d.Host.Dir, d.Tell)
	if err != nil {
		return Goal{}, err
	}
	defer tree.Close() //nolint:errcheck // only read
	kept := session.CheckpointsFor(tree.CommonDir())
	refs, _ := git.At(store.Checkpoints(kept)).Refs(ref) // without a repository there is none
	if refs[ref] == "" {
		return Goal{}, hint.Errorf("`codeloops sessions list` shows what there is", "there is no reference %s here", ref)
	}
	return Goal{Dir: d.Host.Dir, Checkpoint: refs[ref], Name: ref, Kept: kept}, nil
}
