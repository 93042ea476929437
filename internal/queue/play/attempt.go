package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/merge"
	"codeloops/internal/queue/place"
	"codeloops/internal/run/worktree"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// An attempt is one attempt at a task, at home or on another machine.
type attempt struct {
	player *Player
	job    *board.Job
	site   *place.Site
	onto   func(context.Context) (string, error) // the current commit of its target
	flags  []string                              // of its run, beside those of the task
	moved  bool                                  // the last attempt was on another machine
	merger *merge.Merger                         // knows the target; nil away, where agents cannot reach that
	upload *upload                               // sends the work home; nil at home

	gate   *budgetGate // of the run
	beside []string    // work of the run that git ignores
	words  string      // what was wrong at the end of the run

	head      string // the result; "" is none
	conflicts error  // that are left in it
	others    string // how others have moved the target meanwhile
}

// make runs the attempt, and returns the change of the task's record.
func (a *attempt) make(ctx context.Context) (move func(*queue.Record) error, err error) {
	if err := a.catchUp(ctx); err != nil {
		return nil, err
	}
	here, err := a.place(ctx)
	if err != nil {
		return nil, err
	}
	var seen merge.Position
	if a.merger != nil {
		if seen, err = a.merger.Look(ctx, a.job.Task.Target); err != nil {
			return nil, err
		}
	}
	out, log, err := a.run(ctx, here)
	if err != nil {
		return nil, err
	}
	if out.Result == loop.Success {
		if err := a.commit(context.WithoutCancel(ctx), here, log, seen); err != nil {
			return nil, err
		}
	}
	if a.upload != nil {
		if err := a.upload.last(ctx, a.head); err != nil {
			return nil, err
		}
	}
	return a.move(out), nil
}

// commit makes the result of a run that was approved.
func (a *attempt) commit(ctx context.Context, here *place.Place, log string, seen merge.Position) error {
	approved, err := judged(log, a.site.Repository())
	if err != nil {
		return err
	}
	a.head, err = here.Commit(ctx, message(&a.job.Record), approved)
	if errors.Is(err, place.ErrConflicts) {
		a.conflicts = err
		return nil
	}
	if err == nil && a.merger != nil {
		a.others, err = a.merger.Moved(ctx, seen)
	}
	return err
}

// move returns the change of the record after a run.
func (a *attempt) move(out loop.Outcome) func(*queue.Record) error {
	return func(r *queue.Record) error {
		if a.conflicts != nil {
			return rework(a.player.Board.Now(), hint.Sentence(a.conflicts), false)(r)
		}
		r.Moved = a.others
		err := a.outcome(out)(r)
		if len(a.beside) > 0 {
			r.Beside = slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.Beside, a.beside))))
			r.Note(r.Since, besides(r))
		}
		return err
	}
}

// besides says, for people, which work of a task git ignores.
func besides(r *queue.Record) string {
	names := make([]string, len(r.Beside))
	for i, name := range r.Beside {
		names[i] = wording.Path(name)
	}
	return "git ignores what it wrote to " + wording.List(names, 5) + ": no commit has it"
}

// catchUp bases a result that could not be merged on the current target, whose work tree then has both.
func (a *attempt) catchUp(ctx context.Context) error {
	j := a.job
	if j.Feedback == "" || j.Head == "" {
		return nil
	}
	if _, store, err := a.earlier(a.site.Dir(j.Task.ID)); err != nil || store != nil {
		return err
	}
	tip, err := a.onto(ctx)
	if err != nil || tip == j.Base {
		return err
	}
	if has, err := a.site.Repository().Contains(ctx, tip, j.Base); err != nil || !has {
		return err // the merge will say so
	}
	return j.Change(ctx, func(r *queue.Record) error { r.Base = tip; return nil })
}

// outcome returns the change of the record after a run.
func (a *attempt) outcome(out loop.Outcome) func(*queue.Record) error {
	now := a.player.Board.Now()
	if back := a.gate.back(out, now); back != nil {
		return back
	}
	switch out.Result {
	case loop.Success:
		return func(r *queue.Record) error { return r.Finish(a.head, now, out.Summary) }
	case loop.Interrupted:
		return to(queue.Waiting, now, "interrupted")
	case loop.MaxIterations, loop.BudgetExhausted, loop.Failed:
	}
	if out.Reason == loop.StopPolicyEscalation {
		return to(queue.NeedsHuman, now, fmt.Sprintf("%s: %s (codeloops queue retry %s \"…\" answers)", words.Stop(out.Reason), out.Summary, a.job.Task.ID))
	}
	why := words.Outcome(string(out.Result))
	if out.Bounded() {
		why = words.End(out)
	}
	switch {
	case out.Result == loop.Failed && out.Summary != "":
		why = out.Summary // the state implies the rest
	case out.Summary != "":
		why += ": " + out.Summary
	}
	if a.words != "" && !strings.Contains(a.words, out.Summary) || out.Summary == "" {
		why = strings.Trim(strings.TrimSuffix(why, ".")+"; "+a.words, "; ")
	}
	return to(queue.Failed, now, why)
}

// place opens the task's work tree. The first attempt begins at the current target. If the work tree is gone while
// its session goes on, it is restored from the last checkpoint.
func (a *attempt) place(ctx context.Context) (*place.Place, error) {
	j := a.job
	if j.Base == "" {
		base, err := a.onto(ctx)
		if err != nil {
			return nil, err
		}
		if err := j.Change(ctx, func(r *queue.Record) error { r.Base = base; return nil }); err != nil {
			return nil, err
		}
	}
	if err := held(a.player.Host, a.site.Dir(j.Task.ID)); err != nil {
		return nil, err
	}
	return a.site.Open(ctx, place.Task{
		Name: j.Task.ID, Base: j.Base, Head: j.Head, Dir: j.Task.Dir, Setup: j.Task.Setup, Fill: a.restore,
	})
}

// restore restores a work tree from the last checkpoint of an earlier session, if there is one. If later work is lost
// with the old work tree, the session is abandoned, as it would not do that work again.
func (a *attempt) restore(ctx context.Context, dir string) error {
	one, store, err := a.earlier(dir)
	if err != nil || store == nil {
		return err
	}
	var settled session.Settled
	if err := settled.Read(one.Path); err != nil || settled.Checkpoint == "" {
		return err
	}
	if settled.Lacks {
		a.player.Tell(a.job.Task.ID, "its work tree is gone, and the work in it: it starts over")
		return a.job.Change(ctx, func(r *queue.Record) error { r.Progress.Session = ""; return nil })
	}
	h := *a.player.Host
	h.Dir = dir
	tree, err := worktree.Open(ctx, &h, dir, func(string) {})
	if err != nil {
		return err
	}
	defer tree.Close() //nolint:errcheck // it was only read
	shared, err := tree.RecallFrom(ctx, store, settled.Session.Checkpoints)
	if err != nil {
		return err
	}
	defer shared.Close()                                //nolint:errcheck // a lock, which the system releases
	kept, done, err := a.player.tempDirs().room("kept") // the replaced files are not needed
	if err != nil {
		return err
	}
	defer done()
	tree.Aside = kept
	tree.Begin(one.ID)
	return tree.Restore(ctx, settled.Checkpoint)
}

// message is the commit message for a task's result.
func message(r *queue.Record) string {
	return fmt.Sprintf("%s\n\nTask: %s\nSession: %s\n", r.Task.Title(), r.Task.ID, r.Progress.Session)
}
