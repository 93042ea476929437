package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func newVersionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "version",
		Annotations: exits("the version was printed", ""),
		Example:     `  codeloops version`,
		Short:       "Print the version",
		Args:        noArgs,
		RunE:        func(*cobra.Command, []string) error { return printVersion(a) },
	}
}

// printVersion prints the version with what it was built by, and for.
func printVersion(a *app) error {
	_, err := fmt.Fprintf(a.Out, "codeloops %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
