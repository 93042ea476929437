package main

import (
	"github.com/spf13/cobra"

	"codeloops/internal/cli/guess"
	"codeloops/internal/cli/task"
	"codeloops/internal/command"
	"codeloops/internal/command/evals"
	"codeloops/internal/command/lessons"
	"codeloops/internal/command/mcpserver"
	"codeloops/internal/command/projects"
	"codeloops/internal/command/prompts"
	"codeloops/internal/command/sessions"
	"codeloops/internal/command/settings"
	"codeloops/internal/command/steering"
	"codeloops/internal/command/tasks"
)

// newRootCmd returns the whole command tree.
func newRootCmd(a *app) *cobra.Command {
	o, showVersion := &runOptions{}, false
	restorer := &sessions.Restorer{Console: a.Console}
	queue := &tasks.Access{Console: a.Console, Signals: &a.signals, Board: a.board}
	root := &cobra.Command{
		Use:         "codeloops [flags] [prompt…]",
		Annotations: runExits(),
		Short:       "Make coding agents finish what they start",
		Long: `codeloops lets an actor, which is a coding agent, work in your git repository,
captures what has changed since the session began, and lets a critic, the same
agent or another one, judge it. The critic's feedback goes back to the actor
until the critic says DONE.

The prompt comes from the command line, --prompt, --prompt-file, --prompt-name or
--edit; or else from standard input, if that is a pipe or a file; or else from
prompt.md in the working directory. Without any of them, a terminal shows what
runs here, or the last session, and what to do next.`,
		Example: `  codeloops --max-iterations 5 "make the failing test in parser pass"
  codeloops --actor-agent codex --critic-agent claude --check "go test ./..." \
      --prompt-file task.md
  codeloops demo`,
		Args:              cobra.ArbitraryArgs,
		PersistentPreRun:  func(cmd *cobra.Command, _ []string) { restorer.Recover(cmd.Context()) },
		SilenceErrors:     true,
		SilenceUsage:      true,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if showVersion {
				return about().print(a, false)
			}
			if g, ok := guess.Find(known(cmd.Root()), args); ok && cmd.ArgsLenAtDash() != 0 {
				return g.Refusal()
			}
			if len(args) == 0 && cmd.Flags().NFlag() == 0 && a.Interactive() && !task.Written(a.Dir) {
				return steering.Welcome(cmd.Context(), a.Console)
			}
			return o.run(a, cmd, args)
		},
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return flagError(cmd, a.args, err)
	})
	flags := root.PersistentFlags()
	flags.BoolVar(&a.NoColour, "no-color", a.NoColour, "no colour, even on a terminal")
	flags.Lookup("no-color").DefValue = "false" // what the environment says is no default
	flags.SortFlags = false
	o.addFlags(root.Flags())
	root.Flags().BoolVar(&showVersion, "version", false, "print the version")
	for _, part := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Run agents", []*cobra.Command{newRunCmd(a), newResumeCmd(a), prompts.New(a.Console), newGateCmd(a), mcpserver.New(a.Console), newDemoCmd(a)}},
		{"Many tasks", queue.Commands()},
		{"The last run", sessions.LastRun(restorer)},
		{"Watch and steer", append(steering.Commands(a.Console), newUICmd(a))},
		{"Look back", append(sessions.Commands(restorer), projects.New(a.Console), evals.New(a.Console, queue.Trials), lessons.New(a.Console))},
		{"Set up", settings.Commands(a.Console)},
	} {
		root.AddGroup(&cobra.Group{ID: part.title, Title: part.title})
		for _, cmd := range part.commands {
			cmd.GroupID = part.title
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newManCmd(a), newVersionCmd(a), newCICmd(a), newScriptedAgentCmd(a))
	a.teach(root)
	addCompletions(a, root)
	visit(root, wantValues)
	return root
}

// wantValues lets a command reject flags with an empty value, before anything else.
func wantValues(cmd *cobra.Command) {
	wants := cmd.Args
	if wants == nil {
		wants = cobra.ArbitraryArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := command.RejectEmptyFlags(cmd.Flags()); err != nil {
			return err
		}
		return wants(cmd, args)
	}
}

// newRunCmd returns `codeloops run`, which does the same as `codeloops` without a command.
func newRunCmd(a *app) *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:         "run [flags] [prompt…]",
		Annotations: runExits(),
		Example: `  codeloops run --max-iterations 5 --check "go test ./..." "accept ISO weeks, with tests"
  codeloops run --actor-agent codex --critic-agent claude --prompt-file task.md
  codeloops run --max-cost 2 --max-duration 1h --json-output "…" > result.json`,
		Short: "Run the loop (the same as codeloops without a command)",
		Long:  "Run the loop: actor, diff, critic, until the critic says DONE.",
		Args:  cobra.ArbitraryArgs,
		RunE:  func(cmd *cobra.Command, args []string) error { return o.run(a, cmd, args) },
	}
	o.addFlags(cmd.Flags())
	return cmd
}

// known describes a command and its subcommands to package guess.
func known(cmd *cobra.Command) guess.Command {
	c := guess.Command{Name: cmd.Name(), Aliases: cmd.Aliases}
	for _, below := range cmd.Commands() {
		if !below.Hidden {
			c.Below = append(c.Below, known(below))
		}
	}
	return c
}
