package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/render"
	"codeloops/internal/session"
	"codeloops/internal/span"
	"codeloops/internal/term"
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
		Use:     "rm [ID…]",
		Aliases: []string{"remove", "delete"},
		Short:   "Remove sessions: their logs, the files beside them, their checkpoints",
		Long: `Remove sessions: their logs, the files beside them, and the checkpoints of the
work tree that they kept in its repository as refs/codeloops/ID/N. All of the
sessions must be there, and none may be running; otherwise nothing is removed.
On a terminal you are asked first, elsewhere --yes is needed.

` + refHelp + `
The latest is only shown, as with --dry-run: to remove it, name it.

` + sessionsExit,
		Example:           "  codeloops sessions rm 2025-01-27T15 --dry-run",
		ValidArgsFunction: l.complete,
		Args:              func(_ *cobra.Command, args []string) error { return noneEmpty(args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := l.store()
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
		id, err := l.id(store, "")
		if err != nil {
			return nil, err
		}
		if !o.dryRun {
			return nil, usagef("name it: codeloops sessions rm latest --yes", "no session is named; the latest is %s", id)
		}
		return []string{id}, nil
	}
	for _, ref := range refs {
		id, err := l.id(store, ref)
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
}

func newSessionsPruneCmd(l *logs) *cobra.Command {
	o := &pruneOptions{}
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old sessions",
		Long: `Remove the sessions that began longer ago than --older-than and are not among the
--keep newest, with their checkpoints. With one of the two only that counts.
Running sessions stay, and so does what is no session log. On a terminal you are asked first, elsewhere
--yes is needed.

` + sessionsExit,
		Example: "  codeloops sessions prune --older-than 30d --keep 50 --dry-run",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSessionsPrune(cmd.Context(), l, o, cmd.Flags())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.olderThan, "older-than", "", "only sessions that began longer ago than this `span`, such as 30d")
	f.IntVar(&o.keep, "keep", 0, "keep the `n` newest sessions, however old")
	o.addFlags(f)
	return cmd
}

func runSessionsPrune(ctx context.Context, l *logs, o *pruneOptions, flags *pflag.FlagSet) error {
	if !flags.Changed("older-than") && !flags.Changed("keep") {
		return usagef("say which: --older-than 30d, --keep 50, or both", "prune without a limit would remove every session")
	}
	if o.keep < 0 {
		return usagef("0 keeps none for being new", "--keep cannot be %d", o.keep)
	}
	before := l.app.now()
	if flags.Changed("older-than") {
		back, err := span.Parse(o.olderThan)
		if err != nil {
			return usagef("", "--older-than: %v", err)
		}
		before = before.Add(-back)
	}
	store, err := l.store()
	if err != nil {
		return err
	}
	l.all = true // demonstrations take room, too
	all, err := l.survey()
	if err != nil {
		return err
	}
	return l.remove(ctx, store, prunable(all, before, o.keep), &o.removeOptions)
}

// prunable returns the ids of the sessions, of all from the newest to the
// oldest, that began before a time and are not among the first.
func prunable(all []session.Overview, before time.Time, keep int) (ids []string) {
	for _, one := range all {
		switch {
		case one.Err != nil: // whatever it is, it is not ours to remove
		case keep > 0:
			keep--
		case one.Status != session.Running && one.Started.Before(before):
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// remove removes sessions after the user has agreed.
func (l *logs) remove(ctx context.Context, store *session.Store, ids []string, o *removeOptions) error {
	if len(ids) == 0 {
		_, err := fmt.Fprintln(l.app.Out, "nothing to remove")
		return err
	}
	var space int64
	for _, id := range ids {
		running, err := store.Running(id)
		if err != nil {
			return err
		}
		if running {
			return &hintedError{
				fmt.Errorf("remove session %s: %w", id, session.ErrRunning),
				"stop it first, with Ctrl+C where it runs",
			}
		}
		space += store.Space(id)
	}
	kept, err := l.checkpointsOf(ctx, store, ids)
	if err != nil {
		return err
	}
	for _, sentence := range kept.lost {
		l.tell(errors.New(sentence))
	}
	if o.dryRun {
		return l.list("would remove ", ids, kept, space)
	}
	if !o.yes {
		question := fmt.Sprintf("remove %s (%s%s)?", render.Count(len(ids), "session", "sessions"), kept.count(), bytesText(space))
		if err := l.app.sure(ctx, question); err != nil {
			return err
		}
	}
	// The logs go last: what is left when this fails can be removed again.
	if err := kept.remove(ctx); err != nil {
		return err
	}
	for _, id := range ids {
		if err := store.Remove(id); err != nil {
			return err
		}
	}
	if err := store.Forget(); err != nil {
		return err
	}
	return l.list("removed ", ids, kept, space)
}

func (l *logs) list(what string, ids []string, kept *checkpoints, space int64) error {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, "%s%s\n%s", what, term.Line(id), kept.lines(id))
	}
	fmt.Fprintf(&b, "%s, %s%s\n", render.Count(len(ids), "session", "sessions"), kept.count(), bytesText(space))
	_, err := io.WriteString(l.app.Out, b.String())
	return err
}

// bytesText writes a size as a person would say it.
func bytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, names := float64(n)/unit, "KMGT"
	for value >= unit && len(names) > 1 {
		value, names = value/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %ciB", value, names[0])
}
