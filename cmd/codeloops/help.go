package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	codeloops "codeloops"
	"codeloops/internal/cli/manual"
	"codeloops/internal/command"
	"codeloops/internal/config"
	"codeloops/internal/proc"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A topic is a page of the documentation that `codeloops help` shows.
type topic struct {
	name  string
	about string
	page  string // its file
	part  string // heading of the section that is shown; "": the whole page
}

func topics() []topic {
	return []topic{
		{"agents", "supported agents, how one is chosen, limits, your own", "docs/adding-agents.md", ""},
		{"ci", "jobs of GitHub and GitLab: the action, the component, forks, two jobs", "docs/ci.md", ""},
		{"config", "every key of the configuration with its default", "codeloops.toml.example", ""},
		{"decisions", "how a critic's reply is read, and when a run is done", "docs/policy.md", ""},
		{"eval", "whether the critic pays, on your own history, and which configuration solves more", "docs/eval.md", ""},
		{"exit-codes", "how a run ends, with exit codes and stop reasons", "docs/ends.md", "What ends a run"},
		{"hooks", "the critic as a hook of Claude Code and Codex: codeloops gate", "docs/gate.md", ""},
		{"limits", "what an actor may change, and what codeloops cannot see or guarantee", "docs/limits.md", ""},
		{"notices", "commands of yours that a run calls: desktop, Slack, e-mail, ntfy", "docs/notices.md", ""},
		{"pr", "from a run to a commit, a pull request, and its reviews", "docs/pr.md", ""},
		{"prompts", "how to write a task that a critic can judge", "docs/prompts.md", ""},
		{"queue-sources", "where the tasks of a queue can come from", "docs/queue-sources.md", ""},
		{"reviews", "panels of critics, approval by score, structured critiques", "docs/reviews.md", ""},
		{"scripted-agent", "the scenario files of the built-in agent scripted", "docs/scripted-agent.md", ""},
		{"session-format", "the lines and fields of a session log", "docs/session-format.md", ""},
		{"steering", "how to watch and steer a run, from its keys or elsewhere", "docs/steering.md", ""},
		{"strategies", "the ways to drive agents", "docs/strategies.md", ""},
		{"templates", "your own wording for the agents' prompts", "docs/templates.md", ""},
		{"troubleshooting", "what you see, why, and what to do", "docs/troubleshooting.md", ""},
		{"verify", "a statement of what a run was judged by, and how others check it", "docs/verify.md", ""},
	}
}

// topicNames returns the names of all topics.
func topicNames() (names []string) {
	for _, t := range topics() {
		names = append(names, t.name)
	}
	return names
}

func newHelpCmd(a *app) *cobra.Command {
	var noPager bool
	cmd := &cobra.Command{
		Use:         "help [COMMAND…|TOPIC]",
		Annotations: command.Exits("the help was shown", ""),
		Short:       "Show the help of a command, or a page on a topic",
		Long: `Show the help of a command, or a page on a topic; on a terminal the page is shown
in your pager. If a command and a topic have the same name, use COMMAND --help.

The topics are ` + strings.Join(topicNames(), ", ") + `.`,
		Example: `  codeloops help run
  codeloops help exit-codes`,
		// Help works whatever state the work tree is in.
		PersistentPreRun: func(*cobra.Command, []string) {},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
			if len(args) == 0 {
				for _, t := range topics() {
					found = append(found, cobra.CompletionWithDesc(t.name, t.about))
				}
			}
			return append(found, completeCommands(cmd.Root(), args, topicNames()...)...), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if i := slices.Index(topicNames(), strings.Join(args, " ")); i >= 0 {
				return a.showTopic(cmd.Context(), noPager, topics()[i])
			}
			of, err := named(cmd.Root(), args)
			if err != nil {
				return err
			}
			return a.showHelp(cmd.Context(), noPager, of)
		},
	}
	cmd.Flags().BoolVar(&noPager, "no-pager", false, "do not use a pager, even on a terminal")
	return cmd
}

// completeCommands offers the subcommands of the command that the words name.
func completeCommands(root *cobra.Command, args []string, but ...string) (found []cobra.Completion) {
	if of, err := named(root, args); err == nil {
		for _, c := range of.Commands() {
			if c.IsAvailableCommand() && !slices.Contains(but, c.Name()) {
				found = append(found, cobra.CompletionWithDesc(c.Name(), c.Short))
			}
		}
	}
	return found
}

