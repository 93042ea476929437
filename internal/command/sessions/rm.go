package sessions

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/git"
	"codeloops/internal/screen/ask"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/session/prune"
	"codeloops/internal/session/putback"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

type removeOptions struct {
	yes    bool
	dryRun bool
}

func (o *removeOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be removed, and remove nothing")
}

func newSessionsRmCmd(l *command.Logs) *cobra.Command {
	o := &removeOptions{}
	cmd := &cobra.Command{
		Use:         "rm [ID…]",
		Annotations: command.Exits("the sessions were removed; with --dry-run: listed", ""),
		Aliases:     []string{"remove", "delete"},
		Short:       "Remove sessions: their logs, the files beside them, their checkpoints",
		Long: `Remove sessions: their logs, the files beside them, and their checkpoints of the
work tree, which are the refs refs/codeloops/ID/N in the private repository
beside the logs. All of the sessions must exist, and none may be running;
otherwise nothing is removed. On a terminal you are asked first, elsewhere --yes
is needed.

` + refHelp + `
Elsewhere than on a terminal, removing needs an ID; without one only --dry-run works.`,
		Example:           "  codeloops sessions rm 2025-01-27T15 --dry-run",
		ValidArgsFunction: l.Complete,
		Args:              func(_ *cobra.Command, args []string) error { return command.RejectEmpty(args) },
		PreRunE:           l.Console.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := l.Store()
			if err != nil {
				return err
			}
			ids, err := o.chosenIDs(cmd.Context(), l, store, args)
			if err != nil {
				return err
			}
			return o.remove(cmd.Context(), l, store, ids, 0)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

// chosenIDs returns the ids of the sessions to remove. Without a name a person chooses. A script
// must name the session, even the latest: an unset variable must not cost a session.
func (o *removeOptions) chosenIDs(ctx context.Context, l *command.Logs, store *session.Store, refs []string) (ids []string, err error) {
	if len(refs) == 0 && l.Console.Interactive() {
		one, err := l.Pick(ctx, "Remove which session?")
		return []string{one.ID}, err
	}
	named := len(refs) > 0
	if !named {
		refs = []string{""}
	}
	for _, ref := range refs {
		id, err := l.ID(store, ref)
		if err != nil {
			return nil, err
		}
		if !named && !o.dryRun {
			return nil, hint.Errorf("name it: codeloops sessions rm latest --yes", "no session is named; the latest is %s", id)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

type pruneOptions struct {
	removeOptions
	olderThan string
	keep      int
	resumable bool
	kept      bool
}

func newSessionsPruneCmd(l *command.Logs) *cobra.Command {
	o := &pruneOptions{}
	cmd := &cobra.Command{
		Use:         "prune",
		Annotations: command.Exits("what was too old was removed; with --dry-run: listed", ""),
		Short:       "Remove old sessions",
		Long: `Remove the sessions that began longer ago than --older-than and are not among
the --keep newest, with their checkpoints. If you give only one of the two, only
that one counts. Running sessions stay, and so do files that are not session
logs. --kept removes, instead of sessions, the files that restores have replaced
and kept, in all work trees: those that --older-than and --keep select, or all
of them. On a terminal you are asked first, elsewhere --yes is needed, which
leaves the sessions that could be resumed, unless you add --resumable.`,
		Example: `  codeloops sessions prune --older-than 30d --keep 50 --dry-run
  codeloops sessions prune --kept --older-than 30d`,
		Args:    command.NoArgs,
		PreRunE: l.Console.UsersCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSessionsPrune(cmd.Context(), l, o, cmd.Flags())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.olderThan, "older-than", "", "only sessions that began longer ago than this `span`, such as 30d")
	f.IntVar(&o.keep, "keep", 0, "keep the `n` newest sessions, however old")
	f.BoolVar(&o.resumable, "resumable", false, "with --yes: also remove sessions that could be resumed")
	f.BoolVar(&o.kept, "kept", false, "remove the files that restores have replaced and kept, instead of sessions")
	o.addFlags(f)
	return cmd
}

func runSessionsPrune(ctx context.Context, l *command.Logs, o *pruneOptions, flags *pflag.FlagSet) error {
	before, err := o.check(l.Console.Now(), flags)
	switch {
	case err != nil:
		return err
	case o.kept:
		return o.pruneKept(ctx, l, before)
	}
	store, err := l.Store()
	if err != nil {
		return err
	}
	l.All = true // demo sessions take up room, too
	all, err := l.Survey()
	if err != nil {
		return err
	}
	ids, open := prune.Old(all, before, o.keep)
	if o.yes && !o.resumable && len(open) > 0 {
		l.Console.Tell("kept, because resume could carry on: " + wording.Count(len(open), "session") + "; --resumable removes them, too")
		ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(open, id) })
		open = nil
	}
	return o.remove(ctx, l, store, ids, len(open))
}

// check rejects flags that contradict each other, and returns the time before which sessions are old.
func (o *pruneOptions) check(now time.Time, flags *pflag.FlagSet) (before time.Time, err error) {
	aged := flags.Changed("older-than")
	switch limited := aged || flags.Changed("keep"); {
	case !o.kept && !limited:
		return now, hint.Errorf("say which: --older-than 30d, --keep 50, or both", "prune without a limit would remove every session")
	case o.keep < 0:
		return now, hint.Errorf("0 keeps no session just because it is new", "--keep cannot be %d", o.keep)
	case !aged:
		return now, nil
	}
	back, err := config.ParseDuration(o.olderThan)
	if err != nil {
		return now, hint.Errorf("", "--older-than: %v", err)
	}
	return now.Add(-back), nil
}

func (o *removeOptions) remove(ctx context.Context, l *command.Logs, store *session.Store, ids []string, open int) error {
	g := git.Git{Environ: git.WithoutRepository(l.Console.Environ)}
	r, err := prune.Of(ctx, g, store, ids)
	if err != nil {
		return err
	}
	r.Open = open
	return o.confirmAndRemove(ctx, l.Console, len(ids), r.What(), r.Do, r.List)
}

func (o *pruneOptions) pruneKept(ctx context.Context, l *command.Logs, before time.Time) error {
	kept, err := putback.KeptBefore(&l.Console.Host, o.keep, before)
	if err != nil {
		return err
	}
	return o.confirmAndRemove(ctx, l.Console, len(kept.All), kept.What(), kept.Remove, kept.List)
}

// confirmAndRemove removes n things if the user agrees, and says what was done.
func (o *removeOptions) confirmAndRemove(ctx context.Context, c *command.Console, n int, what string, remove func(context.Context) error, list func(done string) string) error {
	if n == 0 {
		_, err := fmt.Fprintln(c.Out, "nothing to remove")
		return err
	}
	done := "would remove"
	if !o.dryRun {
		if !o.yes {
			if err := ask.Confirm(ctx, c.Streams, "remove "+what+"?"); err != nil {
				return err
			}
		}
		if err := remove(ctx); err != nil {
			return err
		}
		done = "removed"
	}
	return c.Print(func(w io.Writer) error { _, err := io.WriteString(w, term.Clean(list(done))); return err })
}
