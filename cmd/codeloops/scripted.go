package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"codeloops/internal/scripted"
)

// scriptedCommand is the hidden command that plays the scripted agent.
const scriptedCommand = "scripted-agent"

// An agentExitError is the exit code of the scripted agent, which is not one of
// codeloops' own.
type agentExitError int

func (e agentExitError) Error() string {
	return fmt.Sprintf("the scripted agent ended with %d", int(e))
}

func newScriptedAgentCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:                scriptedCommand,
		Short:              "Play a scenario as an agent would (codeloops starts it by itself)",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			code := scripted.Main(cmd.Context(), scripted.Invocation{
				Args: args, Stdin: a.In, Stdout: a.Out, Stderr: a.Err, Env: a.getenv, Now: a.now,
			})
			if code != 0 {
				return agentExitError(code)
			}
			return nil
		},
	}
}
