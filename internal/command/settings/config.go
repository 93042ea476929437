package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/run/crew"
	"codeloops/internal/run/worktree"
	"codeloops/internal/wording/hint"
)

func newConfigCmd(c *command.Console) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:         "config",
		Annotations: command.Exits("the help was shown", ""),
		Example: `  codeloops config show
  codeloops config trust`,
		Short: "Show, check and trust the configuration",
		Long: `Show, check and trust the configuration.

A value comes from the highest layer that sets it: flag, CODELOOPS_* variable,
the project's codeloops.toml, the global config.toml, the default.`,
		Args: command.OwnCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVarP(&dir, "working-dir", "d", "", "look from `dir` instead of the current directory")
	options := func() config.Options { return c.Settings(c.Path(dir)) }
	cmd.AddCommand(
		newConfigShowCmd(c, options),
		newConfigPathCmd(c, options),
		newConfigCheckCmd(c, options),
		newConfigTrustCmd(c, options),
	)
	return cmd
}

func newConfigShowCmd(c *command.Console, options func() config.Options) *cobra.Command {
	var asJSON, changed bool
	cmd := &cobra.Command{
		Use:         "show",
		Annotations: command.Exits("the configuration was shown", ""),
		Example: `  codeloops config show
  codeloops config show --changed
  codeloops config show --json | jq -r '.[] | select(.key == "checks") | .value[]'`,
		Short: "Print every key with its value and where the value comes from",
		Long: `Print every key with its value, as it would be written in a file, and where the
value comes from. --changed leaves out the defaults.

--json prints a list of objects:

  key           with dots for tables
  value         a text, a number, true, false, or a list; durations and sizes are texts
  origin.layer  flag, env, project, global or default
  origin.file   the file that sets it
  origin.line   in that file
  origin.name   the flag, the variable, the key or the profile that sets it`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := config.Load(options())
			if err != nil {
				return err
			}
			entries := cfg.Entries()
			if changed {
				entries = slices.DeleteFunc(entries, func(e config.Entry) bool { return e.Origin.Layer == config.Default })
			}
			return c.Show(asJSON, entries, configTable(entries, c.OutRenderer()))
		},
	}
	cmd.Flags().BoolVar(&changed, "changed", false, "only keys that are set")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}

// configTable shows a configuration in the syntax of its file, with the origin of each line in a
// column of its own. What is set stands out.
func configTable(entries []config.Entry, style *lipgloss.Renderer) string {
	const widest = 60 // longer lines do not move the column of origins
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

func newConfigPathCmd(c *command.Console, options func() config.Options) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "path",
		Annotations: command.Exits("the paths were shown", ""),
		Example: `  codeloops config path
  $EDITOR "$(codeloops config path --json | jq -r .global)"`,
		Short: "Print the files and directories that are used",
		Args:  command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			paths, err := config.Locate(options())
			if err != nil {
				return err
			}
			return c.Show(asJSON, paths, fmt.Sprintf("global    %s\nproject   %s\nsessions  %s\ntrust     %s\n",
				cmp.Or(paths.Global, none), cmp.Or(paths.Project, none), cmp.Or(paths.Sessions, none), cmp.Or(paths.Trust, none)))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return cmd
}

// none replaces the path of a file that does not exist.
const none = "(none)"

func newConfigCheckCmd(c *command.Console, options func() config.Options) *cobra.Command {
	return &cobra.Command{
		Use:         "check",
		Annotations: command.Exits("the configuration is valid", ""),
		Example: `  codeloops config check
  codeloops config check -d ../elsewhere`,
		Short: "Check the configuration, and report what is wrong",
		Args:  command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := config.Load(options())
			if err != nil {
				return err
			}
			if err := crew.CheckNames(&c.Host, cfg); err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.Out, "the configuration is valid")
			return err
		},
	}
}

func newConfigTrustCmd(c *command.Console, options func() config.Options) *cobra.Command {
	return &cobra.Command{
		Use:         "trust [file]",
		Annotations: command.Exits("the files are trusted as they are now", ""),
		Example: `  codeloops config trust
  codeloops config trust ../elsewhere/codeloops.toml`,
		Short: "Trust a project's files as they are now, so that they may run commands",
		Long: `Let a project's codeloops.toml, as it is now, run commands and change the rules of
a run: ` + "`codeloops help config`" + ` says which keys need trust. Without a name, the same
goes for the files from which agents would run something as soon as they are
started, such as hooks in .claude/settings.json; until then an actor is started
without them. Read the files first. When one changes it needs trust again.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return hint.Errorf("name one file at a time", "config trust takes one file, but got %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions([]cobra.Completion{"toml"}, cobra.ShellCompDirectiveFilterFileExt),
		PreRunE:           c.UsersCommand,
		RunE: func(_ *cobra.Command, args []string) error {
			return runTrust(c, options(), args)
		},
	}
}

func runTrust(c *command.Console, o config.Options, args []string) error {
	file, dir := "", o.WorkingDir
	if len(args) == 1 {
		file = c.Path(args[0])
		dir = filepath.Dir(file)
	}
	if held := worktree.Held(&c.Host, dir); held != nil { // trust would not apply to that session, and whoever asks may be part of it
		return hint.Errorf("wait for its end: what is trusted while it runs does not count for it", "%v", held)
	}
	named := file != ""
	file, keys, err := config.Trust(o, file)
	var forAgents []string
	if !named && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		var e error
		if forAgents, e = config.TrustFiles(o, crew.Runs()); e != nil || len(forAgents) > 0 {
			err = e
		}
	}
	if err != nil {
		return err
	}
	var b strings.Builder
	if file != "" {
		what := "it has no key that needs trust"
		if len(keys) > 0 {
			what = "for " + strings.Join(keys, ", ")
		}
		fmt.Fprintf(&b, "trusted: %s (%s)\n", file, what)
	}
	for _, name := range forAgents {
		fmt.Fprintf(&b, "trusted: %s (for agents, which may run what it says)\n", name)
	}
	_, err = io.WriteString(c.Out, b.String())
	return err
}
