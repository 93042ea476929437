package play

import (
	"context"
	"errors"
	"fmt"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/run"
	"codeloops/internal/session"
)

// run plays the session of a task, or carries on the one that an earlier attempt has begun.
func (p *Player) run(ctx context.Context, j *board.Job, at *post, dir string, settings run.Settings) (out loop.Outcome, err error) {
	if at.toll, err = newToll(ctx, j, p.Host.Now); err != nil {
		return out, err
	}
	h := *p.Host
	h.Dir = dir
	o := run.Options{
		Host: &h, Version: p.Version, Task: j.Task.ID, Prompt: prompt(&j.Record), Settings: settings,
		Around: at.toll.around, MaxWait: mostWait,
		User: run.User{Alone: true, Tell: func(sentence string) { p.Tell(j.Task.ID, sentence) }},
	}
	plan, done, err := p.plan(ctx, o, j, at.moved)
	if done != nil || err != nil {
		if done != nil {
			out = *done
		}
		return out, err
	}
	defer plan.Close() //nolint:errcheck // what was written has been told
	defer p.register(plan.Control())()
	told := newReporter(ctx, j, plan)
	defer told.close()
	live := newTeller(ctx, p.Conn, j.Task.ID, plan)
	defer live.close()
	sinks := []loop.Sink{told, live}
	if at.ship != nil {
		at.ship.plan = plan
		sinks = append(sinks, at.ship)
	}
	if p.Show != nil {
		sinks = append(sinks, p.Show(j)...)
	}
	out, err = plan.Run(ctx, sinks...)
	if _, held := errors.AsType[*session.HeldError](err); held {
		return out, err
	}
	if out.Result == "" || out.Result == loop.Success {
		return out, err
	}
	if err != nil {
		out.Summary = withHint(err)
	}
	return out, nil
}

// plan is that of the session of an earlier attempt, if there is one that goes on, or else of a
// new one. done is its outcome where nothing is left to do.
func (p *Player) plan(ctx context.Context, o run.Options, j *board.Job, moved bool) (plan *run.Plan, done *loop.Outcome, err error) {
	one, logs, err := p.earlier(o, j.Progress.Session)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case one.Outcome != nil && one.Outcome.Result == loop.Success:
		return nil, one.Outcome, nil
	case one.Session.Checkpoint == "": // there is none, or nothing had been done in it
		plan, err = run.Prepare(ctx, o)
		return plan, nil, err
	}
	if o.Settings, err = more(o.Settings, &one, j); err != nil {
		return nil, nil, err
	}
	plan, err = run.Resume(ctx, o, run.Earlier{ID: one.ID, Logs: logs, Trusted: true, AcceptChanges: true, Moved: moved})
	return plan, nil, err
}

// earlier is the session of an earlier attempt, as far as it can be read.
func (p *Player) earlier(o run.Options, id string) (one session.Overview, logs string, err error) {
	if id == "" {
		return one, "", nil
	}
	if logs, err = p.logs(o); err != nil {
		return one, "", err
	}
	store, err := session.NewStore(logs)
	if err != nil {
		return one, "", err
	}
	if found := session.Look(store.Path(id)); found.Err == nil { // else it is gone, and a new one begins
		one = found
	}
	return one, logs, nil
}

// logs is the directory of the session logs.
func (p *Player) logs(o run.Options) (string, error) {
	c := p.options(o.Host.Dir)
	c.Flags, c.TrustProject = o.Settings.Values(), o.Settings.Trusts()
	cfg, err := load(c)
	if err != nil {
		return "", err
	}
	return cfg.Sessions()
}

// prompt is what the session of a task is about.
func prompt(r *queue.Record) string {
	if r.Feedback == "" {
		return r.Task.Prompt
	}
	return fmt.Sprintf(`The task below has been worked on, and its result is in this work tree. It could not
be merged into %s, which has moved on meanwhile; what %[1]s has by now has been merged
into this work tree.

What is wrong:

%[2]s

Mend that, so that the task stays done and what %[1]s has stays whole.

The task:

%[3]s`, r.Task.Target, r.Feedback, r.Task.Prompt)
}
