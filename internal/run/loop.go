package run

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/actor"
	"codeloops/internal/agent"
	"codeloops/internal/agent/seat"
	"codeloops/internal/config"
	"codeloops/internal/critic"
	"codeloops/internal/loop"
	"codeloops/internal/policy/tamper"
	"codeloops/internal/proc"
	"codeloops/internal/prompt"
	"codeloops/internal/run/check"
	"codeloops/internal/run/crew"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/strategy"
	"codeloops/internal/view"
)

// drive plays the loop to its end.
func (r *running) drive(ctx context.Context, l *loop.Loop, checkpoint string, sinks []loop.Sink) (loop.Outcome, error) {
	state := &r.own.state
	if r.earlier != nil {
		if rounds := r.earlier.Journal.Rounds(); len(rounds) > 0 {
			r.own.last.Last = session.LastOf(rounds[len(rounds)-1])
		}
	}
	if called := r.hooks(ctx); called != nil {
		sinks = append(slices.Clone(sinks), called)
		defer called.await()
	}
	shown := &audience{sinks: slices.Clone(sinks), stopped: ctx.Done(), dropped: r.options.Dropped}
	secrets := r.options.Host.Secrets
	l.Sink = secrets.Recording(loop.Tee(r.own.log, r.board, &r.own.last, shown))
	for _, words := range r.unsaid() {
		if err := r.control.Steer(loop.SteerSay, words); err != nil {
			return loop.Outcome{}, err
		}
	}
	if r.Config.MaxDuration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Config.MaxDuration, loop.ErrMaxDuration)
		defer cancel()
	}
	s := r.session(checkpoint)
	if r.earlier == nil && s.Task == "" && !s.Judged { // the tree of a queue's task is no user's
		s.Dirty = r.dirty(ctx)
	}
	var out loop.Outcome
	var err error
	if r.earlier == nil {
		out, err = l.Run(ctx, s)
	} else {
		out, err = l.Resume(ctx, s, r.earlier.Journal)
	}
	r.own.memory.ended(ctx, out)
	out.Summary, out.ActorError = secrets.String(out.Summary), secrets.String(out.ActorError) // the sinks got them redacted
	if state.Outcome == nil {
		// The log could not record the end, and no sink after it was told.
		end := loop.Stamp{Seq: state.At.Seq + 1, Time: r.options.Host.Now()}
		_ = shown.Handle(end, loop.Finished{Outcome: out}) // it never fails
	}
	return out, withLossHint(err)
}

// unsaid returns what the run is to be told when it begins.
func (r *running) unsaid() (all []string) {
	said := r.Said()
	for _, words := range r.options.Words {
		words = r.options.Host.Secrets.String(strings.TrimSpace(words))
		if i := slices.Index(said, words); i >= 0 {
			said = slices.Delete(said, i, i+1) // what is said twice counts twice
		} else {
			all = append(all, words)
		}
	}
	if r.options.Say != "" {
		all = append(all, r.options.Say)
	}
	return all
}

// session is what the log says of the run.
func (r *running) session(checkpoint string) loop.Session {
	s := loop.Session{
		ID: r.ID(), Task: r.options.Task, Prompt: r.options.Prompt, WorkingDir: r.Dir, Version: r.options.Version, View: string(r.views.Kind()), Strategy: r.strategy(),
		Cast: r.Logged(),
		Base: loop.Base{BaseCommit: r.tree.BaseCommit(), Checkpoint: checkpoint, Checkpoints: r.kept.name, Judged: r.options.Judge != nil},
		Terms: loop.Terms{
			MaxIterations: r.Config.MaxIterations, Policy: policyOf(r.Config), Rules: r.Config.Rules(),
			Deciders: r.deciders.files, Templates: templatesOf(r.Config, r.choice.Cast()), Flags: r.settings.logged(),
		},
	}
	if was := r.recorded(); was != nil {
		s.Of = was.Of
	}
	if r.earlier != nil {
		s.BaseCommit, s.Checkpoints = r.earlier.Origin.BaseCommit, r.earlier.Origin.Checkpoints
	}
	return s
}

