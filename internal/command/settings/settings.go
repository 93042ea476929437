// Package settings holds the commands that set codeloops up.
package settings

import (
	"github.com/spf13/cobra"

	"codeloops/internal/command"
)

// Commands returns init, doctor, agents, config and strategies.
func Commands(c *command.Console) []*cobra.Command {
	return []*cobra.Command{newInitCmd(c), newDoctorCmd(c), newAgentsCmd(c), newConfigCmd(c), newStrategiesCmd(c)}
}
