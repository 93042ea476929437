package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/browse"
	"codeloops/internal/render"
	"codeloops/internal/session"
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
		Use:     "rm ID…",
		Aliases: []string{"remove", "delete"},
		Short:   "Remove sessions: their logs and the files beside them",
		Long: `Remove sessions: their logs and the files beside them. All of them must be there,
and none may be running; otherwise nothing is removed. On a terminal you are
asked first, elsewhere --yes is needed.

` + refHelp + `

` + sessionsExit,
		Example:           "  codeloops sessions rm 2025-01-27T15 --dry-run",
		ValidArgsFunction: l.complete,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("name them; `codeloops sessions list` shows what there is", "%s needs a session", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := l.store()
			if err != nil {
				return err
			}
			var ids []string
			for _, ref := range args {
				id, err := store.Resolve(ref)
				if err != nil {
					return explain(err, ref)
				}
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
			return l.remove(store, ids, o)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
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
--keep newest. With one of the two only that counts. Running sessions stay, and
so does what is no session log. On a terminal you are asked first, elsewhere
--yes is needed.

` + sessionsExit,
		Example: "  codeloops sessions prune --older-than 30d --keep 50 --dry-run",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runSessionsPrune(l, o, cmd.Flags())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.olderThan, "older-than", "", "only sessions that began longer ago than this `span`, such as 30d")
	f.IntVar(&o.keep, "keep", 0, "keep the `n` newest sessions, however old")
	o.addFlags(f)
	return cmd
}

func runSessionsPrune(l *logs, o *pruneOptions, flags *pflag.FlagSet) error {
	if !flags.Changed("older-than") && !flags.Changed("keep") {
		return usagef("say which: --older-than 30d, --keep 50, or both", "prune without a limit would remove every session")
	}
	if o.keep < 0 {
		return usagef("0 keeps none for being new", "--keep cannot be %d", o.keep)
	}
	before := l.app.now()
	if flags.Changed("older-than") {
		span, err := browse.ParseAge(o.olderThan)
		if err != nil {
			return usagef("", "--older-than: %v", err)
		}
		before = before.Add(-span)
	}
	store, err := l.store()
	if err != nil {
		return err
	}
	all, err := l.survey()
	if err != nil {
		return err
	}
	return l.remove(store, prunable(all, before, o.keep), &o.removeOptions)
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
func (l *logs) remove(store *session.Store, ids []string, o *removeOptions) error {
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
	if o.dryRun {
		return l.list("would remove ", ids, space)
	}
	if !o.yes {
		question := fmt.Sprintf("remove %s (%s)?", render.Count(len(ids), "session", "sessions"), bytesText(space))
		if err := l.app.sure(question); err != nil {
			return err
		}
	}
	for _, id := range ids {
		// Whatever else belongs to a session goes here, before its log.
		if err := store.Remove(id); err != nil {
			return err
		}
	}
	if err := store.Forget(); err != nil {
		return err
	}
	return l.list("removed ", ids, space)
}

func (l *logs) list(what string, ids []string, space int64) error {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, "%s%s\n", what, term.Line(id))
	}
	fmt.Fprintf(&b, "%s, %s\n", render.Count(len(ids), "session", "sessions"), bytesText(space))
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
