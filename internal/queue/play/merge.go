package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/merge"
	"codeloops/internal/queue/place"
	"codeloops/internal/run/check"
)

// reworks is how often a result that cannot be merged goes back to its task.
const reworks = 2

// merge merges the result of a task, and says what becomes of it.
func (g *ground) merge(ctx context.Context, j *board.Job) (move func(*queue.Record) error, err error) {
	if err := g.bring(ctx, &j.Record, func(change func(*queue.Record) error) error { return j.Change(ctx, change) }); err != nil {
		return nil, err
	}
	res, err := g.merger.Merge(ctx, merge.Request{
		Target: j.Task.Target, Head: j.Head, Message: fmt.Sprintf("Merge %s\n\n%s", j.Task.Branch(), message(&j.Record)),
		Bring: g.site.Bring,
		Check: func(ctx context.Context, dir string) (*merge.Failure, error) {
			return g.check(ctx, &j.Task, dir)
		},
	})
	if err != nil {
		return nil, err
	}
	now := g.player.Board.Now()
	switch {
	case res.Outcome == merge.Merged:
		if err := g.leave(j.Task.ID, func(one *place.Place) error { return one.Remove(ctx, res.Tip) }); err != nil {
			g.player.Tell(j.Task.ID, err.Error())
		}
		return func(r *queue.Record) error {
			r.Feedback, r.Merge = "", queue.Merge{Commit: res.Tip, Ref: res.Ref, Take: res.Take}
			return r.Move(queue.Merged, now, "")
		}, nil
	case res.Own:
		return to(queue.NeedsHuman, now, fmt.Sprintf("your own commits on %s do not go with what waits for it; merge them: %s\n%s",
			j.Task.Target, res.Take, said(&res))), nil
	case j.Reworks >= reworks:
		return to(queue.NeedsHuman, now, said(&res)), nil
	}
	return func(r *queue.Record) error {
		r.Reworks++
		r.Feedback, r.Progress.Session = said(&res), ""
		return r.Move(queue.Waiting, now, said(&res))
	}, nil
}

// said says why a result could not be merged.
func said(r *merge.Result) string {
	if r.Outcome == merge.Red && r.Failure != nil {
		output := strings.TrimSpace(r.Failure.Output)
		return fmt.Sprintf("the check %q fails on the merged result:\n%s", r.Failure.Check, cmp.Or(output, "(it printed nothing)"))
	}
	return fmt.Sprintf("conflicts in %s:\n%s", strings.Join(r.Files, ", "), strings.TrimSpace(end(r.Text)))
}

// check runs the checks of a task in a work tree with the merged result, which its setup command
// makes ready for them.
func (g *ground) check(ctx context.Context, t *queue.Task, dir string) (failed *merge.Failure, err error) {
	cfg, err := g.config(t, dir)
	if err != nil || len(cfg.Checks) == 0 {
		return nil, err
	}
	commands := cfg.Checks
	if t.Setup != "" {
		commands = slices.Concat([]string{t.Setup}, commands)
	}
	outputs, err := os.MkdirTemp("", "codeloops-checks-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for what checks print: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(outputs)) }()
	checks := &check.Runner{
		Starter: g.player.Starter, Commands: commands, Dir: dir, Env: g.player.Host.Environ, Outputs: outputs,
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

// end is the end of what a check has printed, as much as feedback should have.
func end(text string) string {
	const most = 4 << 10
	if len(text) <= most {
		return text
	}
	_, text, _ = strings.Cut(text[len(text)-most:], "\n")
	return text
}
