package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/doctor"
	"codeloops/internal/cli/manual"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/screen/ask"
	"codeloops/internal/screen/term"
)

func newDoctorCmd(a *app) *cobra.Command {
	var asJSON, clean, yes bool
	var probe string
	cmd := &cobra.Command{
		Use: "doctor",
		Annotations: manual.Exits(
			manual.Exit{Code: exitDone, Meaning: "a run could start here; with --clean: nothing is left behind, or it was removed"},
			manual.Exit{Code: exitLimit, Meaning: "with --clean, where nobody can be asked: something was left behind, and is listed"},
			manual.Exit{Code: exitError, Meaning: "a run could not start here, for the reasons shown; or an error"},
			manual.Exit{Code: exitInterrupted, Meaning: meansInterrupted},
		),
		Example: `  codeloops doctor
  codeloops doctor --probe
  codeloops doctor --clean --yes`,
		Short: "Check git, the agents, the configuration and the session directory",
		Long: `Check git, the agents, the configuration and the session directory: each is ok,
or comes with what to do. It ends with 2 when a run could not start here.

Whether an agent is signed in is told from its files and the environment, or by
the agent itself where it has a command for that, and costs nothing. --probe asks
each agent of the configuration for one word, with its real model: that shows
whether it works, and costs a little.

--json prints a list of objects:

  what    what was looked at
  ok      whether it is well
  detail  what was found
  aside   true where it does not stand in a run's way
  hint    what to do about it; not there: nothing

--clean lists what runs that were killed have left: copies of the work tree and
other files beside logs, checkpoints of sessions that are gone, views, locks and
temporary files, with their sizes. On a terminal it asks, with --yes it does not,
and removes them; elsewhere it only lists, and ends with 1 where there is
something. What a run at work has is left alone, and so is what a session needs
that can be carried on.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if probe != "" && probe != doctor.Configured && probe != doctor.All {
				return usagef("--probe asks the configured agents, --probe=all every one that is installed", "--probe cannot be %q", probe)
			}
			if yes && !clean {
				return usagef("", "--yes is for --clean")
			}
			if clean {
				return runClean(cmd.Context(), a, asJSON, yes)
			}
			return runDoctor(cmd.Context(), a, asJSON, probe)
		},
	}
	cmd.Flags().StringVar(&probe, "probe", "", "let the agents of the configuration play one tiny turn; `all`: every one installed")
	cmd.Flags().Lookup("probe").NoOptDefVal = doctor.Configured
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	cmd.Flags().BoolVar(&clean, "clean", false, "list what runs that were killed have left, and remove it")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "with --clean: do not ask")
	cmd.MarkFlagsMutuallyExclusive("clean", "probe")
	return cmd
}

// runClean lists what was left behind and removes it, if the user agrees.
func runClean(ctx context.Context, a *app, asJSON, yes bool) error {
	if err := a.usersOwn(map[string]bool{"`codeloops doctor --clean`": true}); err != nil {
		return err
	}
	d := a.doctor()
	cfg, err := config.Load(d.Settings)
	if err != nil {
		return err
	}
	found, err := d.Leftovers(ctx, cfg)
	if err != nil {
		return err
	}
	text := found.List("found")
	if len(found.Things) == 0 {
		text += "nothing to clean\n"
	}
	if err := show(a, asJSON, found, term.Clean(text)); err != nil || len(found.Things) == 0 {
		return err
	}
	if !yes && !(a.InTTY && a.ErrTTY) {
		return &endedError{result: loop.MaxIterations} // 1: the list has said it
	}
	if !yes {
		if err := ask.Sure(ctx, a.Streams, "remove "+found.Sum()+"?"); err != nil {
			return err
		}
	}
	if err := found.Remove(ctx); err != nil || asJSON {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "removed %s\n", found.Sum())
	return err
}

func runDoctor(ctx context.Context, a *app, asJSON bool, probe string) error {
	findings := a.doctor().Examine(ctx, probe)
	if err := show(a, asJSON, findings, a.sheet().Findings(findings)); err != nil {
		return err
	}
	for _, f := range findings {
		if !f.OK && !f.Aside {
			return &endedError{result: loop.Failed} // the findings have said it
		}
	}
	return nil
}

// sheet is standard output as tables are laid out for it.
func (a *app) sheet() doctor.Sheet {
	s := doctor.Sheet{Style: a.OutRenderer()}
	if a.OutTTY {
		s.Width = a.OutWidth()
	}
	return s
}

// doctor looks at what there is here.
func (a *app) doctor() *doctor.Doctor {
	return &doctor.Doctor{Host: &a.Host, Settings: a.configOptions(a.Dir), Tell: a.tell}
}
