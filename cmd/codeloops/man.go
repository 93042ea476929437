package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"codeloops/internal/proc"
)

// manDate is the date on the man pages: fixed, so that the same source gives
// the same pages.
const manDate = "2026-01-01"

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
		return a.showMan(ctx, root)
	}
	if dir == "" {
		return writeManPage(a.Out, root)
	}
	dir = resolve(a.dir, dir)
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // manual pages are for everybody
		return fmt.Errorf("make the directory for the manual pages: %w", err)
	}
	return writePages(root, dir)
}

// showMan shows the page as man does, or the help where there is no man.
func (a *app) showMan(ctx context.Context, root *cobra.Command) error {
	dir, err := os.MkdirTemp("", "codeloops-man-")
	if err != nil {
		return fmt.Errorf("make a directory for the manual page: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is the system's to tidy
	if err := writeMan(root, dir); err != nil {
		return err
	}
	tool := proc.Tool{Argv: []string{"man", filepath.Join(dir, manName(root)+".1")}, Stdin: a.In, Stdout: a.Out, Stderr: a.Err}
	if code, err := tool.Run(context.WithoutCancel(ctx)); err == nil && code == 0 { // Ctrl+C is for the pager
		return nil
	}
	return root.Help()
}

// writePages writes the page of a command and those of the commands below it.
func writePages(cmd *cobra.Command, dir string) error {
	if err := writeMan(cmd, dir); err != nil {
		return fmt.Errorf("write the manual page of %s: %w", cmd.CommandPath(), err)
	}
	for _, below := range cmd.Commands() {
		if !below.IsAvailableCommand() {
			continue
		}
		if err := writePages(below, dir); err != nil {
			return err
		}
	}
	return nil
}

func writeMan(cmd *cobra.Command, dir string) (err error) {
	f, err := os.Create(filepath.Join(dir, manName(cmd)+".1"))
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	return writeManPage(f, cmd)
}
