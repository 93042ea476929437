package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/config"
	"codeloops/internal/diff/repo"
	"codeloops/internal/run/worktree"
	"codeloops/internal/screen/ask"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/session/checkpoints"
	"codeloops/internal/session/prune"
	"codeloops/internal/session/putback"
	"codeloops/internal/wording"
)

// removeOptions are the flags of what removes sessions.
type removeOptions struct {
	yes    bool
	dryRun bool
}

func (o *removeOptions) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would be removed, and remove nothing")
}

func newSessionsRmCmd(l *logs) *cobra.Command {
	o := &removeOptions{}
	cmd := &cobra.Command{
		Use:         "rm [ID…]",
		Annotations: exits("the sessions were removed; with --dry-run: listed", ""),
		Aliases:     []string{"remove", "delete"},
		Short:       "Remove sessions: their logs, the files beside them, their checkpoints",
		Long: `Remove sessions: their logs, the files beside them, and the checkpoints of the
work tree that they kept, refs/codeloops/ID/N in the private repository beside the
logs; those of earlier versions are in your own. All of the
sessions must be there, and none may be running; otherwise nothing is removed.
On a terminal you are asked first, elsewhere --yes is needed.

` + refHelp + `
The latest is only shown, as with --dry-run: to remove it, name it.`,
		Example:           "  codeloops sessions rm 2025-01-27T15 --dry-run",
		ValidArgsFunction: l.complete,
		Args:              func(_ *cobra.Command, args []string) error { return noneEmpty(args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := l.Store()
			if err != nil {
				return err
			}
			ids, err := l.toRemove(cmd.Context(), store, args, o)
			if err != nil {
				return err
			}
			return l.remove(cmd.Context(), store, ids, o)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

// toRemove returns the ids of the sessions that are to go. Without a name a
// person chooses. Elsewhere that would be the latest, but a variable of a script
// that is not set must not cost a session.
func (l *logs) toRemove(ctx context.Context, store *session.Store, refs []string, o *removeOptions) (ids []string, err error) {
	if len(refs) == 0 && l.app.interactive() {
		one, err := l.pick(ctx, "Remove which session?")
		return []string{one.ID}, err
	}
	if len(refs) == 0 {
		id, err := l.ID(store, "")
		if err != nil {
			return nil, err
		}
		if !o.dryRun {
			return nil, usagef("name it: codeloops sessions rm latest --yes", "no session is named; the latest is %s", id)
		}
		return []string{id}, nil
	}
	for _, ref := range refs {
		id, err := l.ID(store, ref)
		if err != nil {
			return nil, err
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
	kept      bool
	refs      bool
}

func newSessionsPruneCmd(l *logs) *cobra.Command {
	o := &pruneOptions{}
	cmd := &cobra.Command{
		Use:         "prune",
		Annotations: exits("what was too old was removed; with --dry-run: listed", ""),
		Short:       "Remove old sessions",
		Long: `Remove the sessions that began longer ago than --older-than and are not among
the --keep newest, with their checkpoints. If you give only one of the two,
only that one counts. Running sessions stay, and so do files that are not
session logs. --kept removes what restores have taken away and kept, for all
work trees, by --older-than and --keep, or else all of it. --refs removes
refs/codeloops/ of this repository, where earlier versions kept checkpoints. On
a terminal you are asked first, elsewhere --yes is needed.`,
		Example: `  codeloops sessions prune --older-than 30d --keep 50 --dry-run
  codeloops sessions prune --kept --older-than 30d`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSessionsPrune(cmd.Context(), l, o, cmd.Flags())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.olderThan, "older-than", "", "only sessions that began longer ago than this `span`, such as 30d")
	f.IntVar(&o.keep, "keep", 0, "keep the `n` newest sessions, however old")
	f.BoolVar(&o.kept, "kept", false, "no sessions, but what restores have taken away and kept")
	f.BoolVar(&o.refs, "refs", false, "no sessions, but refs/codeloops/ of this repository, where earlier versions kept checkpoints")
	o.addFlags(f)
	return cmd
}

func runSessionsPrune(ctx context.Context, l *logs, o *pruneOptions, flags *pflag.FlagSet) error {
	if o.refs {
		if flags.Changed("older-than") || flags.Changed("keep") || o.kept {
			return usagef("", "--refs removes all that earlier versions have left here, and nothing else")
		}
		return l.pruneRefs(ctx, &o.removeOptions)
	}
	if !flags.Changed("older-than") && !flags.Changed("keep") && !o.kept {
		return usagef("say which: --older-than 30d, --keep 50, or both", "prune without a limit would remove every session")
	}
	if o.keep < 0 {
		return usagef("0 keeps none for being new", "--keep cannot be %d", o.keep)
	}
	before := l.app.Now()
	if flags.Changed("older-than") {
		back, err := config.ParseDuration(o.olderThan)
		if err != nil {
			return usagef("", "--older-than: %v", err)
		}
		before = before.Add(-back)
	}
	if o.kept {
		return l.pruneKept(ctx, o, o.keep, before)
	}
	store, err := l.Store()
	if err != nil {
		return err
	}
	l.All = true // demonstrations take room, too
	all, err := l.Survey()
	if err != nil {
		return err
	}
	return l.remove(ctx, store, prune.Old(all, before, o.keep), &o.removeOptions)
}

// remove removes sessions after the user has agreed.
func (l *logs) remove(ctx context.Context, store *session.Store, ids []string, o *removeOptions) error {
	git := &worktree.Git{Environ: repo.WithoutRepository(l.app.Environ)}
	r, err := prune.Of(ctx, git, store, ids)
	if err != nil {
		return err
	}
	for _, sentence := range r.Checkpoints.Lost {
		l.Tell(errors.New(sentence))
	}
	return l.goes(ctx, o, len(ids), r.What(), r.Do, r.List)
}

// pruneRefs removes what earlier versions have left in the repository that is here.
func (l *logs) pruneRefs(ctx context.Context, o *removeOptions) error {
	git := &worktree.Git{Environ: l.app.Environ}
	refs, err := checkpoints.In(ctx, git, l.app.Dir)
	if err != nil {
		return fmt.Errorf("look for checkpoints: %w", err)
	}
	what := wording.Count(len(refs), "reference") + " below " + checkpoints.Refs
	return l.goes(ctx, o, len(refs), what,
		func(ctx context.Context) error { return checkpoints.Drop(ctx, git, l.app.Dir, refs) },
		func(done string) string { return done + " " + what + "\n" })
}

// pruneKept removes what restores have kept, of any work tree.
func (l *logs) pruneKept(ctx context.Context, o *pruneOptions, newest int, before time.Time) error {
	kept, err := putback.KeptBefore(&l.app.Host, newest, before)
	if err != nil {
		return err
	}
	return l.goes(ctx, &o.removeOptions, len(kept.All), kept.What(), kept.Remove, kept.List)
}

// goes removes a number of things, unless there are none, and says what has been done.
func (l *logs) goes(ctx context.Context, o *removeOptions, n int, what string, remove func(context.Context) error, list func(done string) string) error {
	if n == 0 {
		_, err := fmt.Fprintln(l.app.Out, "nothing to remove")
		return err
	}
	done := "would remove"
	if !o.dryRun {
		if !o.yes {
			if err := ask.Sure(ctx, l.app.Streams, "remove "+what+"?"); err != nil {
				return err
			}
		}
		if err := remove(ctx); err != nil {
			return err
		}
		done = "removed"
	}
	return l.app.print(func(w io.Writer) error { _, err := io.WriteString(w, term.Clean(list(done))); return err })
}
