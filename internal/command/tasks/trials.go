package tasks

import (
	"context"
	"errors"
	"fmt"

	"codeloops/internal/config"
	"codeloops/internal/eval/trial"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/hub"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Trials plays trials through a queue of their own in a directory, several at once, until each has ended. Those that it has
// from an earlier call go on where they were. It returns how they ended, by their directories.
func (q *Access) Trials(ctx context.Context, dir string, jobs int, all []trial.Trial, ended func(done, of int)) (ends map[string]trial.End, err error) {
	home, err := hub.Open(dir)
	if err != nil {
		return nil, err
	}
	link, err := home.Share(ctx)
	if err != nil {
		return nil, err
	}
	b, err := q.through(ctx, home, link, config.Queue{Replicas: 1, Merge: "never"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	ids := map[string]string{}
	for _, one := range all {
		if ids[one.Dir], err = b.try(ctx, one); err != nil {
			return nil, fmt.Errorf("begin the trial %s: %w", one.Name, err)
		}
	}
	s, err := b.begin(ctx, jobs)
	if err != nil {
		return nil, err
	}
	defer s.end()
	s.worker.Until = func(known queue.Backlog) bool {
		left := 0
		for _, r := range known {
			if known.Pending(r) {
				left++
			}
		}
		ended(len(known)-left, len(known))
		return left == 0
	}
	if err := s.worker.Run(ctx); err != nil {
		return nil, hint.Add(err, "the same command carries on")
	}
	known, err := b.on.All(ctx)
	ends = map[string]trial.End{}
	for _, one := range all {
		if r := known[ids[one.Dir]]; r != nil {
			ends[one.Dir] = trial.End{Done: r.Done(), Commit: r.Head, Why: wording.Line(r.Why), Task: r.Task.ID}
		}
	}
	return ends, err
}

// try adds a trial, unless it is there.
func (b *backlog) try(ctx context.Context, one trial.Trial) (id string, err error) {
	there, console := *b, *b.Console
	access := *b.Access
	console.Dir, access.Console, there.Access = one.Dir, &console, &access
	there.at = func() (*git.Repository, error) { return git.Open(one.Dir, b.Environ) }
	o := &taskOptions{unmerged: true}
	t, err := o.task(ctx, &there, append([]loop.Flag{{Name: "trust-project", Values: []string{"true"}}}, one.Flags...))
	if err != nil {
		return "", err
	}
	if o.lack != nil {
		return "", o.lack
	}
	t.Prompt = one.Prompt
	t.Name()
	all, err := b.on.All(ctx)
	if err != nil || all[t.ID] != nil {
		return t.ID, err
	}
	_, err = b.on.Add(ctx, t)
	return t.ID, err
}
