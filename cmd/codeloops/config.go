package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/diff/repo"
	"codeloops/internal/run/crew"
	"codeloops/internal/run/worktree"
)

// configOptions describes what the configuration depends on, seen from dir.
// Outside of a repository only dir itself may hold a project file.
func (a *app) configOptions(dir string) config.Options {
	o := config.Options{
		Env: a.Environ, Home: a.Home(), WorkingDir: dir, Outputs: agent.Formats(),
	}
	if r, err := repo.Open(dir, a.LookupEnv); err == nil {
		o.RepositoryRoot = r.WorkTree
	}
	return o
}

func newConfigCmd(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:         "config",
		Annotations: exits("the help was shown", ""),
		Example: `  codeloops config show
  codeloops config trust`,
		Short: "Show, check and trust the configuration",
		Long: `Show, check and trust the configuration.

A value comes from the highest layer that sets it: flag, CODELOOPS_* variable,
the project's codeloops.toml, the global config.toml, the default.`,
		Args: ownCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVarP(&dir, "working-dir", "d", "", "look from `dir` instead of the current directory")
	options := func() config.Options { return a.configOptions(a.Path(dir)) }
	cmd.AddCommand(
		newConfigShowCmd(a, options),
		newConfigPathCmd(a, options),
		newConfigCheckCmd(a, options),
		newConfigTrustCmd(a, options),
	)
	return cmd
}

func newConfigShowCmd(a *app, options func() config.Options) *cobra.Command {
	var asJSON, changed bool
	cmd := &cobra.Command{
		Use:         "show",
		Annotations: exits("the configuration was shown", ""),
		Example: `  codeloops config show
  codeloops config show --changed
  codeloops config show --json | jq -r '.[] | select(.key == "checks") | .value[]'`,
		Short: "Print every key with its value and where that came from",
		Long: `Print every key with its value and where that came from, as a file would say it.
--changed leaves out what is as it is by default.

--json prints a list of objects:

  key           with dots for tables
  value         a text, a number, true, false, or a list; durations and sizes are texts
  origin.layer  flag, env, project, global or default
  origin.file   the file that sets it
  origin.line   in that file
  origin.name   the flag, the variable, the key or the profile that sets it`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := config.Load(options())
			if err != nil {
				return err
			}
			entries := cfg.Entries()
			if changed {
				entries = slices.DeleteFunc(entries, func(e config.Entry) bool { return e.Origin.Layer == config.Default })
			}
			return show(a, asJSON, entries, configTable(entries, a.OutRenderer()))
		},
	}
	cmd.Flags().BoolVar(&changed, "changed", false, "only what is set somewhere")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}

// configTable is a configuration as a file would say it, with where each line came from in
// a column of its own. What is set stands out.
func configTable(entries []config.Entry, style *lipgloss.Renderer) string {
	const widest = 60 // of the lines behind which the column begins
	wide := 40
	for _, e := range entries {
		if n := ansi.StringWidth(e.String()); n <= widest {
			wide = max(wide, n)
		}
	}
	faint, strong := style.NewStyle().Faint(true), style.NewStyle().Bold(true)
	var b strings.Builder
	for _, e := range entries {
		line := e.String()
		space := strings.Repeat(" ", max(0, wide-ansi.StringWidth(line))+1)
		if e.Origin.Layer != config.Default {
			line = strong.Render(line)
		}
		b.WriteString(line + space + faint.Render("# "+e.Origin.String()) + "\n")
	}
	return b.String()
}

func newConfigPathCmd(a *app, options func() config.Options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "path",
		Annotations: exits("the paths were shown", ""),
		Example: `  codeloops config path
  $EDITOR "$(codeloops config path --json | jq -r .global)"`,
		Short: "Print the files and directories that are used",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			paths, err := config.Locate(options())
			if err != nil {
				return err
			}
			return show(a, asJSON, paths, fmt.Sprintf("global    %s\nproject   %s\nsessions  %s\ntrust     %s\n",
				cmp.Or(paths.Global, none), cmp.Or(paths.Project, none), cmp.Or(paths.Sessions, none), cmp.Or(paths.Trust, none)))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return cmd
}

// none stands in the place of a path that there is not.
const none = "(none)"

func newConfigCheckCmd(a *app, options func() config.Options) *cobra.Command {
	return &cobra.Command{
		Use:         "check",
		Annotations: exits("the configuration is valid", ""),
		Example: `  codeloops config check
  codeloops config check -d ../elsewhere`,
		Short: "Say what is wrong with the configuration, if anything is",
		Long:  "Say what is wrong with the configuration, if anything is.",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := config.Load(options())
			if err != nil {
				return err
			}
			if err := crew.CheckNames(&a.Host, cfg); err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.Out, "the configuration is valid")
			return err
		},
	}
}

func newConfigTrustCmd(a *app, options func() config.Options) *cobra.Command {
	return &cobra.Command{
		Use:         "trust [file]",
		Annotations: exits("the file is trusted as it is now", ""),
		Example: `  codeloops config trust
  codeloops config trust ../elsewhere/codeloops.toml`,
		Short: "Let a project's codeloops.toml, as it is now, run commands",
		Long: `Let a project's codeloops.toml, as it is now, run commands: its own agents,
checks, and what else the configuration marks as guarded. Read the file first.
When it changes it needs trust again.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("name one file at a time", "config trust takes one file, but got %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{"toml"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.usersOwn(map[string]bool{"`codeloops config trust`": true}); err != nil {
				return err
			}
			return runTrust(a, options(), args)
		},
	}
}

func runTrust(a *app, o config.Options, args []string) error {
	file := ""
	if len(args) == 1 {
		file = a.Path(args[0])
	}
	dir := o.WorkingDir
	if file != "" {
		dir = filepath.Dir(file)
	}
	if held := worktree.Held(&a.Host, dir); held != nil { // it would not count for the session, and who asks may be a part of it
		return usagef("wait for its end: what is trusted while it runs does not count for it", "%v", held)
	}
	keys, err := config.Trust(o, file)
	if err != nil {
		return err
	}
	if file == "" {
		paths, err := config.Locate(o)
		if err != nil {
			return err
		}
		file = paths.Project
	}
	what := "it has no key that needs trust"
	if len(keys) > 0 {
		what = "for " + strings.Join(keys, ", ")
	}
	_, err = fmt.Fprintf(a.Out, "trusted: %s (%s)\n", filepath.Clean(file), what)
	return err
}
