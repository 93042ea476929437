package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/session"
)

type resumeOptions struct {
	runOptions
	accept      bool
	acceptRules bool
	all         bool            // --all: sessions of any directory
	typed       map[string]bool // the flags of this very command line; those of the log are not among them
}

func newResumeCmd(a *app) *cobra.Command {
	o := &resumeOptions{}
	cmd := &cobra.Command{
		Use:   "resume [flags] [ID]",
		Short: "Carry on a session that was interrupted, crashed or hit its limit",
		Long: `Carry on a session in the phase that it had reached: a turn of the actor that
was over is not played again, the critic is asked again for what it had not yet
said. Work on which it had given no verdict is judged again before the actor goes
on, and so is work that was DONE when the session broke off. Without an ID you choose one of this work tree's on a terminal; elsewhere it
is the latest. The beginning of an ID will do. A session of another work tree than
the one you stand in is carried on there, on a terminal after a question. Agents, models, fallbacks, limits,
checks and what else the command line said of how the run goes are the session's
own unless flags say otherwise (--check true is a check that always passes). Rules
that files or variables have made weaker since it began are named, and refused
until a flag sets them or --accept-rules takes them as they are.

` + exitHelp(),
		Example: `  codeloops resume
  codeloops resume -n 20 2026-01-27T15-30`,
		Args:              oneRef,
		ValidArgsFunction: (&logs{app: a}).complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.takeSettings(cmd.Flags()); err != nil {
				return err
			}
			o.typed = flagsIn(cmd.Flags())
			return runResume(cmd.Context(), a, o, first(args))
		},
	}
	o.addRunFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.all, "all", false, "without an ID, or with \"latest\": of all sessions, those of any directory")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "carry on in another work tree than this one without asking")
	cmd.Flags().BoolVar(&o.accept, "accept-changes", false, "carry on although the work tree is not as the session left it")
	cmd.Flags().BoolVar(&o.acceptRules, "accept-rules", false, "carry on under the rules as they are now, although they hold less than those of the session")
	return cmd
}

func runResume(ctx context.Context, a *app, o *resumeOptions, ref string) (err error) {
	if err := a.usersOwn(map[string]bool{"--trust-project": o.trustProject, "--accept-rules": o.acceptRules, "--accept-changes": o.accept}); err != nil {
		return err
	}
	course, log, err := a.course(ctx, o, ref)
	if err != nil {
		return err
	}
	dir, err := realDir(course.Session.WorkingDir)
	if err != nil {
		return err
	}
	p := &plan{
		app: a, opts: &o.runOptions, dir: dir,
		prompt: course.Session.Prompt, course: &course, accept: o.accept,
	}
	if p.tree, err = a.openTree(ctx, p.dir); err != nil {
		return err
	}
	defer p.tree.Close() //nolint:errcheck // it was only read
	if err := p.mayGoOn(ctx, o, ref, log.dir); err != nil {
		return err
	}
	if err := o.again(course.Session, log.own); err != nil {
		return err
	}
	o.inherit(course)
	if err := p.settle(ctx); err != nil {
		return err
	}
	if err := p.held(course, o); err != nil {
		return err
	}
	if limit, done := p.cfg.MaxIterations, len(course.Past.Rounds); limit > 0 && done >= limit && course.Past.Ended && !course.Past.Undecided {
		return usagef(fmt.Sprintf("allow more: codeloops resume -n %d", done+moreIterations),
			"session %s has used its %d iterations", course.Session.ID, limit)
	}
	return p.run(ctx)
}

// mayGoOn asks about a work tree in which the user does not stand, and refuses logs
// where the agents work.
func (p *plan) mayGoOn(ctx context.Context, o *resumeOptions, ref, sessions string) error {
	agreed := o.yes || !p.app.InTTY || !p.app.ErrTTY // a script that names a session means it
	what := "carry session " + p.course.Session.ID + " on there"
	if err := p.app.beElsewhere(ctx, p.tree.Root(), ref, what, agreed); err != nil {
		return err
	}
	return p.checkSessions(sessions)
}

// A logPlace is where the log of a session is.
type logPlace struct {
	dir string
	own bool // the user's own place, not one of the project's choice
}

// course finds the session and reads how far it had come.
func (a *app) course(ctx context.Context, o *resumeOptions, ref string) (course session.Course, in logPlace, err error) {
	co := a.configOptions(a.dir)
	co.TrustProject = o.trustProject
	if dir, ok := o.set["session_dir"]; ok {
		co.Flags = map[string]any{"session_dir": dir}
	}
	cfg, err := config.Load(co)
	if err != nil {
		return course, in, err
	}
	if in.dir, err = cfg.Sessions(); err != nil {
		return course, in, err
	}
	store, err := session.NewStore(in.dir)
	if err != nil {
		return course, in, err
	}
	id, err := a.toResume(ctx, store, ref, o.all)
	if err != nil {
		return course, in, err
	}
	if course, err = store.Course(id); err != nil {
		return course, in, fmt.Errorf("resume session %s: %w", id, err)
	}
	in.own = cfg.Origin("session_dir").Layer != config.Project
	return course, in, resumable(course)
}

