package putback

import (
	"cmp"
	"context"
	"io"

	"codeloops/internal/diff"
	"codeloops/internal/diff/restore"
	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/session/checkpoints"
	"codeloops/internal/wording/hint"
)

// Ended is a run that is over: the states in which it found and left the work tree.
type Ended struct {
	Session string
	Dir     string // in the work tree
	Base    string // the commit that HEAD was at
	Kept    string // the private repository, as the log names it
	Prompt  string
	Outcome *loop.Outcome // nil: it broke off
	// Cut says that what was done after the last capture is not known: the run was killed.
	Cut bool
	// Judged says that the session has changed nothing itself: its work is that of somebody else.
	Judged bool
	// Withheld are new files with the names of secrets that git ignored when the run began: nobody has
	// judged what they hold.
	Withheld map[string]bool
	// Captures are the states that its iterations left in the work tree, oldest first.
	Captures []progress.Capture
	// Feedback is what the critic said of each, by iteration.
	Feedback map[int]string

	began, left string // checkpoints
}

// Between returns the part of a run from one of its checkpoints to another; "" stands for its beginning or its end.
func (e Ended) Between(from, to string) Ended {
	e.began, e.left = cmp.Or(from, e.began), cmp.Or(to, e.left)
	return e
}

// EndOf returns the states of a session.
func EndOf(ctx context.Context, store *session.Store, c session.Course) (Ended, error) {
	g, err := Iteration(ctx, c, 0)
	if err != nil {
		return Ended{}, err
	}
	e := Ended{
		Session: c.Origin.ID, Dir: g.Dir, Base: c.Origin.BaseCommit, Kept: c.Origin.Checkpoints, Prompt: c.Origin.Prompt, Judged: c.Origin.Judged,
		Outcome: c.Outcome, Captures: c.Captures, began: g.Checkpoint, left: c.Checkpoint,
	}
	if rounds := c.Journal.Rounds(); len(rounds) > 0 {
		e.Withheld, e.Feedback = map[string]bool{}, map[int]string{}
		for _, r := range rounds {
			e.Feedback[r.Iteration] = r.Verdict.Guidance()
		}
		for _, u := range rounds[len(rounds)-1].Change.Unshown {
			e.Withheld[u.Path] = u.Why == loop.WasIgnored
		}
	}
	if e.left == "" && c.Outcome != nil {
		e.left = checkpoints.End(store.Checkpoints(e.Kept), e.Session)
	}
	if e.left == "" {
		e.left, e.Cut = c.Left().Checkpoint, true
	}
	if e.left == "" {
		return e, hint.Errorf("codeloops resume "+e.Session+" carries it on; codeloops sessions restore --iteration 0 "+e.Session+" puts all files back to its start",
			"session %s was killed while an agent was at work, and has kept nothing", e.Session)
	}
	return e, nil
}

// states loads both states. The caller closes what it returns.
func (e Ended) states(ctx context.Context, tree *worktree.Tree, store *session.Store) (from, to string, shared io.Closer, err error) {
	if shared, err = tree.RecallFrom(ctx, store, e.Kept); err != nil {
		return "", "", nil, err
	}
	if err = tree.Baseline(ctx); err == nil {
		from, err = tree.Recall(e.began)
	}
	if err == nil {
		to, err = tree.Recall(e.left)
	}
	if err != nil {
		_ = shared.Close() // only read
		return "", "", nil, worktree.NoCheckpoint(err, e.Session)
	}
	return from, to, shared, nil
}

// Changes returns the files that the run has changed, with what they are now, and the id of the tree that it left. The
// caller closes what it returns.
func (e Ended) Changes(ctx context.Context, tree *worktree.Tree, store *session.Store) (all []diff.BlobChange, left string, shared io.Closer, err error) {
	from, left, shared, err := e.states(ctx, tree, store)
	if err != nil {
		return nil, "", nil, err
	}
	all, err = tree.Changed(ctx, from, left)
	return all, left, shared, err
}

// Change returns what the run has changed, as a diff.
func (d *Restorer) Change(ctx context.Context, store *session.Store, e Ended) (loop.Change, error) {
	tree, err := worktree.Open(ctx, d.Host, e.Dir, d.Tell)
	if err != nil {
		return loop.Change{}, err
	}
	defer tree.Close() //nolint:errcheck // only read
	from, to, shared, err := e.states(ctx, tree, store)
	if err != nil {
		return loop.Change{}, err
	}
	defer shared.Close() //nolint:errcheck // the process's end releases it in any case
	return tree.Between(ctx, loop.Change{State: from}, loop.Change{State: to})
}

// Taken is what was taken back.
type Taken struct {
	Session string   `json:"session"`
	Files   []string `json:"files"`
	Kept    string   `json:"kept"` // where the replaced files are
	Head    string   `json:"head"` // stays; "": it is where the run found it

	Root    string   `json:"-"`
	Nothing bool     `json:"-"` // the run has changed nothing
	Changed []string `json:"-"` // with DryRun: files that somebody has changed since
	Told    []string `json:"left,omitempty"`
}

// TakeBack takes back what a run has changed, and leaves other files alone. If the user has changed some of its files
// since, they are named and the user is asked. It first calls mayWrite with the work tree's root.
func (d *Restorer) TakeBack(ctx context.Context, store *session.Store, e Ended, mayWrite func(root string) error) (t Taken, err error) {
	tree, end, err := d.Open(ctx, e.Dir, "undo")
	if err != nil {
		return t, err
	}
	defer end()
	t = Taken{Session: e.Session, Root: tree.Root(), Files: []string{}}
	if err := mayWrite(t.Root); err != nil {
		return t, err
	}
	from, to, shared, err := e.states(ctx, tree, store)
	if err != nil {
		return t, err
	}
	defer shared.Close() //nolint:errcheck // the process's end releases it in any case
	changed, err := tree.Changed(ctx, from, to)
	if err != nil {
		return t, err
	}
	t.Nothing = len(changed) == 0
	work, err := tree.Work(ctx, to, from)
	if err != nil {
		return t, err
	}
	if len(work.Conflicts) > 0 && !d.DryRun {
		question := "changed since the run: " + worktree.Names(work.Conflicts) + "; put them back to what they were before it?"
		if err := d.sure(ctx, question); err != nil {
			return t, err
		}
	}
	for _, c := range work.Changes {
		t.Files = append(t.Files, c.Path)
	}
	t.Told = wayWords(work.Left)
	if head := tree.BaseCommit(); head != e.Base {
		t.Head = head
	}
	if len(t.Files) == 0 || d.DryRun {
		t.Changed = work.Conflicts
		return t, nil
	}
	done, err := tree.ApplyPlan(ctx, restore.Plan{Title: "undo of session " + e.Session, Changes: work.Changes})
	t.Kept = done.Dir
	return t, err
}
