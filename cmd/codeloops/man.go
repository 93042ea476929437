package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/proc"
)

func newManCmd(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man",
		Short: "Print the manual page, or write all of them to a directory",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runMan(cmd.Context(), a, cmd.Root(), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write a page for each command into `dir`")
	return cmd
}

func runMan(ctx context.Context, a *app, root *cobra.Command, dir string) error {
	if dir == "" && a.OutTTY {
		return showMan(ctx, a, root)
	}
	if dir == "" {
		return manual.Write(a.Out, root)
	}
	dir = a.Path(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // manual pages are for everybody
		return fmt.Errorf("make the directory for the manual pages: %w", err)
	}
	return manual.Pages(dir, root)
}

// showMan shows the page as man does, or the help where there is no man.
func showMan(ctx context.Context, a *app, root *cobra.Command) error {
	dir, err := os.MkdirTemp("", "codeloops-man-")
	if err != nil {
		return fmt.Errorf("make a directory for the manual page: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is the system's to tidy
	if err := manual.Pages(dir, root); err != nil {
		return err
	}
	tool := proc.Tool{Argv: []string{"man", filepath.Join(dir, manual.Name(root)+".1")}, Stdin: a.In, Stdout: a.Out, Stderr: a.Err}
	if code, err := tool.Run(context.WithoutCancel(ctx)); err == nil && code == 0 { // Ctrl+C is for the pager
		return nil
	}
	return root.Help()
}
