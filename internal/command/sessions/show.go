package sessions

import (
	"bytes"
	"context"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/command"
	"codeloops/internal/screen/render"
	"codeloops/internal/session"
	"codeloops/internal/session/export"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/wording/hint"
)

type viewOptions struct {
	iteration int
	noPager   bool
}

func (o *viewOptions) addFlags(f *pflag.FlagSet, iteration string) {
	f.SortFlags = false
	f.IntVar(&o.iteration, "iteration", 0, iteration)
	f.BoolVar(&o.noPager, "no-pager", false, "do not use a pager, even on a terminal")
}

func (o *viewOptions) validate(flags *pflag.FlagSet) error {
	if flags.Changed("iteration") && o.iteration < 1 {
		return hint.Errorf("iterations are numbered from 1", "--iteration cannot be %d", o.iteration)
	}
	return nil
}

func newSessionsShowCmd(l *command.Logs) *cobra.Command {
	o := &viewOptions{}
	var brief, full, asJSON bool
	cmd := &cobra.Command{
		Use:         "show [ID|FILE]",
		Annotations: command.LookExits(),
		Short:       "Show a session: its prompt, every iteration, its end",
		Long: `Show a session: its prompt, every iteration with what the actor said, what
changed, the checks, the critic's decision and feedback, and its end. --brief
leaves out the iterations, and takes no longer for a log of any length.

` + refHelp,
		Example: `  codeloops sessions show
  codeloops sessions show latest~1 --iteration 2 --full`,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if brief && (full || asJSON || o.iteration > 0) {
				return hint.Errorf("leave --brief out to see iterations", "--brief cannot be combined with --full, --json or --iteration")
			}
			return o.validate(cmd.Flags())
		},
	}
	onSession(cmd, l, "Show which session?", func(ctx context.Context, one session.Overview) error {
		switch {
		case brief:
			return l.Console.Print(func(w io.Writer) error {
				return export.Brief(w, export.Options{Format: export.OnScreen, Session: one, Zone: l.Console.Now().Location(), Screen: l.Console.Screen()})
			})
		case asJSON:
			return o.document(ctx, l, one)
		}
		return o.show(ctx, l, one, full)
	})
	f := cmd.Flags()
	o.addFlags(f, "only iteration `n`")
	f.BoolVar(&brief, "brief", false, "only how it began and how it ended")
	f.BoolVar(&full, "full", false, "show whole texts and the diffs")
	f.BoolVar(&asJSON, "json", false, "as one JSON object, with the lines of the log as they are")
	return cmd
}

func (o *viewOptions) show(ctx context.Context, l *command.Logs, one session.Overview, full bool) error {
	c := l.Console
	told := false
	return c.Page(ctx, o.noPager, func(ctx context.Context, w io.Writer) error {
		tell := l.Tell
		if told {
			tell = func(error) {} // the pager could not be started
		}
		told = true
		return lookup.Read(ctx, one, tell, func(entries sessionview.Entries) error {
			screen := c.Screen()
			if !c.OutTTY {
				screen = screen.Wide(render.Whole)
			}
			return export.Write(w, entries, export.Options{
				Format: export.OnScreen, Session: one, Zone: c.Now().Location(), Screen: screen, Full: full, Iteration: o.iteration,
			})
		})
	})
}

func (o *viewOptions) document(ctx context.Context, l *command.Logs, one session.Overview) error {
	if o.iteration > 0 { // small enough to check first that it exists
		var doc bytes.Buffer
		err := lookup.Read(ctx, one, l.Tell, func(entries sessionview.Entries) error {
			return sessionview.Document(&doc, one, entries, o.iteration)
		})
		if err != nil {
			return err
		}
		return l.Console.PrintJSON(func(w io.Writer) error { _, err := doc.WriteTo(w); return err })
	}
	return l.Console.PrintJSON(func(w io.Writer) error {
		return lookup.Read(ctx, one, l.Tell, func(entries sessionview.Entries) error {
			return sessionview.Document(w, one, entries, 0)
		})
	})
}

func newSessionsAuditCmd(l *command.Logs) *cobra.Command {
	var asJSON, noPager bool
	cmd := &cobra.Command{
		Use:         "audit [ID|FILE]",
		Annotations: command.LookExits(),
		Short:       "Show which rules decided each iteration of a session",
		Long: `Show which rules decided each iteration of a session: the state of the work tree
before and after it, what it changed, the risks and required changes, what the
rules of the run pointed at, which rule decided, and what each phase took.

` + refHelp,
		Example: `  codeloops sessions audit
  codeloops sessions audit --json latest~1`,
	}
	onSession(cmd, l, "Audit which session?", func(ctx context.Context, one session.Overview) error {
		var audit sessionview.Audit
		err := lookup.Read(ctx, one, l.Tell, func(entries sessionview.Entries) (err error) {
			audit, err = sessionview.NewAudit(one, entries)
			return err
		})
		if err != nil {
			return err
		}
		if asJSON {
			return l.Console.JSON(audit)
		}
		return l.Console.Page(ctx, noPager, func(_ context.Context, w io.Writer) error {
			return audit.Text(w, l.Console.Screen())
		})
	})
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&noPager, "no-pager", false, "do not use a pager, even on a terminal")
	f.BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}
