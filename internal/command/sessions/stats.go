package sessions

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/session/sessionview"
)

func newSessionsStatsCmd(l *command.Logs) *cobra.Command {
	o := &filterOptions{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "stats",
		Annotations: command.LookExits(),
		Short:       "Add up the results, times and costs of sessions",
		Long: `Add up the results, times and costs of sessions: how many succeeded,
iterations and duration, by outcome, stop reason, project and agents, over time.

The last table holds the critics' confidence against what came after: of the
sessions that succeeded with a confidence in each band, how many were followed
by another one with the same prompt in the same directory.`,
		Example: "  codeloops sessions stats --since 30d --project .",
		Args:    command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			q, err := o.Query(&l.Console.Host)
			if err != nil {
				return err
			}
			all, err := l.Survey()
			if err != nil {
				return err
			}
			c := l.Console
			st := sessionview.NewStats(q.Pick(slices.Clone(all)), all, c.Now().Location())
			return c.Print(func(w io.Writer) error {
				if asJSON {
					return command.WriteJSON(w, st)
				}
				return sessionview.Charts(w, st, c.Screen(), c.OutTTY)
			})
		},
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.BoolVar(&asJSON, "json", false, "as a JSON object")
	return cmd
}
