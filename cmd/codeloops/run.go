package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"codeloops/internal/actor"
	"codeloops/internal/agent"
	"codeloops/internal/check"
	"codeloops/internal/config"
	"codeloops/internal/estimate"
	"codeloops/internal/fallback"
	"codeloops/internal/loop"
	"codeloops/internal/metrics"
	"codeloops/internal/patience"
	"codeloops/internal/policy"
	"codeloops/internal/proc"
	"codeloops/internal/render"
	"codeloops/internal/session"
	"codeloops/internal/template"
)

// runRun runs the loop, or with --dry-run says what it would run.
func runRun(ctx context.Context, a *app, o *runOptions) error {
	if err := a.usersOwn(map[string]bool{"--trust-project": o.trustProject}); err != nil {
		return err
	}
	p, err := a.prepare(ctx, o)
	if err != nil {
		return err
	}
	defer p.tree.Close() //nolint:errcheck // it was only read
	if o.dryRun {
		return p.describe(a.Out)
	}
	if err := p.confirm(ctx); err != nil {
		return err
	}
	p.introduce()
	return p.run(ctx)
}

// introduce says who plays where nobody was named and it is not who plays by
// default, and what to know of the critic.
func (p *plan) introduce() {
	if p.opts.quiet || render.Format(p.cfg.LogFormat) == render.JSON {
		return
	}
	if who := p.actor[0]; who.unnamed && who.spec.Name != p.cfg.Actor.Agent {
		fmt.Fprintf(p.app.Err, "no agent is configured: %s is the first one here (--agent, codeloops init)\n", who.spec.Name) //nolint:errcheck // a courtesy
	}
	if lack := p.critic[0].lacks(p.cfg); lack != "" {
		fmt.Fprintf(p.app.Err, "%s\n", lack) //nolint:errcheck // a courtesy
	}
}

// run carries the plan out. The error is an [*endedError] once the loop has
// begun.
func (p *plan) run(ctx context.Context) (err error) {
	a := p.app
	runner := proc.NewRunner(a.now) // starts its keeper while the work tree is read
	defer func() { err = errors.Join(interrupted(ctx, err), runner.Close()) }()
	p.tree.git.runner = runner
	a.signals.on(func() {
		if a.ErrTTY {
			fmt.Fprintln(a.Err, "\nstopping; Ctrl+C again kills at once") //nolint:errcheck // a courtesy
		}
	}, runner.Kill)

	store, err := session.NewStore(p.sessions)
	if err != nil {
		return err
	}
	rec, err := p.record(store)
	if err != nil {
		return err
	}
	defer rec.Close() //nolint:errcheck // handling the end has closed it, or nothing has been written
	lock, err := p.tree.lock(rec.ID(), a.now())
	if err != nil {
		return err
	}
	defer lock.Close()                        //nolint:errcheck // the system takes it back in any case
	if err := p.copy().Remove(); err != nil { // a run that was killed may have left one
		return err
	}
	start, err := p.begin(ctx, rec.ID())
	if err != nil {
		return err
	}
	p.deciders = p.findDeciders()
	l, err := p.loop(runner, rec)
	if err != nil {
		return err
	}
	return p.drive(ctx, l, rec, start)
}

// record opens the log: a new one, or that of the session to carry on.
func (p *plan) record(store *session.Store) (*session.Recorder, error) {
	if p.course != nil {
		return store.Reopen(p.course.Session.ID, p.past())
	}
	return store.Create(p.prompt, p.app.now())
}

// begin takes the baseline and keeps it as the session's first checkpoint, or
// comes back to the one that the session began with. It returns that commit.
func (p *plan) begin(ctx context.Context, id string) (checkpoint string, err error) {
	p.tree.session = id
	if p.course != nil {
		return p.course.Session.Checkpoint, p.comeBack(ctx)
	}
	if err := p.tree.Baseline(ctx); err != nil {
		return "", err
	}
	return p.tree.Checkpoint(ctx, 0, loop.Change{State: p.tree.BaseState()})
}

// drive runs the loop and makes of its outcome what the caller of the program
// gets.
func (p *plan) drive(ctx context.Context, l *loop.Loop, rec *session.Recorder, checkpoint string) error {
	a := p.app
	tally := p.past()
	shown, closeLog, err := p.sinks(ctx, rec, &tally)
	if err != nil {
		return err
	}
	defer closeLog()
	last := &ending{shown: shown}
	l.Sink = a.secrets.Sink(loop.Tee(rec, &tally, last))
	if p.cfg.MaxDuration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.cfg.MaxDuration, loop.ErrMaxDuration)
		defer cancel()
	}
	s := loop.Session{
		ID: rec.ID(), Prompt: p.prompt, WorkingDir: p.dir,
		Actor: p.actor[0].ref(), Critic: p.critic[0].ref(),
		ActorFallback: p.actor.fallback(), CriticFallback: p.critic.fallback(),
		MaxIterations: p.cfg.MaxIterations, BaseCommit: p.tree.BaseCommit(), Checkpoint: checkpoint, Version: version(),
		Policy: p.policy(), Rules: p.rules(), Deciders: p.deciders.logged(), Templates: p.templates(), Flags: p.opts.flags(),
	}
	run := l.Run
	if p.course != nil {
		s.BaseCommit = p.course.Session.BaseCommit
		run = func(ctx context.Context, s loop.Session) (loop.Outcome, error) {
			return l.Resume(ctx, s, p.course.Past)
		}
	}
	out, broke := run(ctx, s)
	out.Summary, out.ActorError = a.secrets.String(out.Summary), a.secrets.String(out.ActorError) // the sinks have had them so
	last.end(a.now(), out)
	if p.opts.jsonOutput {
		if err := p.printResult(out, &tally, rec, broke); err != nil {
			broke = errors.Join(broke, err)
			if out.Result == loop.Success {
				out.Result = loop.Failed // whoever waits for the document has none
			}
		}
	}
	if broke == nil && out.Result == loop.Success {
		return nil
	}
	return &endedError{result: out.Result, err: broke}
}

