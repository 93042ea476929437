package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/diff/repo"
	"codeloops/internal/session"
)

// configOptions describes what the configuration depends on, seen from dir.
// Outside of a repository only dir itself may hold a project file.
func (a *app) configOptions(dir string) config.Options {
	o := config.Options{
		Env: a.env, Home: a.home(), WorkingDir: dir, Outputs: agent.Formats(),
	}
	if r, err := repo.Open(dir, a.lookupEnv); err == nil {
		o.RepositoryRoot = r.WorkTree
	}
	return o
}

func (a *app) home() string {
	if home := a.getenv("HOME"); home != "" {
		return home
	}
	return a.getenv("USERPROFILE") // where Windows keeps it
}

func newConfigCmd(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show, check and trust the configuration",
		Long: `Show, check and trust the configuration.

A value comes from the highest layer that sets it: flag, CODELOOPS_* variable,
the project's codeloops.toml, the global config.toml, the default.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVarP(&dir, "working-dir", "d", "", "look from `dir` instead of the current directory")
	options := func() config.Options { return a.configOptions(resolve(a.dir, dir)) }
	cmd.AddCommand(
		newConfigShowCmd(a, options),
		newConfigPathCmd(a, options),
		newConfigCheckCmd(a, options),
		newConfigTrustCmd(a, options),
	)
	return cmd
}

func newConfigShowCmd(a *app, options func() config.Options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Print every key with its value and where that came from",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := config.Load(options())
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.Out, cfg.Entries())
			}
			return showConfig(a, cfg.Entries())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list of key, value and origin")
	return cmd
}

func showConfig(a *app, entries []config.Entry) error {
	var b strings.Builder
	faint := a.OutRenderer().NewStyle().Faint(true)
	for _, e := range entries {
		fmt.Fprintf(&b, "%-40s %s\n", e.String(), faint.Render("# "+e.Origin.String()))
	}
	_, err := fmt.Fprint(a.Out, a.secrets.String(b.String()))
	return err
}

func newConfigPathCmd(a *app, options func() config.Options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "path",
		Short: "Print the files and directories that are used",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			paths, err := config.Locate(options())
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(a.Out, paths)
			}
			_, err = fmt.Fprintf(a.Out, "global    %s\nproject   %s\nsessions  %s\ntrust     %s\n",
				orNone(paths.Global), orNone(paths.Project), orNone(paths.Sessions), orNone(paths.Trust))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return cmd
}

func orNone(path string) string {
	if path == "" {
		return "(none)"
	}
	return path
}

func newConfigCheckCmd(a *app, options func() config.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Say what is wrong with the configuration, if anything is",
		Long:  "Say what is wrong with the configuration, if anything is.\n\n" + exitHelp(),
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := config.Load(options())
			if err != nil {
				return err
			}
			if err := a.checkNames(cfg); err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.Out, "the configuration is valid")
			return err
		},
	}
}

// checkNames refuses agents that there are not, whether or not they are installed.
func (a *app) checkNames(cfg *config.Config) error {
	own, err := a.specs(cfg, &runOptions{script: os.DevNull})
	if err != nil {
		return err
	}
	var names []string
	for _, entry := range named(cfg) {
		name, _, _ := strings.Cut(entry, ":")
		names = append(names, name)
	}
	slices.Sort(names)
	var wrong []error
	for _, name := range slices.Compact(names) {
		if _, err := agent.Find(name, own...); err != nil && name != autoName {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

func newConfigTrustCmd(a *app, options func() config.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "trust [file]",
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
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.usersOwn(map[string]bool{"`codeloops config trust`": true}); err != nil {
				return err
			}
			return runTrust(a, options(), args)
		},
	}
}

// quiet refuses trust while a session runs in the work tree of a project file, "" being
// the one that applies: it would not count for the session, and whoever asks may be a
// part of it.
func (a *app) quiet(o config.Options, file string) error {
	dir := o.WorkingDir
	if file != "" {
		dir = filepath.Dir(file)
	}
	r, err := repo.Open(dir, a.lookupEnv)
	if err != nil {
		return nil //nolint:nilerr // no session runs outside of a repository
	}
	if held := session.Held(filepath.Join(r.GitDir, "codeloops"), r.WorkTree); held != nil {
		return usagef("wait for its end: what is trusted while it runs does not count for it", "%v", held)
	}
	return nil
}

func runTrust(a *app, o config.Options, args []string) error {
	file := ""
	if len(args) == 1 {
		file = resolve(a.dir, args[0])
	}
	if err := a.quiet(o, file); err != nil {
		return err
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
