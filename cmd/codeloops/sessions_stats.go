package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"codeloops/internal/browse"
)

func newSessionsStatsCmd(l *logs) *cobra.Command {
	o := &filterOptions{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Add up what the sessions came to",
		Long: `Add up what the sessions came to: how many succeeded, iterations and duration, by
outcome, stop reason, project and agents, over time.

The last table holds the critics' confidence against what came after: of the
sessions that succeeded with a confidence in each band, how many were followed
by another one with the same prompt in the same directory.

` + sessionsExit,
		Example: "  codeloops sessions stats --since 30d --project .",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			q, err := o.query(l.app)
			if err != nil {
				return err
			}
			all, err := l.survey()
			if err != nil {
				return err
			}
			a := l.app
			st := browse.NewStats(q.Pick(slices.Clone(all)), all, a.now().Location())
			return a.print(func(w io.Writer) error {
				if asJSON {
					return writeJSON(w, st)
				}
				return browse.Charts(w, st, a.screen(), a.OutTTY)
			})
		},
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.BoolVar(&asJSON, "json", false, "as a JSON object")
	return cmd
}
