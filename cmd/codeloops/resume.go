package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/cli/task"
	"codeloops/internal/command"
	"codeloops/internal/command/sessions"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/run"
	"codeloops/internal/session"
)

type resumeOptions struct {
	runOptions
	accept      bool
	acceptRules bool
	say         string // for the actor
	all         bool   // --all: sessions of any directory
	here        bool   // --here: the session is in a file
}

func newResumeCmd(a *app) *cobra.Command {
	o := &resumeOptions{}
	cmd := &cobra.Command{
		Use:         "resume [flags] [ID] [words…]",
		Annotations: runExits(),
		Short:       "Continue a session that was interrupted, crashed or hit its limit",
		Long: `Continue a session in the phase that it had reached. Finished turns of the actor
are not repeated; the critic is asked again if its verdict is missing. Work
without a verdict is judged before the actor continues, and so is work that was
DONE when the session broke off.

Without an ID you choose a session of this work tree on a terminal; elsewhere
the latest is used. The beginning of an ID is enough. A session of another work
tree is continued there; on a terminal you are asked first.

Agents, models, fallbacks, limits, checks and other settings of the original
command line still apply unless flags override them (--check true is a check
that always passes). Rules that files or variables have weakened since then are
named and rejected until a flag sets them or --accept-rules accepts them.

With --here the argument is a file that codeloops sessions export -o FILE.bundle
has written, on this machine or another: its log is stored, the files of this work
tree are put to what they were at the end of the session (codeloops sessions restore
--undo brings yours back), and the session goes on here. The repository must have
the commit that the session began at. No command is taken from such a log: give
--check and the like again.

The actor is told the words in its next turn, for instance an answer to a
question that it asked; they are logged. If the first argument contains a blank,
all arguments are words; otherwise it is the ID, and the rest are words. If the
work is judged first and found done, the words are not used, and you are told.`,
		Example: `  codeloops resume
  codeloops resume "use library B"
  codeloops resume -n 20 2026-01-27T15-30
  codeloops resume session.bundle --here --check "go test ./..."`,
		Args: refAndWords,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 { // words
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.Logs().Complete(cmd, args, prefix)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.takeSettings(cmd.Flags()); err != nil {
				return err
			}
			ref, words := command.SplitMessage(args)
			o.say = words
			return runResume(cmd.Context(), a, o, ref)
		},
	}
	o.addRunFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.all, "all", false, "without an ID, or with \"latest\": consider the sessions of all directories")
	cmd.Flags().BoolVar(&o.here, "here", false, "take up a session from a file, in the current work tree")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask before continuing in another work tree, or putting files back")
	cmd.Flags().BoolVar(&o.accept, "accept-changes", false, "continue although the work tree has changed since the session ended")
	cmd.Flags().BoolVar(&o.acceptRules, "accept-rules", false, "continue under the current rules, although they are weaker than the session's")
	manual.Group(config.TopicSession, cmd.Flags(), "all", "here", "yes", "accept-changes", "accept-rules")
	manual.Usual(cmd.Flags(), "accept-changes", "accept-rules")
	return cmd
}

func runResume(ctx context.Context, a *app, o *resumeOptions, ref string) (err error) {
	defer func() { a.refuse(&o.runOptions, err) }()
	if err := a.RequireUser(map[string]bool{"--trust-project": o.settings.Trusts(), "--accept-rules": o.acceptRules, "--accept-changes": o.accept}); err != nil {
		return err
	}
	was, err := toCarryOn(ctx, a, o, ref)
	if err != nil {
		return err
	}
	r := &runCommand{app: a, opts: &o.runOptions}
	options := r.options(ref)
	options.Say = o.say
	if r.plan, err = run.Resume(ctx, options, was); err != nil {
		return err
	}
	defer r.plan.Close() //nolint:errcheck // write errors have been reported
	if err := r.aim(ctx); err != nil {
		return err
	}
	return r.run(ctx)
}

// refAndWords validates the arguments: an optional ID, then words.
func refAndWords(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	ref, words := command.SplitMessage(args)
	if ref == "" && words != "" || ref != "" && len(args) == 1 {
		return nil
	}
	if err := command.RejectEmpty(args[:1]); err != nil {
		return err
	}
	return task.Check(words, "what is said")
}

// toCarryOn finds the session to resume.
func toCarryOn(ctx context.Context, a *app, o *resumeOptions, ref string) (was run.Earlier, err error) {
	was = run.Earlier{AcceptChanges: o.accept, AcceptRules: o.acceptRules}
	l := a.Logs()
	l.All = o.all
	l.Dir, _ = o.settings.Said("session-dir")
	cfg, err := l.Config()
	if err != nil {
		return was, err
	}
	if was.Logs, err = cfg.Sessions(); err != nil {
		return was, err
	}
	was.Trusted = cfg.Origin("session_dir").Layer != config.Project
	store, err := session.NewStore(was.Logs)
	switch {
	case err != nil:
	case o.here:
		was.ID, err = (&sessions.Restorer{Console: a.Console}).TakeUp(ctx, store, ref, o.yes)
	default:
		was.ID, err = toResume(ctx, l, store, ref)
	}
	return was, err
}

// toResume resolves a reference. Without one, the user chooses a session of the work
// tree among those that can be resumed; if there is no terminal, it is the latest.
func toResume(ctx context.Context, l *command.Logs, store *session.Store, ref string) (string, error) {
	if ref != "" {
		return l.ID(store, ref)
	}
	all, err := l.OfTree(store)
	if err != nil {
		return "", err
	}
	open := slices.DeleteFunc(slices.Clone(all), func(one session.Overview) bool {
		return one.Status == session.Status(loop.Success) || one.Status == session.Running || one.Outcome != nil && one.Outcome.Final()
	})
	if len(open) == 0 || !l.Console.Interactive() {
		return all[0].ID, nil // run.Resume says why it cannot be resumed
	}
	one, err := l.Choose(ctx, open, "Resume which session?")
	return one.ID, err
}
