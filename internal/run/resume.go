package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/strategy"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Earlier is the session to resume, and what the user accepts.
type Earlier struct {
	ID   string
	Logs string // the directory of its log
	// Trusted: the user alone chose that directory. No commands are taken from any other log.
	Trusted bool
	// AcceptChanges: resume although the work tree is not as the session left it.
	AcceptChanges bool
	// Moved: it ran on another machine, where its agents have their conversations.
	Moved bool
	// AcceptRules: resume although the rules are weaker than those of the session.
	AcceptRules bool
}

// Resume returns the plan of a session that is resumed. The caller closes it.
func Resume(ctx context.Context, o Options, was Earlier) (*Plan, error) {
	store, err := session.NewStore(was.Logs)
	if err != nil {
		return nil, err
	}
	one := session.Look(store.Path(was.ID))
	if one.Err != nil {
		return nil, fmt.Errorf("resume session %s: %w", wording.Path(was.ID), one.Err)
	}
	dir, err := worktree.SessionDir(ctx, one.Session)
	if err != nil {
		return nil, err
	}
	p, err := open(ctx, o, dir)
	if err != nil {
		return nil, err
	}
	p.own.accept = was.AcceptChanges
	if err := p.reopen(ctx, store, was); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// reopen locks the work tree, opens the session's log and reads how far it got: another process
// may have been resuming it until now.
func (p *Plan) reopen(ctx context.Context, store *session.Store, was Earlier) (err error) {
	if err := p.options.confirmPlace(ctx, p.tree.Root(), was.ID); err != nil {
		return err
	}
	if err := checkLogDir(p.tree, was.Logs); err != nil {
		return err
	}
	if p.own.lock, err = p.tree.Lock(ctx, was.ID, p.options.Host.Now()); err != nil {
		return err
	}
	log, course, err := store.Reopen(was.ID)
	if err != nil {
		return fmt.Errorf("resume session %s: %w", wording.Path(was.ID), err)
	}
	p.own.log, p.earlier, p.options.Prompt = log, &course, course.Origin.Prompt
	p.own.state = course.Past()
	if was.Moved || course.Origin.Imported {
		course.Journal.Moved()
	}
	return p.decide(ctx, was)
}

// confirmPlace asks about a work tree other than the user's current one.
func (o *Options) confirmPlace(ctx context.Context, root, id string) error {
	if root == lookup.Here(o.Host).Root() {
		return nil
	}
	elsewhere := root + " is not the work tree you stand in"
	return o.ask(ctx, Question{Elsewhere, elsewhere + "; carry session " + id + " on there?"},
		hint.Errorf("name the session, or go there", "%s", elsewhere))
}

// decide works out how the session goes on, or refuses to resume it.
func (p *Plan) decide(ctx context.Context, was Earlier) (err error) {
	if err := checkResumable(*p.earlier); err != nil {
		return err
	}
	began := p.earlier.Origin
	was.Trusted = was.Trusted && !began.Imported
	if p.settings, err = p.options.Settings.again(began, was.Trusted); err != nil {
		return err
	}
	if name, said := p.settings.Said("strategy"); said && name != cmp.Or(began.Strategy.Name, strategy.NameActorCritic) {
		return hint.Errorf("leave out --strategy, or begin a new session", "session %s is driven by %s, and cannot be carried on by %s",
			began.ID, cmp.Or(began.Strategy.Name, strategy.NameActorCritic), name)
	}
	if err := p.settings.checkStrategy(began, was.Trusted); err != nil {
		return err
	}
	p.settings.inherit(began)
	if err := p.settle(ctx); err != nil {
		return err
	}
	if err := checkRules(p, was); err != nil {
		return err
	}
	limit, past := p.Config.MaxIterations, p.earlier.Journal
	if done := len(past.Rounds()); limit > 0 && done >= limit && past.Ended() && !past.Undecided() {
		return hint.Errorf(fmt.Sprintf("allow more: codeloops resume -n %d", done+MoreIterations),
			"session %s has used its %s", began.ID, wording.Count(limit, "iteration"))
	}
	return nil
}

// checkResumable rejects a session that cannot be resumed.
func checkResumable(c session.Course) error {
	switch {
	case c.Changed:
		return hint.Errorf("begin a new session", "somebody else wrote to the log of session %s while it ran, so it cannot be trusted", c.Origin.ID)
	case c.Outcome != nil && c.Outcome.Result == loop.Success:
		return hint.Errorf("begin a new session for what is left to do", "session %s ended with success", c.Origin.ID)
	case c.Outcome != nil && c.Outcome.Bounded():
		return hint.Errorf("begin a new session; strategy."+c.Outcome.Cause+" in the configuration allows it more",
			"session %s has reached its %s, which cannot be raised for it", c.Origin.ID, c.Outcome.Cause)
	case c.Outcome != nil && c.Outcome.Final():
		return hint.Errorf("begin a new session", "session %s cannot be carried on: %s", c.Origin.ID, c.Outcome.Summary)
	case c.Origin.Checkpoint == "":
		return hint.Errorf("begin a new session", "session %s did not record in what state it found the work tree", c.Origin.ID)
	}
	return nil
}

// restoreBaseline restores the baseline of the session, and asks if the work tree is not as the session
// left it.
func (r *running) restoreBaseline(ctx context.Context) error {
	c := r.earlier
	if base := c.Origin.BaseCommit; base != "" && !r.own.accept && !r.tree.Has(ctx, base) {
		problem := fmt.Sprintf("the repository in %s is not the one that session %s began in: it has no commit %.12s", r.Root(), c.Origin.ID, base)
		err := r.options.ask(ctx, Question{Changed, problem + "\ncarry on in it all the same?"},
			hint.Errorf("put that one back, or carry on in this one all the same: --accept-changes", "%s", problem))
		if err != nil {
			return err
		}
	}
	if err := r.tree.Resume(ctx, c.Origin.Checkpoint); err != nil {
		return worktree.NoCheckpoint(fmt.Errorf("come back to the start of session %s: %w", c.Origin.ID, err), c.Origin.ID)
	}
	if c.Tree.State == "" || r.own.accept { // the actor was at work: the state is unknown
		return nil
	}
	now, err := r.tree.Capture(ctx)
	if err != nil {
		return err
	}
	if now.State == c.Tree.State || slices.Contains(c.Forked, now.State) {
		return nil
	}
	what, err := r.since(ctx, c.Checkpoint)
	if err != nil {
		return err
	}
	problem := "the work tree is not as session " + c.Origin.ID + " left it" + what
	return r.options.ask(ctx, Question{Changed, problem + "\ncarry on with it as it is?"},
		hint.Errorf("put it back (codeloops sessions restore "+c.Origin.ID+"), or carry on with it as it is: --accept-changes", "%s", problem))
}

// since lists what has changed since a checkpoint, as the end of a sentence.
func (r *running) since(ctx context.Context, checkpoint string) (string, error) {
	if checkpoint == "" {
		return "", nil
	}
	other, err := worktree.Open(ctx, r.options.Host, r.Dir, r.options.Tell)
	if err != nil {
		return "", err
	}
	defer other.Close() //nolint:errcheck // it was only read
	if err := other.KeepIn(r.kept.dir); err != nil {
		return "", err
	}
	if err := other.Resume(ctx, checkpoint); err != nil {
		return "", err
	}
	change, err := other.Capture(ctx)
	if err != nil {
		return "", err
	}
	var names []string
	for _, f := range change.Files {
		names = append(names, f.Path+" "+string(f.Status))
	}
	return ": " + worktree.Names(names), nil
}

// checkRules refuses to resume a session under rules weaker than those in its log, unless the command
// line says so: the actor may have been able to change the files that they come from.
func checkRules(p *Plan, was Earlier) error {
	c := p.earlier
	if len(c.Origin.Rules) == 0 {
		return nil // an old log
	}
	now := p.options.Host.Secrets.Rules(p.Config.Rules()) // redacted, as in the log
	var loose, flags []string
	for _, l := range config.Loosened(c.Origin.Rules, now) {
		flag, said := "--accept-rules", was.AcceptRules || p.options.Settings.sets(l)
		if l.Key == config.TrustRule {
			flag, said = "--trust-project", p.options.Settings.Trusts()
		}
		if said {
			continue
		}
		loose = append(loose, l.String())
		if !slices.Contains(flags, flag) {
			flags = append(flags, flag)
		}
	}
	if loose == nil {
		return nil
	}
	return hint.Errorf("restore them, or accept them as they are: codeloops resume "+strings.Join(flags, " "),
		"session %s ran under other rules: %s", c.Origin.ID, strings.Join(loose, "; "))
}

// sets reports whether a flag sets a rule, the profile that the rule came from, or another judge
// in place of the agent that the rule is about.
func (s Settings) sets(l config.Loosening) bool {
	if strings.HasPrefix(l.Key, "agents.") && (s.has("agent") || s.has("critic-agent") || s.has("critic-panel")) {
		return true
	}
	return slices.ContainsFunc(s.flags, func(f loop.Flag) bool {
		row, _ := config.FlagOf(f.Name)
		return row.Name != "" && (row.Name == l.Key || row.Name == "profile" && strings.HasPrefix(l.Origin, "profile "))
	})
}
