package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/cli/manual"
)

// TestManPages: the page of every command has all its flags, and uses only allowed roff requests.
func TestManPages(t *testing.T) {
	t.Parallel()
	request := regexp.MustCompile(`^\.(?:TH "[A-Z-]+" 1 "[0-9-]+" codeloops codeloops|SH [A-Z ]+|SS [A-Z][A-Za-z, ]+|B codeloops .*|BR codeloops[a-z\\-]* \(1\),?|nh|PP|TP|nf|fi)$`)
	walk(newRootCmd(unwatched()), func(cmd *cobra.Command) {
		var page strings.Builder
		if err := manual.Write(&page, cmd); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(page.String()) {
			if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, ".") && !request.MatchString(line) {
				t.Errorf("%s: %q would be read as a request", cmd.CommandPath(), line)
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if said := `\fB` + strings.ReplaceAll("--"+f.Name, "-", `\-`) + `\fP`; !f.Hidden && !strings.Contains(page.String(), said) {
				t.Errorf("%s: --%s is missing", cmd.CommandPath(), f.Name)
			}
		})
	})
}
