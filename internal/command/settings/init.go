package settings

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/doctor"
	"codeloops/internal/cli/project"
	"codeloops/internal/cli/setup"
	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/run/crew"
	"codeloops/internal/wording/hint"
)

type initOptions struct {
	setup.Answers

	asked bool // a flag has given an answer, so no questions are asked
}

func newInitCmd(c *command.Console) *cobra.Command {
	o := &initOptions{}
	cmd := &cobra.Command{
		Use:         "init",
		Annotations: command.Exits("the file was written", ""),
		Example: `  codeloops init
  codeloops init --actor-agent claude --critic-agent codex --check "go test ./..."`,
		Short: "Write a configuration file",
		Long: `Write a configuration file: codeloops.toml in the current directory, or with
--global your own. On a terminal it asks questions; elsewhere flags give the
answers. It offers the installed agents, first those that are signed in, and the
checks that the project's own files suggest. A file with checks counts as
trusted, because you have just written it.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"actor-agent", "critic-agent", "max-iterations", "check"} {
				o.asked = o.asked || cmd.Flags().Changed(name)
			}
			return runInit(cmd.Context(), c, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Actor, "actor-agent", "", "`agent` that does the work (default: the first one that is signed in)")
	f.StringVar(&o.Critic, "critic-agent", "", "`agent` that judges the work (default: another one that is signed in, or the same)")
	f.IntVarP(&o.MaxIterations, "max-iterations", "n", 10, "end after `n` iterations; 0 is no limit")
	f.StringArrayVar(&o.Checks, "check", nil, "shell `command` that must pass before the work is done; may be repeated")
	f.BoolVar(&o.Global, "global", false, "write the global file instead of the project's")
	f.BoolVar(&o.Force, "force", false, "replace an existing file")
	return cmd
}

func runInit(ctx context.Context, c *command.Console, o *initOptions) error {
	if err := c.RequireUser(map[string]bool{"`codeloops init --global`": o.Global}); err != nil {
		return err
	}
	place := &setup.Place{Host: &c.Host, Settings: c.Settings}
	file, err := place.File(o.Global)
	if err != nil {
		return err
	}
	here := crew.Candidates(ctx, &c.Host)
	if err := o.Suggest(here); err != nil {
		return err
	}
	if c.CanAsk() && !o.asked {
		if !o.Global {
			o.Checks = project.Tests(c.Dir)
		}
		if err := place.Ask(ctx, c.Streams, c.Report, &o.Answers, here); err != nil {
			return err
		}
	}
	if err := c.RequireUser(map[string]bool{"checks that count as trusted": len(o.Checks) > 0}); err != nil {
		return err
	}
	err = place.KnownAgent(o.Actor)
	if o.Critic != o.Actor {
		err = errors.Join(err, place.KnownAgent(o.Critic))
	}
	if err != nil {
		return err
	}
	if err := place.Write(file, o.Answers); err != nil {
		return err
	}
	if _, err = fmt.Fprintf(c.Out, "wrote %s: actor %s, critic %s\n", file, o.Actor, o.Critic); err != nil {
		return err
	}
	return reportProblems(ctx, c)
}

// reportProblems reports what would keep the configured agents from running, as doctor does. What
// is wrong with both roles is said once.
func reportProblems(ctx context.Context, c *command.Console) error {
	cfg, err := config.Load(c.Settings(c.Dir))
	if err != nil {
		return err
	}
	for _, f := range doctor.Merged(newDoctor(c).Agents(ctx, cfg, "")) {
		if !f.OK {
			c.Report(hint.Add(errors.New(f.Detail), f.Hint))
		}
	}
	return nil
}
