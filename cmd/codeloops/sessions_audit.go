package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
)

func newSessionsAuditCmd(l *logs) *cobra.Command {
	var asJSON, noPager bool
	cmd := &cobra.Command{
		Use:         "audit [ID|FILE]",
		Annotations: lookExits(),
		Short:       "Show which rules decided each iteration of a session",
		Long: `Show which rules decided each iteration of a session: the state of the work tree
before and after it, what it changed, the risks and required changes, what the
rules of the run pointed at, which rule decided, and what each phase took.

` + refHelp,
		Example: `  codeloops sessions audit
  codeloops sessions audit --json latest~1`,
		Args:              oneRef,
		ValidArgsFunction: l.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			one, err := l.find(cmd.Context(), first(args), "Audit which session?")
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
				return l.app.print(func(w io.Writer) error { return writeJSON(w, audit) })
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
