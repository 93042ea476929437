package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/loop"
)

type initOptions struct {
	global bool
	force  bool
	actor  string
	critic string
	max    int
	asked  bool // whether a flag has answered, so that nothing is asked
}

func newInitCmd(a *app) *cobra.Command {
	o := &initOptions{}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a configuration file",
		Long: `Write a configuration file: codeloops.toml in the current directory, or with
--global your own. On a terminal it asks; elsewhere the flags answer.

` + exitHelp(),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"actor-agent", "critic-agent", "max-iterations"} {
				o.asked = o.asked || cmd.Flags().Changed(name)
			}
			return runInit(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.actor, "actor-agent", "", "`agent` that does the work (default: the first one installed)")
	f.StringVar(&o.critic, "critic-agent", "", "`agent` that judges it (default: another one installed, or the same)")
	f.IntVarP(&o.max, "max-iterations", "n", 10, "end after so many iterations; 0 is no limit")
	f.BoolVar(&o.global, "global", false, "write the global file instead of the project's")
	f.BoolVar(&o.force, "force", false, "replace a file that is there")
	return cmd
}

func runInit(ctx context.Context, a *app, o *initOptions) error {
	if err := a.usersOwn(map[string]bool{"`codeloops init --global`": o.global}); err != nil {
		return err
	}
	file := filepath.Join(a.dir, "codeloops.toml")
	if o.global {
		paths, err := config.Locate(a.configOptions(""))
		if err != nil {
			return err
		}
		if paths.Global == "" {
			return usagef("set HOME or XDG_CONFIG_HOME", "the place of the global configuration is unknown")
		}
		file = paths.Global
	}
	a.suggest(o)
	if a.InTTY && a.ErrTTY && !o.asked {
		if err := a.ask(ctx, o); err != nil {
			return err
		}
	}
	err := config.Write(file, map[string]any{
		"actor.agent": o.actor, "critic.agent": o.critic, "max_iterations": o.max,
	}, o.force)
	if errors.Is(err, fs.ErrExist) {
		return usagef("edit it, or replace it with --force", "%s is there already", file)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "wrote %s: actor %s, critic %s\n", file, o.actor, o.critic)
	return err
}

// suggest fills in what was not said: agents that are installed, two different
// ones where there are two.
func (a *app) suggest(o *initOptions) {
	var installed []string
	for _, spec := range agent.Catalogue() {
		if _, err := spec.Resolve(loop.RoleActor, a.dir, a.env); err == nil {
			installed = append(installed, spec.Name)
		}
	}
	if len(installed) == 0 {
		installed = []string{agent.Catalogue()[0].Name}
	}
	if o.actor == "" {
		o.actor = installed[0]
	}
	if o.critic == "" {
		o.critic = installed[len(installed)-1]
		for _, name := range installed {
			if name != o.actor {
				o.critic = name
				break
			}
		}
	}
}

// ask lets the user confirm or change each answer.
func (a *app) ask(ctx context.Context, o *initOptions) error {
	in := bufio.NewReader(a.In)
	limit := strconv.Itoa(o.max)
	for _, q := range []struct {
		question string
		answer   *string
	}{
		{"agent that does the work", &o.actor},
		{"agent that judges it", &o.critic},
		{"iterations at most, 0 for no limit", &limit},
	} {
		line, err := a.answer(ctx, in, fmt.Sprintf("%s [%s]: ", q.question, *q.answer))
		if err != nil {
			return err
		}
		if line != "" {
			*q.answer = line
		}
	}
	var err error
	if o.max, err = strconv.Atoi(limit); err != nil {
		return usagef("answer with a number", "%q is no number of iterations", limit)
	}
	return nil
}