// named finds the command that the words name. Its error suggests the nearest name.
func named(root *cobra.Command, args []string) (*cobra.Command, error) {
	of, rest, err := root.Find(args)
	if err == nil && len(rest) == 0 {
		return of, nil
	}
	names := topicNames()
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	what := "`codeloops help` lists both"
	if name, ok := wording.Nearest(args[0], names); ok && !slices.Contains(names, args[0]) {
		what = "did you mean `codeloops help " + name + "`?"
	}
	return nil, hint.Errorf(what, "there is no command or help topic called %q", strings.Join(args, " "))
}

// showTopic shows the page of a topic.
func (a *app) showTopic(ctx context.Context, noPager bool, t topic) error {
	page, err := codeloops.Pages.ReadFile(t.page)
	if err != nil {
		return err // impossible: the pages are embedded
	}
	text := string(page)
	if t.part != "" {
		_, text, _ = strings.Cut(text, "\n## "+t.part+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
		text = exitCodes() + text
	}
	if strings.HasSuffix(t.page, ".md") {
		text = a.manualScreen().Markdown(text)
	}
	return a.Page(ctx, noPager, func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// manualScreen describes standard output to the layout of help.
func (a *app) manualScreen() manual.Screen {
	return manual.Screen{Columns: a.OutWidth(), Heading: func(text string) string {
		return a.OutRenderer().NewStyle().Bold(true).Render(text)
	}}
}

// teach replaces cobra's help for all commands.
func (a *app) teach(root *cobra.Command) {
	root.SetHelpCommand(newHelpCmd(a))
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if slices.Contains(a.args, "-h") {
			a.unhelped = a.manualScreen().Short(a.Out, cmd)
			return
		}
		a.unhelped = a.showHelp(cmd.Context(), false, cmd)
	})
}

// showHelp shows the whole help of a command.
func (a *app) showHelp(ctx context.Context, noPager bool, of *cobra.Command) error {
	tellDefaults(of)
	more := ""
	if of == of.Root() {
		more = "codeloops COMMAND --help describes a command. codeloops help config lists every setting, with the flags that are " +
			"not listed here. codeloops help TOPIC shows a page on one of: " + strings.Join(topicNames(), ", ") + "."
	}
	return a.Page(ctx, noPager, func(_ context.Context, w io.Writer) error {
		return a.manualScreen().Help(w, of, more)
	})
}

// tellDefaults shows the configuration's defaults in the help of a run's flags, which have none
// themselves.
func tellDefaults(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if k, ok := config.FlagOf(f.Name); ok && k.Usage() == f.Usage && k.DefaultText() != "" {
			f.DefValue = k.DefaultText()
		}
	})
}

func newManCmd(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:         "man [COMMAND…]",
		Annotations: command.Exits("the page was shown, or the pages were written", ""),
		Example: `  codeloops man
  codeloops man sessions list
  codeloops man --dir ~/.local/share/man/man1`,
		Short: "Show the manual page of codeloops or of a command, or write all of them to a directory",
		Long: `Show the manual page of codeloops or of a command: on a terminal with man, elsewhere
as roff source.`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return completeCommands(cmd.Root(), args), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			of, err := named(cmd.Root(), args)
			if err != nil {
				return err
			}
			visit(cmd.Root(), tellDefaults)
			if dir == "" {
				return showMan(cmd.Context(), a, of)
			}
			if len(args) > 0 {
				return hint.Errorf("leave one of them out", "--dir writes the pages of all commands")
			}
			dir = a.Path(dir)
			if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // manual pages are for everybody
				return fmt.Errorf("make the directory for the manual pages: %w", err)
			}
			return manual.Pages(dir, cmd.Root())
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write a page for each command into `dir`")
	return cmd
}

// showMan shows a page with man. Without man, the pager shows the help.
func showMan(ctx context.Context, a *app, of *cobra.Command) error {
	if !a.OutTTY {
		return manual.Write(a.Out, of)
	}
	dir, err := os.MkdirTemp("", "codeloops-man-")
	if err != nil {
		return fmt.Errorf("make a directory for the manual page: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system cleans up its temporary directory
	if err := manual.Pages(dir, of); err != nil {
		return err
	}
	tool := proc.Tool{Argv: []string{"man", filepath.Join(dir, manual.Name(of)+".1")}, Stdin: a.In, Stdout: a.Out, Stderr: a.Err}
	if code, err := tool.Run(context.WithoutCancel(ctx)); err == nil && code == 0 { // man handles Ctrl+C
		return nil
	}
	return a.Page(ctx, false, func(_ context.Context, w io.Writer) error { return a.manualScreen().Help(w, of, "") })
}