// loop assembles a run, except for its sink.
func (r *running) loop(checkpoint string) (*loop.Loop, error) {
	at, err := r.workplace(site{tree: r.tree, views: r.views, deciders: r.deciders, root: r.Root(), dir: r.Dir, starter: r.runner})
	if err != nil {
		return nil, err
	}
	began := r.options.Host.Now()
	at.Forker = &forker{running: r, began: checkpoint, from: r.tree, dir: r.Dir, seen: r.Dir}
	return &loop.Loop{
		Workplace:     at,
		Strategy:      r.own.drive,
		Clock:         r.options.Host.Now,
		CriticRetries: r.Config.CriticRetries,
		InPlace:       r.views.Kind() == view.Tree,
		Beside:        func(ctx context.Context) []string { return r.tree.WrittenBeside(ctx, began, r.options.Prompt) },
		Checks:        loop.CheckRules{Before: r.Config.CheckBefore, FailFast: r.Config.FailFast},
		Ask:           r.options.asked,
		Steering:      &r.control.Steering,
		Jobs:          r.Config.Strategy.Jobs,
		Warnings:      r.untrusted.begin(r.distrusted()),
	}, nil
}

// A site is a work tree of the run: the user's, or a fork.
type site struct {
	tree     *worktree.Tree
	views    *view.Place
	deciders *deciders
	root     string // where the agents see the tree
	dir      string // their working directory in it
	starter  agent.Starter
}

// Run starts a command in its directory or, if that is gone, in the nearest one above it.
func (s site) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	c = s.deciders.pinned(c)
	if rel, err := filepath.Rel(s.root, c.Dir); err == nil {
		own := s.tree.Root()
		if rel, err = filepath.Rel(own, view.Standing(own, filepath.Join(own, rel))); err == nil {
			c.Dir = filepath.Join(s.root, rel)
		}
	}
	return s.starter.Run(ctx, c)
}

// workplace returns the agents and services for a site.
func (r *running) workplace(s site) (at loop.Workplace, err error) {
	cfg, h := r.Config, r.options.Host
	environ := config.Environment(h.Environ, cfg.EnvPass)
	place := agent.Place{
		Starter: s, Dir: s.dir, Environ: environ, EnvDeny: cfg.EnvDeny,
		HideSecrets: cfg.CriticEnv == "clean", EnvPass: cfg.EnvPass,
		Outputs: r.outputs(), Session: r.ID(), Now: h.Now,
	}
	if r.earlier != nil {
		place.Run = r.earlier.Runs
	}
	place.Wary = r.wary(s)
	judge, err := r.judge(r.Critic, place, s.views)
	if err != nil {
		return at, fmt.Errorf("set up the critic: %w", err)
	}
	panel, err := r.panel(place, s.views)
	if err != nil {
		return at, err
	}
	seats, err := r.seats(place, judge.ReadOnlyPlayer)
	if err != nil {
		return at, err
	}
	worker := &actor.Actor{Seats: seats, Resume: cfg.ActorSession == crew.Resume, Instructions: cfg.Actor.Instructions}
	var noTask, noReview error
	worker.Template, noTask = prompt.ForTask(cfg.Actor.Template)
	worker.Refine, noReview = prompt.ForRefinement(cfg.RefineTemplate)
	if err := cmp.Or(noTask, noReview); err != nil {
		return at, fmt.Errorf("set up the actor: %w", err)
	}
	told, err := briefs(cfg)
	if err != nil {
		return at, err
	}
	seen := onlooker{r, s.tree}
	at = loop.Workplace{
		Actor:    r.actor(worker, seen),
		Tree:     s.tree,
		Critic:   judge,
		Panel:    panel,
		Player:   seenPlayer{seat.Player{Seats: seats, Question: told, Evidence: judge.Evidence}, seen},
		Restorer: s.tree,
		Gate:     gate(cfg, s.tree, r.tables, s.deciders, !r.choice.Judged()),
	}
	commands := &check.Runner{
		Starter: s, Open: forChecks(s.views), Worked: s.tree.Worked, Scripts: s.deciders.scripts, Commands: cfg.Checks, Dir: s.dir, Env: environ, Outputs: r.outputs(),
		Timeout: cfg.CheckTimeout, Keep: int64(cfg.LogOutput), Max: int64(cfg.MaxOutput),
	}
	at.Commander = commands
	if len(cfg.Checks) > 0 {
		at.Checker = r.witness(s, commands)
	}
	if was := r.recorded(); was != nil {
		if at.Tree = (keptTree{s.tree, was}); len(was.Checks) > 0 {
			at.Checker = was
		}
	}
	return at, nil
}

