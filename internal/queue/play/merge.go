package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/merge"
	"codeloops/internal/queue/place"
	"codeloops/internal/run/check"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// reworks is how often a result that cannot be merged is sent back.
const reworks = 2

// merge merges a task's result, and returns the change of its record.
func (g *ground) merge(ctx context.Context, j *board.Job) (move func(*queue.Record) error, err error) {
	if err := g.bring(ctx, &j.Record, j.Change); err != nil {
		return nil, err
	}
	list, err := g.trackedList(ctx, &j.Task)
	if err != nil {
		return nil, err
	}
	request := merge.Request{
		Target: j.Task.Target, Head: j.Head, Base: j.Base, Message: fmt.Sprintf("Merge %s\n\n%s", j.Task.Branch(), message(&j.Record)),
		Bring: g.site.Bring,
		Check: func(ctx context.Context, dir string) (*merge.Failure, error) { return g.check(ctx, &j.Task, dir) },
		Tell:  func(sentence string) { g.player.Tell(j.Task.ID, sentence) },
	}
	if list != nil {
		request.Amend = list.tick
	}
	res, err := g.merger.Merge(ctx, request)
	if err != nil {
		return nil, err
	}
	now := g.player.Board.Now()
	gone := g.gone(ctx, j, &res)
	switch {
	case res.Outcome == merge.Merged:
		return g.merged(ctx, j, list, &res, gone)
	case res.Outcome == merge.BringsBack && res.UserCommits:
		return to(queue.NeedsHuman, now, fmt.Sprintf("what waits for %s is based on %s: nothing is merged into it, so that nothing you removed comes back. "+
			"Take it all (%s), and undo what you do not want with git revert; then codeloops queue retry %s\n%s",
			j.Task.Target, gone, res.Take, j.Task.ID, said(&res))), nil
	case res.Outcome == merge.BringsBack:
		return to(queue.NeedsHuman, now, fmt.Sprintf("it is based on %s: it is not merged, so that nothing you removed comes back. "+
			"Merge the branch %s by hand, and undo what you do not want with git revert",
			cmp.Or(gone, "commits that "+j.Task.Target+" no longer has"), j.Task.Branch())), nil
	case res.UserCommits:
		return to(queue.NeedsHuman, now, fmt.Sprintf("your own commits on %s cannot be merged with what waits for it; do it by hand: %s\n%s",
			j.Task.Target, res.Take, said(&res))), nil
	case res.Partial && res.Outcome == merge.Conflict && gone != "":
		return to(queue.NeedsHuman, now, fmt.Sprintf("it is based on %s, and conflicts with %s without them; merge what you want of the branch %s by hand\n%s",
			gone, j.Task.Target, j.Task.Branch(), said(&res))), nil
	}
	return rework(now, said(&res)), nil
}

// merged takes leave of a task whose result was merged, and returns the change of its record.
func (g *ground) merged(ctx context.Context, j *board.Job, list *trackedList, res *merge.Result, gone string) (move func(*queue.Record) error, err error) {
	ticked := false
	if list != nil {
		if ticked, err = list.has(ctx, res.Tip); err != nil {
			return nil, err
		}
	}
	why := strings.TrimSuffix("without "+gone, "without ")
	err = g.leave(j.Task.ID, func(one *place.Place) error {
		if len(j.Beside) == 0 {
			return g.settled(ctx, one, res)
		}
		kept := besides(&j.Record) + ", so its work tree is kept: " + one.Dir
		g.player.Tell(j.Task.ID, kept)
		why = strings.TrimPrefix(why+"; "+kept, "; ")
		return nil
	})
	if err != nil && ctx.Err() != nil {
		return nil, err // the next merger finds it merged, and removes what is left
	}
	if err != nil {
		g.player.Tell(j.Task.ID, hint.Sentence(err))
	}
	return func(r *queue.Record) error {
		r.Feedback, r.Merge = "", queue.Merge{Commit: res.Tip, Ref: res.Ref, Take: res.Take, Ticked: ticked}
		return r.Move(queue.Merged, g.player.Board.Now(), why)
	}, nil
}

