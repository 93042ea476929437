package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/screen/ask"
	"codeloops/internal/session"
	"codeloops/internal/session/checkpoints"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/putback"
)

type restoreOptions struct {
	iteration int
	given     bool // whether --iteration was
	undo      bool
	yes       bool
	dir       string // "": where the session worked
}

func newSessionsRestoreCmd(l *logs) *cobra.Command {
	o := &restoreOptions{}
	cmd := &cobra.Command{
		Use:         "restore [ID|REF]",
		Annotations: exits("the files are as they were then", ""),
		Short:       "Put the work tree back to what it was after an iteration",
		Long: `Put the files of the work tree back to what they were after the last iteration
of a session, or after the one that --iteration names; 0 is the session's start.
An iteration that broke off before its verdict counts, if its work was captured.

All files are put back, byte for byte and with their permissions, or none: if
something is in the way, it is named and nothing is written. HEAD, branches and
the index stay as they are; where HEAD has moved since, you are asked, or --yes
is needed. No file is removed that ignore rules hide, or hid when the session
began or the state was kept, and none below another repository.

What is there is first kept in codeloops' data directory: --undo brings it
back, for the last restore here or the one named, and
` + "`codeloops sessions prune --kept`" + ` removes it.

` + refHelp,
		Example: `  codeloops sessions restore --iteration 1
  codeloops sessions restore --undo`,
		Args:              oneRef,
		ValidArgsFunction: l.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given = cmd.Flags().Changed("iteration")
			if o.undo && o.given {
				return usagef("leave one of them out", "--undo brings back what was there, whatever iteration that was")
			}
			return runRestore(cmd.Context(), l, o, first(args))
		},
	}
	cmd.Flags().IntVar(&o.iteration, "iteration", 0, "the state after iteration `N`; 0 is the session's start")
	cmd.Flags().BoolVar(&o.undo, "undo", false, "bring back what a restore has taken away")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	cmd.Flags().StringVarP(&o.dir, "working-dir", "d", "", "put the work tree of `dir` back: that of the session was moved")
	return cmd
}

func runRestore(ctx context.Context, l *logs, o *restoreOptions, ref string) error {
	desk := l.app.putback(o.yes)
	if o.undo {
		told, err := desk.Undo(ctx, ref)
		return l.app.told(err, told)
	}
	store, err := l.Store()
	if err != nil {
		return err
	}
	g, err := l.goal(ctx, desk, store, o, ref)
	if err != nil {
		return err
	}
	told, err := desk.To(ctx, store, g, func(root string) error {
		return l.app.beElsewhere(ctx, root, ref, "put its files back to "+g.Name, o.yes)
	})
	return l.app.told(err, told...)
}

// putback puts files back; yes: without a question.
func (a *app) putback(yes bool) *putback.Desk {
	d := &putback.Desk{
		Host: &a.Host, Tell: a.tell, Recovered: a.recovered,
		Note: func(sentence string) { fmt.Fprintln(a.Err, sentence) }, //nolint:errcheck // the files tell as well
	}
	if !yes {
		d.Sure = func(ctx context.Context, question string) error { return ask.Sure(ctx, a.Streams, question) }
	}
	return d
}

// told prints sentences, unless there is an error.
func (a *app) told(err error, sentences ...string) error {
	for _, sentence := range sentences {
		if err == nil && sentence != "" {
			_, err = fmt.Fprintln(a.Out, sentence)
		}
	}
	return err
}

// recoverHere goes on with a restore that broke off where the user stands, whatever the
// command is.
func (a *app) recoverHere(ctx context.Context) {
	if a.inTurn() {
		return
	}
	desk := a.putback(false)
	if err := desk.Recover(ctx); err != nil {
		report(a.Err, err, a.Secrets)
	}
	a.recovered = desk.Recovered
}

// beElsewhere lets a command write to a work tree in which the user does not stand
// only when they have named the session and agreed. The question begins with what is
// to be done, and the tree.
func (a *app) beElsewhere(ctx context.Context, root, ref, what string, yes bool) error {
	if root == lookup.Here(&a.Host).Root() || yes && !session.IsLatest(ref) {
		return nil
	}
	if yes {
		return usagef("name the session, or go there", "%s is not the work tree you stand in", root)
	}
	return ask.Sure(ctx, a.Streams, fmt.Sprintf("%s is not the work tree you stand in; %s?", root, what))
}

// goal finds what a reference and an iteration mean.
func (l *logs) goal(ctx context.Context, d *putback.Desk, store *session.Store, o *restoreOptions, ref string) (g putback.Goal, err error) {
	if strings.HasPrefix(ref, checkpoints.Refs) {
		return d.Reference(ctx, store, ref)
	}
	if ref == "" && l.app.interactive() {
		one, err := l.pick(ctx, "Put the files back to which session's?")
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
		return g, fmt.Errorf("read session %s: %w", id, err)
	}
	if o.dir != "" {
		course.Session.WorkingDir = l.app.Path(o.dir)
	}
	if !o.given {
		o.iteration = putback.Last
	}
	return putback.Iteration(course, o.iteration)
}
