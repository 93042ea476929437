package sessions

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/screen/ask"
	"codeloops/internal/session"
	"codeloops/internal/session/checkpoints"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/putback"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

type restoreOptions struct {
	iteration int
	given     bool // --iteration was given
	undo      bool
	yes       bool
	dryRun    bool
	dir       string // "": the session's own
}

func newSessionsRestoreCmd(l *command.Logs, r *Restorer) *cobra.Command {
	o := &restoreOptions{}
	cmd := &cobra.Command{
		Use:         "restore [ID|REF]",
		Annotations: command.Exits("the files are as they were then", ""),
		Short:       "Put the work tree back to what it was after an iteration",
		Long: `Put the files of the work tree back to what they were after the last iteration
of a session, or after the one that --iteration names; 0 is the session's start.
An iteration without a verdict counts if its work was captured; one of a discarded
attempt counts only if --iteration names it.

All files are put back, byte for byte and with their permissions, or none: if
something is in the way, it is named and nothing is written. HEAD, branches and
the index stay as they are; if HEAD has moved since, you are asked, or --yes
is needed. Files that ignore rules hide, or hid when the session began or the
state was saved, are never removed, nor are files of nested repositories.

The current files are first kept in codeloops' data directory: --undo brings them
back, for the last restore here or the one named. A strategy that applies an attempt
or a candidate counts as a restore. ` + "`codeloops sessions prune --kept`" + ` removes them.

` + refHelp,
		Example: `  codeloops sessions restore --iteration 1
  codeloops sessions restore --undo`,
		Args:              command.OneSession,
		ValidArgsFunction: l.Complete,
		PreRunE:           l.Console.UsersCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given = cmd.Flags().Changed("iteration")
			if o.undo && (o.given || o.dryRun) {
				return hint.Errorf("leave one of them out", "--undo cannot be combined with --iteration or --dry-run")
			}
			return r.restore(cmd.Context(), l, o, command.First(args))
		},
	}
	cmd.Flags().IntVar(&o.iteration, "iteration", 0, "the state after iteration `N`; 0 is the session's start")
	cmd.Flags().BoolVar(&o.undo, "undo", false, "bring back what a restore has replaced")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only say what it would do")
	cmd.Flags().StringVarP(&o.dir, "working-dir", "d", "", "restore the work tree of `dir`, because that of the session was moved")
	return cmd
}

func (r *Restorer) restore(ctx context.Context, l *command.Logs, o *restoreOptions, ref string) error {
	desk := r.desk(o.yes)
	desk.DryRun = o.dryRun
	if o.undo {
		told, err := desk.Undo(ctx, ref)
		return r.printAll(err, told)
	}
	store, err := l.Store()
	if err != nil {
		return err
	}
	g, err := o.goal(ctx, l, desk, store, ref)
	if err != nil {
		return err
	}
	told, err := desk.To(ctx, store, g, func(root string) error {
		if o.dryRun {
			return nil
		}
		return r.confirmOtherTree(ctx, root, ref, "put its files back to "+g.Name, o.yes)
	})
	return r.printAll(err, told...)
}

func (o *restoreOptions) goal(ctx context.Context, l *command.Logs, d *putback.Restorer, store *session.Store, ref string) (g putback.Goal, err error) {
	if strings.HasPrefix(ref, checkpoints.Refs) {
		return d.Reference(ctx, store, ref)
	}
	if ref == "" && l.Console.Interactive() {
		one, err := l.Pick(ctx, "Put the files back to which session's?")
		if err != nil {
			return g, err
		}
		ref = one.ID
	}
	id, err := l.ID(store, ref)
	if err != nil {
		return g, err
	}
	course, err := store.Course(id)
	if err != nil {
		return g, fmt.Errorf("read session %s: %w", wording.Path(id), err)
	}
	course.Origin.ID = cmp.Or(course.Origin.ID, id) // the original tool's logs do not tell it
	if o.dir != "" {
		course.Origin.WorkingDir = l.Console.Path(o.dir)
	}
	if !o.given {
		o.iteration = putback.Last
	}
	return putback.Iteration(ctx, course, o.iteration)
}

// A Restorer restores files for commands.
type Restorer struct {
	*command.Console

	recovered bool // an interrupted restore was resumed here
}

// Recover resumes a restore that was interrupted in this work tree, whatever the command is.
func (r *Restorer) Recover(ctx context.Context) {
	if r.InTurn() {
		return
	}
	desk := r.desk(false)
	if err := desk.Recover(ctx); err != nil {
		r.Report(err)
	}
	r.recovered = desk.Recovered
}

// desk returns what restores files; with yes it does not ask.
func (r *Restorer) desk(yes bool) *putback.Restorer {
	d := &putback.Restorer{
		Host: &r.Host, Tell: r.Tell, Recovered: r.recovered,
		Note: func(sentence string) { fmt.Fprintln(r.Err, sentence) }, //nolint:errcheck // the files show it as well
	}
	if !yes {
		d.Confirm = func(ctx context.Context, question string) error { return ask.Confirm(ctx, r.Streams, question) }
	}
	return d
}

// printAll prints sentences, unless there is an error.
func (r *Restorer) printAll(err error, sentences ...string) error {
	for _, sentence := range sentences {
		if err == nil && sentence != "" {
			_, err = fmt.Fprintln(r.Out, sentence)
		}
	}
	return err
}

// confirmOtherTree lets a command write to another work tree than the current one only if the user has
// named the session and agreed. The question mentions the tree and what will happen.
func (r *Restorer) confirmOtherTree(ctx context.Context, root, ref, what string, yes bool) error {
	if root == lookup.Here(&r.Host).Root() || yes && !lookup.IsLatest(ref) {
		return nil
	}
	if yes {
		return hint.Errorf("name the session, or go there", "%s is not the work tree you stand in", root)
	}
	return ask.Confirm(ctx, r.Streams, fmt.Sprintf("%s is not the work tree you stand in; %s?", root, what))
}
