package putback

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"codeloops/internal/diff"
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
		state, err := t.Recall(ctx, g.Began)
		if err != nil {
			return diff.RestorePlan{}, fmt.Errorf("read the start of the session of %s: %w", g.Name, err)
		}
		others = append(others, state)
	}
	state, err := t.Recall(ctx, g.Checkpoint)
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
		Dir: c.Session.WorkingDir, Checkpoint: c.Session.Checkpoint, Began: c.Session.Checkpoint, Name: "the start of session " + c.Session.ID,
		Session: c.Session.ID, Kept: c.Session.Checkpoints,
	}
	kept := c.Kept
	switch {
	case n > 0 && last == 0:
		return g, hint.Errorf("0 is the session's start", "session %s has kept no iteration", c.Session.ID)
	case n == Last: // not the work of a fork that was not applied: it never was in the work tree
	case n < 0 || n > last:
		return g, hint.Errorf("0 is the session's start", "session %s has kept iterations 1 to %d, not %d", c.Session.ID, last, n)
	case n > len(rounds):
		kept = session.Kept{Iteration: n, Checkpoint: c.Unjudged}
	case n > 0:
		kept = session.Kept{Iteration: n, Checkpoint: rounds[n-1].Change.Checkpoint}
	default:
		kept = session.Kept{}
	}
	switch {
	case kept.Iteration > len(rounds):
		g.Checkpoint, g.Name = kept.Checkpoint, fmt.Sprintf("iteration %d, not judged, of session %s", kept.Iteration, c.Session.ID)
	case kept.Iteration > 0:
		g.Checkpoint, g.Name = kept.Checkpoint, fmt.Sprintf("iteration %d of session %s", kept.Iteration, c.Session.ID)
	}
	if g.Checkpoint == "" {
		return g, hint.Errorf("its diff is in the log: codeloops sessions diff "+c.Session.ID, "no checkpoint was kept for %s", g.Name)
	}
	var err error
	if g.Dir, err = worktree.SessionDir(ctx, c.Session); errors.Is(err, fs.ErrNotExist) {
		err = hint.Add(err, "was it moved? Say where it is: codeloops sessions restore -d DIR "+c.Session.ID)
	}
	return g, err
}

// Reference is the goal of a git reference in the private repository of the user's repository
// or, for sessions of earlier versions, in that repository itself.
func (d *Restorer) Reference(ctx context.Context, store *session.Store, ref string) (Goal, error) {
	tree, err := worktree.Open(ctx, d.Host, d.Host.Dir, d.Tell)
	if err != nil {
		return Goal{}, err
	}
	defer tree.Close() //nolint:errcheck // only read
	git := worktree.Git{Environ: d.Host.Environ}
	args := []string{"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"}
	for _, in := range []string{store.Checkpoints(session.CheckpointsFor(tree.CommonDir())), tree.CommonDir()} {
		if out, err := git.In(ctx, d.Host.Dir, append([]string{"--git-dir=" + in}, args...)...); err == nil {
			return Goal{Dir: d.Host.Dir, Checkpoint: strings.TrimSpace(string(out)), Name: ref}, nil
		}
	}
	return Goal{}, hint.Errorf("`codeloops sessions list` shows what there is", "there is no reference %s here", ref)
}
