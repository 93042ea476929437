package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"codeloops/internal/agent/scripted"
)

// An agentExitError is the exit code of the scripted agent, which is not one of
// codeloops' own.
type agentExitError int

func (e agentExitError) Error() string {
	return fmt.Sprintf("the scripted agent ended with %d", int(e))
}

func newScriptedAgentCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:                scripted.Command,
		Short:              "Play a scenario as an agent would (codeloops starts it by itself)",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			code := scripted.Main(cmd.Context(), scripted.Invocation{
				Args: args, Stdin: a.In, Stdout: a.Out, Stderr: a.Err, Env: a.Getenv, Now: a.Now,
			})
			if code != 0 {
				return agentExitError(code)
			}
			return nil
		},
	}
}