// witness returns the checks of a site, with the witness if there is to be one.
func (r *running) witness(s site, commands *check.Runner) loop.Checker {
	if r.Config.Policy.Witness == "off" {
		return commands
	}
	files := tamper.Tree{Tables: r.tables, Read: worktree.Files{Dir: s.tree.Root()}.Read}
	return &check.Witness{
		Runner: commands, Root: s.root, Required: r.Config.Policy.Witness == "require", Change: s.tree.Tree.Capture,
		Tests:    func(c loop.Change) ([]loop.FileChange, bool) { return tamper.Tests(c, files) },
		Asserted: r.tables.Asserted, Unbuilt: r.tables.Unbuilt,
	}
}

// briefs returns what the roles of strategies are asked, with what the user tells them. What a member is
// told in addition is in the log with the strategy.
func briefs(cfg *config.Config) (func(loop.Call) string, error) {
	all := map[loop.Role]prompt.Brief{}
	for name, m := range cfg.Strategy.Roles {
		role := loop.Role(name)
		t, err := prompt.ForRole(m.Template, strategy.Choosing(role))
		if err != nil {
			return nil, fmt.Errorf("set up the %s: %w", role, err)
		}
		if m.About != "" {
			m.Instructions = ""
		}
		all[role] = prompt.Brief{Instructions: m.Instructions, Template: t}
	}
	return func(c loop.Call) string { return all[c.Role].Question(c) }, nil
}

// seats returns the agents of all roles. Those that write can also play for the actor.
func (r *running) seats(place agent.Place, reader seat.ReadOnlyPlayer) (seat.Seats, error) {
	if r.options.Judge != nil {
		return seat.Seats{loop.RoleCritic: {Reader: reader}}, nil
	}
	worker, err := r.casting.Bind(r.Actor, place, r.control)
	if err != nil {
		return nil, fmt.Errorf("set up the actor: %w", err)
	}
	self := reader
	if r.choice.Refines() {
		if self.Agent, err = r.casting.Bind(r.Actor.Reading(r.Config), place, r.control); err != nil {
			return nil, fmt.Errorf("set up the actor to look at its own work: %w", err)
		}
	}
	seats := seat.Seats{
		loop.RoleActor:  {Writer: worker, Reader: self},
		loop.RoleCritic: {Reader: reader},
	}
	for name, cast := range r.Others {
		other, err := r.casting.Bind(cast, place, r.control)
		if err != nil {
			return nil, fmt.Errorf("set up the %s: %w", name, err)
		}
		reading := reader
		reading.Agent = other
		seats[name] = seat.Seat{Writer: other, Reader: reading}
	}
	return seats, nil
}

// outputs is the directory beside the log for files that belong to it.
func (r *running) outputs() string { return filepath.Dir(r.own.log.File(1, "")) }

// panel returns the critics of a run that form a panel.
func (r *running) panel(place agent.Place, v *view.Place) (all []loop.Critic, err error) {
	for i, cast := range r.Panel {
		one, err := r.judge(cast, place, v)
		if err != nil {
			return nil, fmt.Errorf("set up the critic %s: %w", loop.Member(i), err)
		}
		one.Role = loop.Member(i)
		all = append(all, one)
	}
	return all, nil
}

// judge returns a critic for a cast.
func (r *running) judge(of crew.Cast, place agent.Place, v *view.Place) (*critic.Critic, error) {
	judge, err := r.casting.Bind(of, place, r.control)
	if err != nil {
		return nil, err
	}
	_, text := r.Config.CriticTemplate()
	asked, err := prompt.ForCritique(text)
	if err != nil {
		return nil, err
	}
	return &critic.Critic{
		ReadOnlyPlayer: seat.ReadOnlyPlayer{Agent: judge, Open: r.forReaders(v), Place: place.Dir},
		Dir:            place.Outputs, Policy: policyOf(r.Config), Template: asked, Instructions: r.Config.Critic.Instructions, Free: crew.MayBuild(r.Config),
		Tests: func(c loop.Change) []loop.Place { return tamper.Touched(c, tamper.Tree{Tables: r.tables}) },
	}, nil
}
