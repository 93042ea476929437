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
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.Out, "codeloops", buildVersion())
			return err
		},
	}
}

// buildVersion is the version with what it was built by, and for.
func buildVersion() string {
	return fmt.Sprintf("%s (%s, %s/%s)", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
