package main

import (
	"github.com/spf13/cobra"

	"codeloops/internal/config"
	"codeloops/internal/run/crew"
)

func newAgentsCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "agents",
		Annotations: exits("the agents were listed, installed or not", ""),
		Example: `  codeloops agents
  codeloops agents --json | jq -r '.[] | select(.path) | .name'`,
		Short: "List the known agent CLIs, which are installed, and how each is started",
		Args:  noArgs,
		Long: `List the known agent CLIs: those that are installed, with whether they seem to be
signed in, the others with how to come by them, and how each is called. Agents
that can say whether they are signed in are asked, which costs nothing.

--json prints a list of objects:

  name       by which it is chosen
  aliases    other names for it
  path       of its program; not there: it is not installed
  problem    why it cannot be started
  install    how to come by it
  tested     the version with which it was seen to work
  signed_in  true, false, or null where that is not asked
  login      how that is known
  next       what to do before it can play; not there: nothing
  actor      its command line for a turn that changes files
  critic     its command line for a turn that may only read`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(a.configOptions(a.Dir))
			if err != nil {
				return err
			}
			rows, err := crew.Known(cmd.Context(), &a.Host, cfg)
			if err != nil {
				return err
			}
			return show(a, asJSON, rows, a.sheet().Agents(rows))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}