// rework sends a result back to its task, or to a person after too many times.
func rework(now time.Time, why string) func(*queue.Record) error {
	return func(r *queue.Record) error {
		if r.Reworks >= reworks {
			return r.Move(queue.NeedsHuman, now, why)
		}
		r.Reworks++
		r.Feedback, r.Progress.Session = why, ""
		return r.Move(queue.Waiting, now, why)
	}
}

// settled removes the work tree of a merged task. A branch that was not merged as a whole is kept at a ref.
func (g *ground) settled(ctx context.Context, one *place.Place, res *merge.Result) error {
	if !res.Partial {
		return one.Remove(ctx, res.Tip)
	}
	ref, err := one.Discard(ctx)
	if ref != "" {
		g.player.Tell(one.Task, "its branch is kept at "+ref)
	}
	return err
}

// gone lists, for people, the commits that were removed from the target and stay out; "" is none. It also marks
// the tasks whose merges were removed.
func (g *ground) gone(ctx context.Context, j *board.Job, res *merge.Result) string {
	if len(res.Removed) == 0 {
		return ""
	}
	names, gone := make([]string, len(res.Removed)), map[string]bool{}
	for i, c := range res.Removed {
		names[i], gone[c.ID] = c.String(), true
	}
	all, err := g.player.Board.All(ctx)
	for id, r := range all {
		if err != nil || r.State != queue.Merged || r.Task.Repository != j.Task.Repository || r.Task.Target != j.Task.Target || !gone[r.Head] {
			continue
		}
		_, err = g.player.Board.Change(ctx, id, func(r *queue.Record) error {
			if why := r.Task.Target + " no longer has the commit of its merge"; r.Why != why {
				r.Why, r.Merge.Take = why, ""
				r.Note(g.player.Board.Now(), why)
			}
			return nil
		})
	}
	if err != nil { // the merge is done in any case
		g.player.Tell(j.Task.ID, err.Error())
	}
	return fmt.Sprintf("commits that %s no longer has: %s", j.Task.Target, wording.List(names, 5))
}

// said says why a result could not be merged.
func said(r *merge.Result) string {
	if r.Failure != nil {
		output := strings.TrimSpace(r.Failure.Output)
		return fmt.Sprintf("the check %q fails on the merged result:\n%s", r.Failure.Check, cmp.Or(output, "(it printed nothing)"))
	}
	return fmt.Sprintf("conflicts in %s:\n%s", strings.Join(r.Files, ", "), strings.TrimSpace(end(r.Text)))
}

// check runs the setup command and the checks of a task on the merged result.
func (g *ground) check(ctx context.Context, t *queue.Task, dir string) (failed *merge.Failure, err error) {
	settings, err := settings(t)
	if err != nil {
		return nil, err
	}
	cfg, err := g.player.configured(dir, t, settings)
	if err != nil || len(cfg.Checks) == 0 {
		return nil, err
	}
	commands := cfg.Checks
	if t.Setup != "" {
		commands = slices.Concat([]string{t.Setup}, commands)
	}
	if dir, err = place.Enter(dir, t.Dir); err != nil {
		return nil, err
	}
	outputs, err := os.MkdirTemp("", "codeloops-checks-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for what checks print: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(outputs)) }()
	checks := &check.Runner{
		Starter: g.player.Starter, Commands: commands, Dir: dir, Env: config.Environment(g.player.Host.Environ, cfg.EnvPass), Outputs: outputs,
		Timeout: cfg.CheckTimeout, Keep: int64(cfg.LogOutput), Max: int64(cfg.MaxOutput),
	}
	for result, err := range checks.Check(ctx, loop.Step("0")) {
		if err != nil {
			return nil, err
		}
		if !result.Passed() {
			return &merge.Failure{Check: result.Command, Output: end(result.Output.Text)}, nil
		}
	}
	return nil, nil
}

// end returns the end of a check's output, in the length that feedback should have.
func end(text string) string {
	const most = 4 << 10
	if len(text) <= most {
		return text
	}
	_, text, _ = strings.Cut(text[len(text)-most:], "\n")
	return text
}
