package play

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/place"
	"codeloops/internal/run"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// run plays the session of a task, or resumes that of an earlier attempt. It also returns the path of the log.
func (a *attempt) run(ctx context.Context, here *place.Place) (out loop.Outcome, log string, err error) {
	p, j, task := a.player, a.job, a.job.Task.ID // the record may change concurrently
	a.gate = &budgetGate{player: p, job: j, of: j.Task.Repository}
	settings, err := settings(&j.Task, a.flags...)
	if err != nil {
		return out, "", err
	}
	global, err := p.global(&j.Task)
	if err != nil {
		return out, "", err
	}
	h := *p.Host
	if h.Dir, err = place.Enter(here.Dir, j.Task.Dir); err != nil {
		return out, "", err
	}
	o := run.Options{
		Host: &h, Version: p.Version, Task: task, Prompt: promptOf(&j.Record), Words: j.Words, Settings: settings, Project: j.Task.Project, Global: global,
		Around: a.gate.around, MaxWait: mostWait,
		User: run.User{Alone: true, Tell: func(sentence string) { p.Tell(task, sentence) }},
	}
	plan, done, err := a.plan(ctx, here, o)
	if err != nil {
		return out, "", err
	}
	if done != nil {
		return *done.Outcome, done.Path, nil
	}
	defer plan.Close() //nolint:errcheck // every line is synced already
	if p.Killed != nil {
		defer context.AfterFunc(p.Killed, plan.Control().Kill)() //nolint:contextcheck // the run's own ends it gently
	}
	told := newReporter(ctx, j, plan, func(sentence string) { p.Tell(task, sentence) })
	defer told.close()
	live := newTeller(ctx, p.Conn, task, h.Data("locks"), plan)
	defer live.close()
	sinks := []loop.Sink{told, live}
	if a.upload != nil {
		a.upload.plan, a.upload.ctx = plan, ctx
		sinks = append(sinks, a.upload)
	}
	began := h.Now()
	out, err = plan.Run(ctx, sinks...)
	a.beside = plan.Beside(context.WithoutCancel(ctx), began)
	if _, held := errors.AsType[*session.HeldError](err); held || session.DiskFull(err) {
		return out, "", err
	}
	a.words = told.lastWords()
	if out.Result == "" || out.Result == loop.Success {
		return out, plan.Log(), err
	}
	if err != nil {
		out.Summary = hint.Sentence(err)
	}
	return out, plan.Log(), nil
}

// judged returns what the critic of a successful session has approved.
func judged(log string, of *git.Repo) (*place.Judged, error) {
	var settled session.Settled
	if err := settled.Read(log); err != nil {
		return nil, err
	}
	store, err := session.NewStore(filepath.Dir(log))
	if err != nil {
		return nil, err
	}
	j := &place.Judged{Start: settled.Session.Checkpoint, End: settled.Checkpoint}
	for _, name := range []string{settled.Session.Checkpoints, session.CheckpointsFor(of.CommonDir)} {
		if dir := store.Checkpoints(name); dir != "" {
			j.Objects = append(j.Objects, filepath.Join(dir, "objects"))
		}
	}
	return j, nil
}

// plan resumes the session of an earlier attempt if possible, or else plans a new one. done is the session where
// it has already succeeded.
func (a *attempt) plan(ctx context.Context, here *place.Place, o run.Options) (plan *run.Plan, done *session.Overview, err error) {
	one, store, err := a.earlier(here.Dir)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case one.Outcome != nil && one.Outcome.Result == loop.Success:
		return nil, &one, nil
	case one.Session.Checkpoint == "", // no session, or nothing done in it
		one.Outcome != nil && one.Outcome.Final(): // it would end the same way again
		if !here.Fresh() { // the critic sees what an earlier session has left
			o.Since = here.Start()
		}
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
	if store, err = a.player.sessions(tree, &a.job.Task, a.flags...); err != nil {
		return one, nil, err
	}
	if one = session.Look(store.Path(id)); one.Err == nil {
		return one, store, nil
	}
	return session.Overview{}, nil, nil // it is gone, and a new one begins
}

// sessions returns the store of the sessions of a task's runs in a work tree.
func (p *Player) sessions(tree string, t *queue.Task, flags ...string) (*session.Store, error) {
	cfg, err := p.configured(tree, t, flags...)
	if err != nil {
		return nil, err
	}
	dir, err := cfg.Sessions()
	if err != nil {
		return nil, err
	}
	return session.NewStore(dir)
}

// configured loads the configuration of a task in a work tree.
func (p *Player) configured(tree string, t *queue.Task, flags ...string) (*config.Config, error) {
	s, err := settings(t, flags...)
	if err != nil {
		return nil, err
	}
	global, err := p.global(t)
	if err != nil {
		return nil, err
	}
	h := p.Host
	return config.Load(config.Options{
		Env: h.Environ, Home: h.Home(), WorkingDir: within(tree, t), RepositoryRoot: tree, Project: t.Project, Global: global,
		Flags: s.Values(), TrustProject: s.Trusts(),
	})
}

// more allows a session that has used up its iterations some more, as the user has asked to retry it.
func more(s run.Settings, one *session.Overview, j *board.Job) (run.Settings, error) {
	if one.Outcome == nil || one.Outcome.Result != loop.MaxIterations {
		return s, nil
	}
	return settings(&j.Task, fmt.Sprintf("max-iterations=%d", one.Outcome.Iterations+run.MoreIterations))
}

// promptOf is the prompt of a task's session.
func promptOf(r *queue.Record) string {
	if r.Feedback == "" {
		return r.Task.Prompt
	}
	return fmt.Sprintf(`The task below has been worked on, and its result is in this work tree. It was not
merged into %s; the current %[1]s has been merged into this work tree.

What is wrong:

%[2]s

Fix that. Keep the task done, and keep everything that comes from %[1]s working.

The task:

%[3]s`, r.Task.Target, r.Feedback, r.Task.Prompt)
}
