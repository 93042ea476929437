package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/agent/scripted"
	"codeloops/internal/cli/demo"
	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/run"
	"codeloops/internal/session/lookup"
	"codeloops/internal/strategy"
	"codeloops/internal/wording/hint"
)

func newDemoCmd(a *app) *cobra.Command {
	var keep, quick bool
	name := strategy.NameActorCritic
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:         "demo",
		Annotations: runExits(),
		Example: `  codeloops demo
  codeloops demo --strategy tree-of-thoughts --keep`,
		Short: "Show the whole loop on a throw-away repository: no key, no network",
		Long: `Show the whole loop on a throw-away repository, with the built-in scripted agent
in all roles: a small program has a failing test, the first change is wrong,
the critic runs the test and says why, the second change is right. Processes,
git and the session log are real; no key and no network are needed. On a terminal
it takes about 15 seconds, elsewhere and with --quick one or two. The keys of a run
work: ? lists them.

--strategy NAME shows another way of driving agents on the same repository, such
as learning a lesson for a second attempt, or the best of several candidates.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), a, o, name, keep, quick) },
	}
	f := cmd.Flags()
	f.StringVar(&name, "strategy", name, "use the strategy `name`; codeloops strategies lists them")
	f.BoolVar(&keep, "keep", false, "keep the repository, and say where it is")
	f.BoolVar(&quick, "quick", false, "do not give people the time to watch")
	f.BoolVar(&o.jsonOutput, "json-output", false, "print one JSON object on standard output at the end")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "also show what the agents print while they work")
	return cmd
}

func runDemo(ctx context.Context, a *app, o *runOptions, name string, keep, quick bool) (err error) {
	if _, ok := strategy.Find(name); !ok {
		return hint.Errorf("--strategy takes one of "+strings.Join(strategy.Names(), ", "), "there is no strategy %q", name)
	}
	dir, err := os.MkdirTemp("", lookup.DemoDir)
	if err != nil {
		return fmt.Errorf("make a directory for the demonstration: %w", err)
	}
	stage := demo.NewStage(dir)
	if keep {
		defer func() { fmt.Fprintf(a.Err, "the repository is in %s\n", dir) }() //nolint:errcheck // a courtesy
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		if err := stage.MarkDisposable(); err != nil {
			return err
		}
	}
	cfg, err := config.Load(config.Options{Env: a.Environ, Home: a.Home(), WorkingDir: dir})
	if err != nil {
		return err
	}
	logs, err := cfg.Sessions() // the usual directory
	if err != nil {
		return err
	}
	// GIT_DIR and similar variables would point to another repository.
	a.Environ = stage.Environ(git.WithoutRepository(a.Environ))
	if err := stage.Set(ctx, a.Environ, name, a.ErrTTY && a.Getenv("CI") == "" && !quick); err != nil {
		return fmt.Errorf("set up the demonstration: %w", err)
	}
	o.workingDir, o.demo = stage.Repository(), true
	one := func(name, value string) loop.Flag { return loop.Flag{Name: name, Values: []string{value}} }
	o.settings, err = run.NewSettings([]loop.Flag{
		one("agent", scripted.Name), one("strategy", name), one("script", stage.Script()), one("max-iterations", "5"), one("session-dir", logs),
	})
	if err != nil {
		return err
	}
	return runRun(ctx, a, o)
}

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
