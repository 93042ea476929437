package settings

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/doctor"
	"codeloops/internal/cli/manual"
	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/screen/ask"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording/hint"
)

func newDoctorCmd(c *command.Console) *cobra.Command {
	var asJSON, clean, yes bool
	var probe string
	cmd := &cobra.Command{
		Use: "doctor",
		Annotations: manual.Exits(
			manual.Exit{Code: command.ExitDone, Meaning: "a run could start here; with --clean: there are no leftovers, or they were removed"},
			manual.Exit{Code: command.ExitLimit, Meaning: "with --clean, without --yes and not on a terminal: leftovers were found, and listed"},
			manual.Exit{Code: command.ExitError, Meaning: "a run could not start here, for the reasons shown; or an error"},
			manual.Exit{Code: command.ExitInterrupted, Meaning: command.MeansInterrupted},
		),
		Example: `  codeloops doctor
  codeloops doctor --probe
  codeloops doctor --clean --yes`,
		Short: "Check git, the agents, the configuration and the session directory",
		Long: `Check git, the agents, the configuration and the session directory, and say what
to do about each problem. The exit code is 2 if no run could start here.

Whether an agent is signed in is read from its files and the environment or, if
the agent has a command that says so, asked with that. This costs nothing.
--probe asks each agent of the configuration for one word, with its real model:
that shows whether it works, and costs a little.

--json prints a list of objects:

  what    what was checked
  ok      whether it is as it should be
  detail  what was found
  aside   true if a run does not need it
  hint    what to do about it; absent if nothing

--clean lists what killed runs have left behind, with sizes: views and temporary
files. On a terminal it then asks whether to remove them; with --yes it removes
them without asking; elsewhere it only lists them, and the exit code is 1 if
there are any. It never removes what a running session uses. What stands beside
the log of a session goes with it (codeloops sessions rm).`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if probe != "" && probe != doctor.Configured && probe != doctor.All {
				return hint.Errorf("--probe asks the configured agents, --probe=all every one that is installed", "--probe cannot be %q", probe)
			}
			if clean && probe != "" {
				return hint.Errorf("leave one of them out", "--clean and --probe contradict each other")
			}
			if yes && !clean {
				return hint.Errorf("", "--yes needs --clean")
			}
			if clean {
				return runClean(cmd.Context(), c, asJSON, yes)
			}
			return runDoctor(cmd.Context(), c, asJSON, probe)
		},
	}
	cmd.Flags().StringVar(&probe, "probe", "", "run one tiny turn of each configured agent; `all`: of each installed one")
	cmd.Flags().Lookup("probe").NoOptDefVal = doctor.Configured
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	cmd.Flags().BoolVar(&clean, "clean", false, "list what killed runs have left behind, and remove it")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "with --clean: do not ask")
	return cmd
}

func runClean(ctx context.Context, c *command.Console, asJSON, yes bool) error {
	if err := c.RequireUser(map[string]bool{"`codeloops doctor --clean`": true}); err != nil {
		return err
	}
	d := newDoctor(c)
	cfg, err := config.Load(d.Settings)
	if err != nil {
		return err
	}
	found, err := d.Leftovers(cfg)
	if err != nil {
		return err
	}
	text := found.List()
	if len(found.Things) == 0 {
		text += "nothing to clean\n"
	}
	if err := c.Show(asJSON, found, term.Clean(text)); err != nil || len(found.Things) == 0 {
		return err
	}
	if !yes && !c.CanAsk() {
		return command.ErrShort // the list has said it
	}
	if !yes {
		if err := ask.Confirm(ctx, c.Streams, "remove "+found.Sum()+"?"); err != nil {
			return err
		}
	}
	if err := found.Remove(ctx); err != nil || asJSON {
		return err
	}
	_, err = fmt.Fprintf(c.Out, "removed %s\n", found.Sum())
	return err
}

func runDoctor(ctx context.Context, c *command.Console, asJSON bool, probe string) error {
	findings := newDoctor(c).Examine(ctx, probe)
	if err := c.Show(asJSON, findings, sheet(c).Findings(findings)); err != nil {
		return err
	}
	for _, f := range findings {
		if !f.OK && !f.Optional {
			return &command.EndedError{Result: loop.Failed} // the findings have said it
		}
	}
	return nil
}

func sheet(c *command.Console) doctor.Sheet {
	return doctor.Sheet{Style: c.OutRenderer(), Width: c.OutRoom()}
}

func newDoctor(c *command.Console) *doctor.Doctor {
	return &doctor.Doctor{Host: &c.Host, Settings: c.Settings(c.Dir), Tell: c.Tell}
}
