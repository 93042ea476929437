package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestManPages holds the page of every command to its flags, and to the requests
// that it may make of roff.
func TestManPages(t *testing.T) {
	t.Parallel()
	request := regexp.MustCompile(`^\.(?:TH "[A-Z-]+" 1 "[0-9-]+" codeloops codeloops|SH [A-Z ]+|B codeloops .*|BR codeloops[a-z\\-]* \(1\),?|nh|PP|TP|nf|fi)$`)
	walk(newRootCmd(&app{Streams: streams()}), func(cmd *cobra.Command) {
		var page strings.Builder
		if err := writeManPage(&page, cmd); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(page.String()) {
			if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, ".") && !request.MatchString(line) {
				t.Errorf("%s: %q is taken for a request", cmd.CommandPath(), line)
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if said := `\fB` + roff("--"+f.Name) + `\fP`; !f.Hidden && !strings.Contains(page.String(), said) {
				t.Errorf("%s: --%s is missing", cmd.CommandPath(), f.Name)
			}
		})
	})
}

func TestManPageText(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{
		Use: `odd "args"`, Short: `a C:\path`, Example: "  odd -x\n",
		Long: ".first line\n'second\n\nExit status:\n  0  good\n  1  bad\n",
	}
	cmd.Flags().IntP("most", "m", 3, "so `many`")
	var page strings.Builder
	if err := writeManPage(&page, cmd); err != nil {
		t.Fatal(err)
	}
	want := `.TH "ODD" 1 "` + manDate + `" codeloops codeloops
.nh
.SH NAME
odd \- a C:\epath
.SH SYNOPSIS
.B odd \(dqargs\(dq [flags]
.SH DESCRIPTION
\&.first line
\&'second
.PP
.nf
Exit status:
  0  good
  1  bad
.fi
.SH OPTIONS
.TP
\fB\-h\fP, \fB\-\-help\fP
help for odd
.TP
\fB\-m\fP, \fB\-\-most\fP \fImany\fP
so many (default 3)
.SH EXAMPLES
.nf
  odd \-x
.fi
`
	if page.String() != want {
		t.Errorf("got\n%s\nwant\n%s", page.String(), want)
	}
}
