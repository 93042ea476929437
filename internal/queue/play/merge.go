package play

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/merge"
	"codeloops/internal/queue/place"
	"codeloops/internal/run/check"
)

// reworks is how often a result that cannot be merged goes back to its task.
const reworks = 2

// Merge merges the result of a task, and ends the job.
func (p *Player) Merge(ctx context.Context, j *board.Job) error {
	move, err := p.merge(ctx, j)
	switch {
	case ctx.Err() != nil && err != nil:
		return context.Cause(ctx) // it comes again
	case board.Unreachable(err) || errors.Is(err, queue.ErrStale):
		return err
	case err != nil:
		move = to(queue.NeedsHuman, p.Board.Now(), "it could not be merged: "+withHint(err))
	}
	return j.End(ctx, move)
}

func (p *Player) merge(ctx context.Context, j *board.Job) (move func(*queue.Record) error, err error) {
	repo, site, merger, err := p.in(ctx, j.Task.Repository)
	if err != nil {
		return nil, err
	}
	if err := p.bring(ctx, &j.Record, repo, site, func(change func(*queue.Record) error) error { return j.Change(ctx, change) }); err != nil {
		return nil, err
	}
	res, err := merger.Merge(ctx, merge.Request{
		Target: j.Task.Target, Head: j.Head, Message: fmt.Sprintf("Merge %s\n\n%s", j.Task.Branch(), message(&j.Record)),
		Bring: site.Bring,
		Check: func(ctx context.Context, dir string) (*merge.Failure, error) {
			return p.check(ctx, &j.Task, repo.Root, dir)
		},
	})
	if err != nil {
		return nil, err
	}
	now := p.Board.Now()
	switch {
	case res.Outcome == merge.Merged:
		if err := p.leave(ctx, site, j, res.Tip); err != nil {
			p.Tell(j.Task.ID, err.Error())
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
		return fmt.Sprintf("the check %q fails on the merged result:\n%s", r.Failure.Check, strings.TrimSpace(r.Failure.Output))
	}
	return fmt.Sprintf("conflicts in %s:\n%s", strings.Join(r.Files, ", "), strings.TrimSpace(end(r.Text)))
}

// Taken reports whether the target of a task contains what waited for it.
func (p *Player) Taken(ctx context.Context, r *queue.Record) (bool, error) {
	repo, err := git.Open(ctx, r.Task.Repository.Root, p.Starter, p.Host.Environ)
	if err != nil {
		return false, err
	}
	tip, ok, err := repo.Commit(ctx, "refs/heads/"+r.Task.Target)
	if err != nil || !ok {
		return false, err
	}
	return repo.Contains(ctx, tip, r.Merge.Commit)
}

// Discard removes the work tree and the branch of a task whatever is on them: that stays at the
// ref that is returned.
func (p *Player) Discard(ctx context.Context, r *queue.Record) (ref string, err error) {
	repo, site, _, err := p.in(ctx, r.Task.Repository)
	if err == nil {
		err = p.bring(ctx, r, repo, site, func(change func(*queue.Record) error) error {
			now, err := p.Board.Change(ctx, r.Task.ID, change)
			if err == nil {
				r.Revision = now.Revision
			}
			return err
		})
	}
	if err != nil {
		return "", err
	}
	all, err := site.List()
	if err != nil {
		return "", err
	}
	for _, one := range all {
		if one.Task == r.Task.ID {
			return one.Discard(ctx)
		}
	}
	return "", nil
}

// leave removes the work tree and the branch of a task that is merged.
func (p *Player) leave(ctx context.Context, site *place.Site, j *board.Job, merged string) error {
	all, err := site.List()
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Task == j.Task.ID {
			return one.Remove(ctx, merged)
		}
	}
	return nil
}

// check runs the checks of a task in a work tree with the merged result.
func (p *Player) check(ctx context.Context, t *queue.Task, root, dir string) (failed *merge.Failure, err error) {
	cfg, err := p.configured(t, root, dir)
	if err != nil || len(cfg.Checks) == 0 {
		return nil, err
	}
	outputs, err := os.MkdirTemp("", "codeloops-checks-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for what checks print: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(outputs)) }()
	checks := &check.Runner{
		Starter: p.Starter, Commands: cfg.Checks, Dir: dir, Env: p.Host.Environ, Outputs: outputs,
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

// configured is the configuration of a task in a work tree.
func (p *Player) configured(t *queue.Task, root, dir string) (*config.Config, error) {
	settings, err := p.settings(t, root, dir)
	if err != nil {
		return nil, err
	}
	o := p.options(dir)
	o.Flags, o.TrustProject = settings.Values(), settings.Trusts()
	return load(o)
}

func load(o config.Options) (*config.Config, error) {
	o.Outputs = agent.Formats()
	return config.Load(o)
}
