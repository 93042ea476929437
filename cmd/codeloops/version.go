package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
)

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "version",
		Annotations: command.Exits("the version was printed", ""),
		Example:     `  codeloops version`,
		Short:       "Print the version",
		Args:        command.NoArgs,
		RunE:        func(*cobra.Command, []string) error { return printVersion(a) },
	}
}

// printVersion prints the version with what it was built by, and for.
func printVersion(a *app) error {
	_, err := fmt.Fprintf(a.Out, "codeloops %s (%s, %s/%s)\n", command.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
