package main

import (
	"bytes"
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/run/worktree"
	"codeloops/internal/screen/pager"
	"codeloops/internal/screen/render"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
)

// viewOptions are the flags of what is shown of one session.
type viewOptions struct {
	iteration int
	noPager   bool
}

func (o *viewOptions) addFlags(f *pflag.FlagSet, iteration string) {
	f.SortFlags = false
	f.IntVar(&o.iteration, "iteration", 0, iteration)
	f.BoolVar(&o.noPager, "no-pager", false, "do not use a pager, also on a terminal")
}

func (o *viewOptions) validate(flags *pflag.FlagSet) error {
	if flags.Changed("iteration") && o.iteration < 1 {
		return usagef("iterations are numbered from 1", "--iteration cannot be %d", o.iteration)
	}
	return nil
}

func newSessionsShowCmd(l *logs) *cobra.Command {
	o := &viewOptions{}
	var brief, full, asJSON bool
	cmd := &cobra.Command{
		Use:         "show [ID|FILE]",
		Annotations: lookExits(),
		Short:       "Show a session: its prompt, every iteration, its end",
		Long: `Show a session: its prompt, every iteration with what the actor said, what
changed, the checks, the critic's decision and feedback, and its end. --brief
leaves out the iterations, and takes no longer for a log of any length.

` + refHelp,
		Example: `  codeloops sessions show
  codeloops sessions show latest~1 --iteration 2 --full`,
		Args:              oneRef,
		ValidArgsFunction: l.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.validate(cmd.Flags()); err != nil {
				return err
			}
			one, err := l.find(cmd.Context(), first(args), "Show which session?")
			if err != nil {
				return err
			}
			switch {
			case brief && (full || asJSON || o.iteration > 0):
				return usagef("leave --brief out to see iterations", "--brief shows none of what --full, --json and --iteration are about")
			case brief:
				return l.app.print(func(w io.Writer) error {
					d := sessionview.Details{Sheet: sessionview.Sheet{Out: w, Screen: l.app.screen()}, Zone: l.app.Now().Location()}
					return d.Brief(one)
				})
			case asJSON:
				return l.document(cmd.Context(), one, o)
			}
			return l.show(cmd.Context(), one, o, full)
		},
	}
	f := cmd.Flags()
	o.addFlags(f, "only iteration `n`")
	f.BoolVar(&brief, "brief", false, "only how it began and how it ended")
	f.BoolVar(&full, "full", false, "texts whole, and the diffs")
	f.BoolVar(&asJSON, "json", false, "as one JSON object, with the lines of the log as they are")
	return cmd
}

func (l *logs) show(ctx context.Context, one session.Overview, o *viewOptions, full bool) error {
	a := l.app
	told := false
	return a.page(ctx, o.noPager, func(ctx context.Context, w io.Writer) error {
		tell := l.Tell
		if told {
			tell = func(error) {} // the pager could not be started
		}
		told = true
		return lookup.Read(ctx, one, tell, func(entries sessionview.Entries) error {
			screen := a.screen()
			if !a.OutTTY {
				screen = screen.Wide(render.Whole)
			}
			d := sessionview.Details{
				Sheet: sessionview.Sheet{Out: w, Screen: screen, Full: full}, Iteration: o.iteration, Zone: a.Now().Location(),
			}
			return d.Show(one, entries)
		})
	})
}

func (l *logs) document(ctx context.Context, one session.Overview, o *viewOptions) error {
	if o.iteration > 0 { // small enough to be looked for first
		var doc bytes.Buffer
		err := lookup.Read(ctx, one, l.Tell, func(entries sessionview.Entries) error {
			return sessionview.Document(&doc, one, entries, o.iteration)
		})
		if err != nil {
			return err
		}
		return l.app.print(func(w io.Writer) error { _, err := doc.WriteTo(w); return err })
	}
	return l.app.print(func(w io.Writer) error {
		return lookup.Read(ctx, one, l.Tell, func(entries sessionview.Entries) error {
			return sessionview.Document(w, one, entries, 0)
		})
	})
}

// page shows a text in the user's pager.
func (a *app) page(ctx context.Context, noPager bool, write func(context.Context, io.Writer) error) error {
	p := &pager.Pager{Streams: a.Streams, Host: &a.Host, Git: &worktree.Git{Environ: a.Environ}}
	return p.Show(ctx, noPager, write)
}
