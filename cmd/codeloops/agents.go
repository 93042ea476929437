package main

import (
	"github.com/spf13/cobra"

	"codeloops/internal/cli/doctor"
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
		RunE: func(*cobra.Command, []string) error {
			cfg, err := config.Load(a.configOptions(a.Dir))
			if err != nil {
				return err
			}
			rows, err := crew.Known(&a.Host, cfg)
			if err != nil {
				return err
			}
			return show(a, asJSON, rows, doctor.AgentsText(rows, a.OutRenderer()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}
