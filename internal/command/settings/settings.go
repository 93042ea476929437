// Package settings holds the commands that set codeloops up.
package settings

import (
	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/run/crew"
)

// Commands returns init, doctor, agents, config and strategies.
func Commands(c *command.Console) []*cobra.Command {
	return []*cobra.Command{newInitCmd(c), newDoctorCmd(c), newAgentsCmd(c), newConfigCmd(c), newStrategiesCmd(c)}
}

func newAgentsCmd(c *command.Console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "agents",
		Annotations: command.Exits("the agents were listed, installed or not", ""),
		Example: `  codeloops agents
  codeloops agents --json | jq -r '.[] | select(.path) | .name'`,
		Short: "List the known agent CLIs, whether they are installed, and how they are started",
		Args:  command.NoArgs,
		Long: `List the known agent CLIs and how each is called: for those that are installed,
whether they seem to be signed in; for the others, how to install them. Agents
that can say whether they are signed in are asked, which costs nothing.

--json prints a list of objects:

  name       by which it is chosen
  aliases    other names for it
  path       of its program; absent if it is not installed
  problem    why it cannot be started
  install    how to install it
  tested     the version that was tested
  signed_in  true or false; null if it is not installed or needs no login
  login      how that is known
  next       what to do before it can be used; absent if nothing
  actor      its command line for a turn that changes files
  critic     its command line for a turn that may only read`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(c.Settings(c.Dir))
			if err != nil {
				return err
			}
			rows, err := crew.Known(cmd.Context(), &c.Host, cfg)
			if err != nil {
				return err
			}
			return c.Show(asJSON, rows, sheet(c).Agents(rows))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}
