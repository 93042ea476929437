package play

import (
	"context"
	"errors"
	"fmt"

	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/run"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// run plays the session of a task, or resumes that of an earlier attempt.
func (a *attempt) run(ctx context.Context, dir string, settings run.Settings) (out loop.Outcome, err error) {
	p, j, task := a.player, a.job, a.job.Task.ID // the record may change concurrently
	a.gate = p.budgetGate(j)
	h := *p.Host
	h.Dir = dir
	o := run.Options{
		Host: &h, Version: p.Version, Task: task, Prompt: prompt(&j.Record), Settings: settings,
		Around: a.gate.around, MaxWait: mostWait,
		User: run.User{Alone: true, Tell: func(sentence string) { p.Tell(task, sentence) }},
	}
	plan, done, err := a.plan(ctx, o)
	if done != nil || err != nil {
		if done != nil {
			out = *done
		}
		return out, err
	}
	defer plan.Close() //nolint:errcheck // every line is synced already
	if p.Killed != nil {
		defer context.AfterFunc(p.Killed, plan.Control().Kill)() //nolint:contextcheck // the run's own ends it gently
	}
	told := newReporter(ctx, j, plan)
	defer told.close()
	live := newTeller(ctx, p.Conn, task, plan)
	defer live.close()
	sinks := []loop.Sink{told, live}
	if a.upload != nil {
		sinks = append(sinks, &shipper{upload: a.upload, plan: plan, ctx: ctx})
	}
	out, err = plan.Run(ctx, sinks...)
	if _, held := errors.AsType[*session.HeldError](err); held || session.DiskFull(err) {
		return out, err
	}
	if out.Result == "" || out.Result == loop.Success {
		return out, err
	}
	if err != nil {
		out.Summary = hint.Sentence(err)
	}
	return out, nil
}

// plan resumes the session of an earlier attempt if possible, or else plans a new one. done is its outcome where
// it has already succeeded.
func (a *attempt) plan(ctx context.Context, o run.Options) (plan *run.Plan, done *loop.Outcome, err error) {
	one, store, err := a.earlier(o.Host.Dir)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case one.Outcome != nil && one.Outcome.Result == loop.Success:
		return nil, one.Outcome, nil
	case one.Session.Checkpoint == "", // no session, or nothing done in it
		one.Outcome != nil && one.Outcome.Final(): // it would end the same way again
		plan, err = run.Prepare(ctx, o)
		return plan, nil, err
	}
	if o.Settings, err = more(o.Settings, &one, a.job); err != nil {
		return nil, nil, err
	}
	plan, err = run.Resume(ctx, o, run.Earlier{ID: one.ID, Logs: store.Dir(), Trusted: true, AcceptChanges: true, Moved: a.moved})
	return plan, nil, err
}

// earlier reads the session of an earlier attempt in a work tree; store is nil if there is none.
func (a *attempt) earlier(tree string) (one session.Overview, store *session.Store, err error) {
	id := a.job.Progress.Session
	if id == "" {
		return one, nil, nil
	}
	settings, err := a.settings(tree)
	if err == nil {
		store, err = sessionsOf(a.player.Host, tree, settings)
	}
	if err != nil {
		return one, nil, err
	}
	if one = session.Look(store.Path(id)); one.Err == nil {
		return one, store, nil
	}
	return session.Overview{}, nil, nil // it is gone, and a new one begins
}

// sessionsOf returns the store of the sessions of runs in a work tree.
func sessionsOf(h *host.Host, tree string, s run.Settings) (*session.Store, error) {
	cfg, err := configured(h, tree, s)
	if err != nil {
		return nil, err
	}
	dir, err := cfg.Sessions()
	if err != nil {
		return nil, err
	}
	return session.NewStore(dir)
}

// configured loads the configuration of a run in a work tree.
func configured(h *host.Host, tree string, s run.Settings) (*config.Config, error) {
	o := options(h, tree)
	o.Flags, o.TrustProject = s.Values(), s.Trusts()
	return config.Load(o)
}

// more allows a session that has used up its iterations some more, as the user has asked to retry it.
func more(s run.Settings, one *session.Overview, j *board.Job) (run.Settings, error) {
	if one.Outcome == nil || one.Outcome.Result != loop.MaxIterations {
		return s, nil
	}
	return settings(&j.Task, s.Trusts(), fmt.Sprintf("max-iterations=%d", one.Outcome.Iterations+run.MoreIterations))
}

// prompt is the prompt of a task's session.
func prompt(r *queue.Record) string {
	if r.Feedback == "" {
		return r.Task.Prompt
	}
	return fmt.Sprintf(`The task below has been worked on, and its result is in this work tree. It could not
be merged into %s, which has changed meanwhile; the current %[1]s has been merged into
this work tree.

What is wrong:

%[2]s

Fix that. Keep the task done, and keep everything that comes from %[1]s working.

The task:

%[3]s`, r.Task.Target, r.Feedback, r.Task.Prompt)
}
