// Package evals holds the commands that judge the judges.
package evals

import (
	"github.com/spf13/cobra"

	"codeloops/internal/command"
)

// New returns the command and its subcommands; play plays trials.
func New(c *command.Console, play Play) *cobra.Command {
	l := c.Logs()
	cmd := &cobra.Command{
		Use:         "eval",
		Annotations: command.Exits("the help was shown", ""),
		Short:       "Find out whether the critic pays, on your own history",
		Long: `Find out which critic finds real faults in your work, which one cries wolf, and
what that costs: critics judge the work of recorded iterations once more, and what
they say is compared with what came later. See docs/eval.md.`,
		Example: `  codeloops eval judge --critic codex:gpt-5 --critic claude:sonnet --max-cost 10
  codeloops eval label 0a1f94/2 bad "the cache is never emptied"
  codeloops eval report
  codeloops eval tasks tasks/ --config with-critic.toml --config alone.toml -n 5`,
		Args: command.OwnCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&l.Dir, "session-dir", "", "look for session logs in `dir`")
	cmd.PersistentFlags().BoolVar(&l.All, "all", false, "the sessions of all repositories, and demonstrations")
	cmd.AddCommand(newJudgeCmd(l), newReportCmd(l), newLabelCmd(l), newTasksCmd(l, play))
	return cmd
}
