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
	"codeloops/internal/forge"
	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/merge"
	"codeloops/internal/queue/place"
	"codeloops/internal/run/check"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// reworks is how often a result is sent back whose checks fail on the merge, or that leaves conflicts unresolved.
const reworks = 2

// merge merges a task's result, and returns the change of its record.
func (g *ground) merge(ctx context.Context, j *board.Job) (move func(*queue.Record) error, err error) {
	if err := g.bring(ctx, &j.Record, j.Change); err != nil {
		return nil, err
	}
	if j.Task.Request && j.Accepted != j.Head {
		return g.request(ctx, j)
	}
	list, err := g.trackedList(ctx, &j.Task)
	if err != nil {
		return nil, err
	}
	cfg, err := g.player.configured(g.repo.Root, &j.Task)
	if err != nil {
		return nil, err
	}
	var notes []string
	request := merge.Request{
		Target: j.Task.Target, Head: j.Head, Base: j.Base, Message: message(&j.Record), Squash: j.Task.Squash, Mark: mark(&j.Task), Since: j.Task.Added,
		Tell: func(sentence string) {
			g.player.Tell(j.Task.ID, sentence)
			notes = append(notes, sentence)
		},
	}
	if !request.Squash {
		request.Message = fmt.Sprintf("Merge %s\n\n%s", j.Task.Branch(), request.Message)
	}
	if list != nil {
		request.Amend = list.tick
	}
	if len(cfg.Checks) > 0 {
		request.Check = func(ctx context.Context, dir string) (*merge.Failure, error) { return g.check(ctx, cfg, &j.Task, dir) }
	}
	res, err := g.merger.Merge(ctx, request)
	if err != nil {
		return nil, err
	}
	now := g.player.Board.Now()
	switch {
	case res.Outcome == merge.Merged:
		return g.merged(ctx, j, list, &res, notes)
	case res.UserCommits:
		return to(queue.NeedsHuman, now, fmt.Sprintf("your own commits on %s cannot be merged with what waits for it: git merge %s, and resolve them there; then codeloops queue retry goes on\n%s",
			j.Task.Target, res.Ref, said(&res))), nil
	}
	return rework(now, said(&res), res.Outcome == merge.Conflict), nil
}

// mark is the line that names a task in the message of its merge. One that was removed and added again has another.
func mark(t *queue.Task) string {
	return "Merge-Of: " + t.ID + " " + t.Added.UTC().Format(time.RFC3339Nano)
}

// mergedError says that a task was merged before its record says so: the hub's store is from a backup.
type mergedError struct{ commit string }

func (e *mergedError) Error() string { return fmt.Sprintf("it was merged before, as %.12s", e.commit) }

// look looks at the target of a task. The error is a [mergedError] if that names it.
func (g *ground) look(ctx context.Context, t *queue.Task) (merge.Position, error) {
	seen, err := g.merger.Look(ctx, t.Target)
	if err != nil {
		return seen, err
	}
	commit, err := g.merger.Named(ctx, seen, mark(t), t.Added)
	if err == nil && commit != "" {
		err = &mergedError{commit}
	}
	return seen, err
}

// request has the result merged where its pull request is.
func (g *ground) request(ctx context.Context, j *board.Job) (move func(*queue.Record) error, err error) {
	at, err := g.player.Request(ctx, &j.Record)
	if err != nil {
		return nil, err
	}
	if at.State == forge.Merged {
		return g.merged(ctx, j, nil, &merge.Result{Outcome: merge.Merged, Ref: at.URL, Tip: at.Commit}, []string{"merged there: " + at.URL})
	}
	return func(r *queue.Record) error {
		r.Request = at.URL
		return r.Move(queue.NeedsHuman, g.player.Board.Now(), fmt.Sprintf("its pull request is %s: %s; codeloops queue run looks at it again", at.State, at.URL))
	}, nil
}

// merged takes leave of a task whose result was merged, and returns the change of its record.
func (g *ground) merged(ctx context.Context, j *board.Job, list *trackedList, res *merge.Result, notes []string) (move func(*queue.Record) error, err error) {
	ticked := false
	if list != nil {
		if ticked, err = list.has(ctx, res.Tip); err != nil {
			return nil, err
		}
	}
	said := ""
	if len(j.Beside) > 0 {
		said = besides(&j.Record) + ", so its work tree is kept: " + g.site.Dir(j.Task.ID)
		err = g.unhold(ctx, j.Task.ID)
	} else if said, err = g.discard(ctx, j.Task.ID, j.Head); said != "" {
		said = "what it has left beside its result is kept at " + said
	}
	if said != "" {
		g.player.Tell(j.Task.ID, said)
		notes = append(notes, said)
	}
	if err != nil && ctx.Err() != nil {
		return nil, err // the next merger finds it merged, and removes what is left
	}
	if err != nil {
		g.player.Tell(j.Task.ID, hint.Sentence(err))
	}
	return func(r *queue.Record) error {
		r.Feedback, r.Merge = "", queue.Merge{Commit: res.Tip, Ref: res.Ref, Ticked: ticked}
		if res.Waits {
			r.Merge.Take = takeCommand(&r.Task)
		}
		return r.Move(queue.Merged, g.player.Board.Now(), strings.Join(notes, "; "))
	}, nil
}

// takeCommand is the command that takes what is merged for a task's target.
func takeCommand(t *queue.Task) string { return "codeloops queue take " + wording.Shell(t.Target) }

// rework sends a result back to its task, or to a person after too many times. A conflict with what was merged meanwhile is
// no failure of the task's.
func rework(now time.Time, why string, conflict bool) func(*queue.Record) error {
	return func(r *queue.Record) error {
		if r.Reworks >= reworks && !conflict {
			return r.Move(queue.NeedsHuman, now, why)
		}
		if !conflict {
			r.Reworks++
		}
		r.Feedback, r.Progress.Session = why, ""
		return r.Move(queue.Waiting, now, why)
	}
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
func (g *ground) check(ctx context.Context, cfg *config.Config, t *queue.Task, dir string) (failed *merge.Failure, err error) {
	commands := cfg.Checks
	if t.Setup != "" {
		commands = slices.Concat([]string{t.Setup}, commands)
	}
	if _, err := g.site.Bring(ctx, dir); err != nil {
		return nil, err
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
func end(text string) string { return prompt.Clip(text, 4<<10, 0) }
