// Package sessions holds the commands that look back at sessions and restore their work.
package sessions

import (
	"context"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/session"
)

const refHelp = `ID is the id of a session, a unique beginning of it or of its hash, "latest", or
"latest~1" for the one before that. Without an ID you choose from a list on a terminal;
elsewhere the latest session is used. "latest" is the latest session of this work tree
or, if it has none, of the repository's other work trees; with --all, of any directory.`

// Commands returns sessions and replay.
func Commands(r *Restorer) []*cobra.Command {
	return []*cobra.Command{newSessionsCmd(r), newReplayCmd(r)}
}

// addLogFlags declares the flags that say which logs a command and its subcommands look at.
func addLogFlags(cmd *cobra.Command, l *command.Logs) {
	cmd.PersistentFlags().StringVar(&l.Dir, "session-dir", "", "look for session logs in `dir`")
	cmd.PersistentFlags().BoolVar(&l.All, "all", false, "look for \"latest\" in all directories; include demonstrations in lists and totals")
}

// onSession has a command act on the session that its argument names or, without one, that the
// answer to the question names.
func onSession(cmd *cobra.Command, l *command.Logs, question string, act func(context.Context, session.Overview) error) {
	cmd.Args, cmd.ValidArgsFunction = command.OneSession, l.Complete
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		one, err := l.FindOrAsk(cmd.Context(), command.First(args), question)
		if err != nil {
			return err
		}
		return act(cmd.Context(), one)
	}
}

func newSessionsCmd(r *Restorer) *cobra.Command {
	l := r.Logs()
	cmd := &cobra.Command{
		Use:         "sessions",
		Annotations: command.LookExits(),
		Example: `  codeloops sessions list --since 7d
  codeloops sessions show latest`,
		Short: "Browse session logs, add them up, remove them",
		Long: `Browse session logs, add them up, remove them. Without a command it lists them.

` + refHelp,
		Args: command.OwnCommands,
		RunE: func(*cobra.Command, []string) error {
			return runSessionsList(l, &listOptions{})
		},
	}
	addLogFlags(cmd, l)
	cmd.AddCommand(
		newSessionsListCmd(l),
		newSessionsShowCmd(l),
		newSessionsAuditCmd(l),
		newSessionsDiffCmd(l, r),
		newSessionsStatsCmd(l),
		newSessionsRmCmd(l),
		newSessionsPruneCmd(l),
		newSessionsRestoreCmd(l, r),
		newSessionsExportCmd(l),
		newSessionsImportCmd(l),
	)
	return cmd
}