// toResume resolves a reference; without one it is a session of the work tree:
// the one that the user chooses among those that did not succeed, or where
// nobody can be asked the latest.
func (a *app) toResume(ctx context.Context, store *session.Store, ref string, anywhere bool) (string, error) {
	if ref != "" {
		return (&logs{app: a, all: anywhere}).id(store, ref)
	}
	all, err := store.Survey()
	if err != nil {
		return "", err
	}
	counts := a.here().which(store)
	all = slices.DeleteFunc(all, func(one session.Overview) bool {
		return one.Err != nil || !anywhere && !counts(one.Summary)
	})
	if len(all) == 0 {
		return "", usagef("name one: codeloops resume ID; or look among those of any directory: --all", "no session of this work tree in %s", store.Dir())
	}
	if !a.interactive() {
		return all[0].ID, nil
	}
	open := slices.DeleteFunc(slices.Clone(all), func(one session.Overview) bool {
		return one.Status == session.Status(loop.Success) || one.Status == session.Running
	})
	if len(open) == 0 {
		return all[0].ID, nil // why not is said further on
	}
	one, err := a.choose(ctx, open, "Carry on which session?")
	return one.ID, err
}

// resumable refuses a session that there is nothing to carry on of.
func resumable(c session.Course) error {
	switch {
	case c.Changed:
		return usagef("begin a new session", "somebody else wrote to the log of session %s while it ran, and what it says counts for nothing", c.Session.ID)
	case c.Outcome != nil && c.Outcome.Result == loop.Success:
		return usagef("begin a new session for what is left to do", "session %s ended with success", c.Session.ID)
	case c.Session.Checkpoint == "":
		return usagef("begin a new session", "session %s does not say in what state it found the work tree", c.Session.ID)
	}
	return nil
}

// inherit takes over, from the session, what the flags do not say.
func (o *resumeOptions) inherit(c session.Course) {
	for _, role := range []struct {
		name     string
		ref      loop.AgentRef
		fallback []loop.AgentRef
	}{{"actor", c.Session.Actor, c.Session.ActorFallback}, {"critic", c.Session.Critic, c.Session.CriticFallback}} {
		// Of a log without rules, an empty list may mean that it is too old.
		if !o.says(role.name, "fallback") && (len(role.fallback) > 0 || len(c.Session.Rules) > 0) {
			o.set[role.name+".fallback"] = entries(role.fallback)
		}
		if o.says(role.name, "agent") {
			continue
		}
		o.set[role.name+".agent"] = role.ref.Agent
		if !o.says(role.name, "model") {
			o.set[role.name+".model"] = role.ref.Model
		}
	}
	if _, ok := o.set["max_iterations"]; !ok {
		o.set["max_iterations"] = c.Session.MaxIterations
	}
}

// says reports whether a flag sets something of a role, or of both.
func (o *resumeOptions) says(role, what string) bool {
	_, general := o.set[what]
	_, own := o.set[role+"."+what]
	return general || own
}

// entries spells agents as the configuration does.
func entries(refs []loop.AgentRef) []string {
	list := []string{}
	for _, r := range refs {
		entry := r.Agent
		if r.Model != "" {
			entry += ":" + r.Model
		}
		list = append(list, entry)
	}
	return list
}

// comeBack makes the state that the session began with the baseline again, and
// asks when the work tree is not as the session left it.
func (p *plan) comeBack(ctx context.Context) error {
	c := p.course
	if err := p.tree.Resume(ctx, c.Session.Checkpoint); err != nil {
		return fmt.Errorf("come back to the start of session %s: %w", c.Session.ID, err)
	}
	if c.State == "" || p.accept { // the actor was at work: nobody knows
		return nil
	}
	now, err := p.tree.Capture(ctx)
	if err != nil {
		return err
	}
	if now.State == c.State {
		return nil
	}
	what, err := p.since(ctx, c.Checkpoint)
	if err != nil {
		return err
	}
	problem := "the work tree is not as session " + c.Session.ID + " left it" + what
	if p.app.InTTY && p.app.ErrTTY {
		return p.app.sure(ctx, problem+"\ncarry on with it as it is?")
	}
	return usagef("put it back, or carry on with it as it is: --accept-changes", "%s", problem)
}

// since says what has changed since a checkpoint, as the end of a sentence.
func (p *plan) since(ctx context.Context, checkpoint string) (string, error) {
	if checkpoint == "" {
		return "", nil
	}
	other, err := p.app.openTree(ctx, p.dir)
	if err != nil {
		return "", err
	}
	defer other.Close() //nolint:errcheck // it was only read
	if err := other.Resume(ctx, checkpoint); err != nil {
		return "", err
	}
	change, err := other.Capture(ctx)
	if err != nil {
		return "", err
	}
	const most = 5
	var names []string
	for i, f := range change.Files {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(change.Files)-most))
			break
		}
		names = append(names, f.Path+" "+string(f.Status))
	}
	return ": " + strings.Join(names, ", "), nil
}
