package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/command"
	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

func newManCmd(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:         "man [COMMAND…]",
		Annotations: command.Exits("the page was shown, or the pages were written", ""),
		Example: `  codeloops man
  codeloops man sessions list
  codeloops man --dir ~/.local/share/man/man1`,
		Short: "Show the manual page of codeloops or of a command, or write all of them to a directory",
		Long: `Show the manual page of codeloops or of a command: on a terminal as man does, through
your pager; elsewhere as it is, in roff.`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, c := range of.Commands() {
				if c.IsAvailableCommand() {
					found = append(found, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noHelp(cmd.Root(), args)
			}
			visit(cmd.Root(), tellDefaults)
			if dir == "" {
				return showMan(cmd.Context(), a, of)
			}
			if len(args) > 0 {
				return hint.Errorf("leave one of them out", "--dir writes the pages of all commands")
			}
			return writeMan(a, cmd.Root(), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write a page for each command into `dir`")
	return cmd
}

// writeMan writes a page for each command.
func writeMan(a *app, root *cobra.Command, dir string) error {
	dir = a.Path(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // manual pages are for everybody
		return fmt.Errorf("make the directory for the manual pages: %w", err)
	}
	return manual.Pages(dir, root)
}

// showMan shows a page as man does. Where there is no man, the pager shows the help.
func showMan(ctx context.Context, a *app, of *cobra.Command) error {
	if !a.OutTTY {
		return manual.Write(a.Out, of)
	}
	dir, err := os.MkdirTemp("", "codeloops-man-")
	if err != nil {
		return fmt.Errorf("make a directory for the manual page: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is the system's to tidy
	if err := manual.Pages(dir, of); err != nil {
		return err
	}
	tool := proc.Tool{Argv: []string{"man", filepath.Join(dir, manual.Name(of)+".1")}, Stdin: a.In, Stdout: a.Out, Stderr: a.Err}
	if code, err := tool.Run(context.WithoutCancel(ctx)); err == nil && code == 0 { // Ctrl+C is for the pager
		return nil
	}
	return a.Page(ctx, false, func(_ context.Context, w io.Writer) error { return a.manualScreen().Help(w, of, "") })
}
