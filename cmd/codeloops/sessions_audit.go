package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"codeloops/internal/browse"
)

func newSessionsAuditCmd(l *logs) *cobra.Command {
	var asJSON, noPager bool
	cmd := &cobra.Command{
		Use:   "audit [ID|FILE]",
		Short: "Show how every iteration of a session was ruled",
		Long: `Show how every iteration of a session was ruled: the state of the work tree
before and after it, what it changed, the risks and required changes, what the
rules of the run pointed at, which rule decided, and what each phase took.

` + refHelp + `

` + sessionsExit,
		Example: `  codeloops sessions audit
  codeloops sessions audit --json latest~1`,
		Args:              oneRef,
		ValidArgsFunction: l.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := l.find(cmd.Context(), first(args), "Audit which session?")
			if err != nil {
				return err
			}
			var audit browse.Audit
			err = l.read(cmd.Context(), one, func(entries browse.Entries) error {
				audit, err = browse.NewAudit(one, entries, l.tell)
				return err
			})
			if err != nil {
				return err
			}
			if asJSON {
				return l.app.print(audit.JSON)
			}
			return l.app.page(cmd.Context(), noPager, func(_ context.Context, w io.Writer) error {
				return audit.Text(w, l.app.screen())
			})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&noPager, "no-pager", false, "do not use a pager, also on a terminal")
	f.BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}
