package sessions

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
)

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
		Args:              command.OneSession,
		ValidArgsFunction: l.Complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := l.Meant(cmd.Context(), command.First(args), "Audit which session?")
			if err != nil {
				return err
			}
			var audit sessionview.Audit
			err = lookup.Read(cmd.Context(), one, l.Tell, func(entries sessionview.Entries) error {
				audit, err = sessionview.NewAudit(one, entries)
				return err
			})
			if err != nil {
				return err
			}
			if asJSON {
				return l.Console.Print(func(w io.Writer) error { return command.WriteJSON(w, audit) })
			}
			return l.Console.Page(cmd.Context(), noPager, func(_ context.Context, w io.Writer) error {
				return audit.Text(w, l.Console.Screen())
			})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&noPager, "no-pager", false, "do not use a pager, also on a terminal")
	f.BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}
