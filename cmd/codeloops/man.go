package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
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
			return runMan(a, cmd.Root(), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write a page for each command into `dir`")
	return cmd
}

func runMan(a *app, root *cobra.Command, dir string) error {
	date, err := time.Parse(time.DateOnly, manDate)
	if err != nil {
		return fmt.Errorf("date the manual page: %w", err)
	}
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Date: &date, Source: "codeloops", Manual: "codeloops"}
	if dir == "" {
		return doc.GenMan(root, header, a.Out)
	}
	dir = resolve(a.dir, dir)
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // manual pages are for everybody
		return fmt.Errorf("make the directory for the manual pages: %w", err)
	}
	return writePages(root, header, dir)
}

// writePages writes the page of a command and those of the commands below it.
func writePages(cmd *cobra.Command, header *doc.GenManHeader, dir string) error {
	if err := writeMan(cmd, header, dir); err != nil {
		return fmt.Errorf("write the manual page of %s: %w", cmd.CommandPath(), err)
	}
	for _, below := range cmd.Commands() {
		if !below.IsAvailableCommand() {
			continue
		}
		if err := writePages(below, header, dir); err != nil {
			return err
		}
	}
	return nil
}

func writeMan(cmd *cobra.Command, header *doc.GenManHeader, dir string) (err error) {
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	own := *header // GenMan fills in the title
	return doc.GenMan(cmd, &own, f)
}