// past is what the session had come to when it broke off.
func (p *plan) past() metrics.Tally {
	if p.course == nil {
		return metrics.Tally{}
	}
	return p.course.Tally
}

// loop puts the parts of a run together; its sink comes later.
func (p *plan) loop(runner *proc.Runner, rec *session.Recorder) (*loop.Loop, error) {
	a := p.app
	outputs := filepath.Dir(rec.File(1, ""))
	place := agent.Place{
		Starter: runner, Dir: p.dir, Environ: a.env, EnvDeny: p.cfg.EnvDeny,
		CleanCritic: p.cfg.CriticEnv == "clean", EnvPass: p.cfg.EnvPass,
		Outputs: outputs, Session: rec.ID(), Now: a.now,
	}
	if p.course != nil {
		place.Run = p.course.Resumed + 1
	}
	waiting := p.lounge()
	worker, err := p.worker(place, waiting)
	if err != nil {
		return nil, fmt.Errorf("set up the actor: %w", err)
	}
	judge, err := p.judge(place, waiting, outputs)
	if err != nil {
		return nil, fmt.Errorf("set up the critic: %w", err)
	}
	l := &loop.Loop{
		Actor: policy.Mender{
			Actor: worker,
			Files: workFiles{p.tree.Root()},
		},
		Tree:          p.tree,
		Critic:        judge,
		Gate:          p.gate(),
		Clock:         a.now,
		CriticRetries: p.cfg.CriticRetries,
	}
	if len(p.cfg.Checks) > 0 {
		l.Checker = &check.Runner{
			Starter: runner, Commands: p.cfg.Checks, Dir: p.dir, Env: a.env, Outputs: outputs,
			Timeout: p.cfg.CheckTimeout, Keep: int64(p.cfg.LogOutput), Max: int64(p.cfg.MaxOutput),
		}
		l.CheckBefore, l.FailFast = p.cfg.CheckBefore, p.cfg.FailFast
	}
	return l, nil
}

// worker is the actor of a run.
func (p *plan) worker(place agent.Place, waiting *lounge) (*actor.Actor, error) {
	worker, err := p.bind(p.actor, place, waiting)
	if err != nil {
		return nil, err
	}
	refine, err := template.ForRefinement(p.cfg.RefineTemplate)
	return &actor.Actor{Agent: worker, Resume: p.cfg.ActorSession == resume, Refine: refine}, err
}

// shortWait is how long an agent waits for the end of a limit when another one
// could play on, unless the user has said how long.
const shortWait = 5 * time.Minute

// bind makes the players of a role ready to play.
func (p *plan) bind(players cast, at agent.Place, waiting *lounge) (*fallback.Chain, error) {
	chain := &fallback.Chain{}
	for i, who := range players {
		at.Limits = who.limits
		bound, err := agent.New(who.spec, who.model, at, who.role)
		if err != nil {
			return nil, err
		}
		wait := p.cfg.MaxWait
		if i < len(players)-1 && p.cfg.Origin("max_wait").Layer == config.Default {
			wait = min(wait, shortWait)
		}
		paid := &estimate.Agent{Player: bound, Prices: who.prices}
		chain.Agents = append(chain.Agents, fallback.Agent{Ref: bound.Ref(), Ask: p.app.ailing(who), Player: &patience.Agent{
			Player: paid, Now: p.app.now, MaxWait: wait, Random: rand.Float64, Ready: waiting.ready, Enter: waiting.enter,
		}})
	}
	return chain, nil
}

// templates are the texts of the user's own in which the agents are asked.
func (p *plan) templates() (list []loop.Template) {
	for _, t := range []struct{ key, text string }{
		{"critique_template", p.cfg.CritiqueTemplate}, {"refine_template", p.cfg.RefineTemplate},
	} {
		if t.text != "" {
			digest := fmt.Sprintf("%x", sha256.Sum256([]byte(t.text)))
			list = append(list, loop.Template{Key: t.key, Origin: p.cfg.Origin(t.key).String(), SHA256: digest})
		}
	}
	return list
}

// printResult writes the document of --json-output.
func (p *plan) printResult(out loop.Outcome, t *metrics.Tally, rec *session.Recorder, broke error) error {
	doc := session.Result{
		Outcome: out, ExitCode: resultCode(out.Result),
		SessionID: rec.ID(), Log: rec.Path(),
		FilesChanged: t.FilesChanged, Insertions: t.Insertions, Deletions: t.Deletions,
		Spent: t.Spent,
	}
	if broke != nil {
		doc.Failure = p.app.failure(broke)
	}
	_, err := p.app.Out.Write(doc.Encode())
	return err
}

// failure is what broke, for a document.
func (a *app) failure(err error) *session.Failure {
	first := complaints(err)[0]
	return &session.Failure{Message: a.secrets.String(first.Message), Hint: a.secrets.String(first.Hint)}
}
