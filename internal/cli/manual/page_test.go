package manual

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{
		Use: `odd "args"`, Short: `a C:\path`, Example: "  odd -x\n",
		Long: ".first line\n'second\n\nExit status:\n  0  good\n  1  bad\n",
	}
	cmd.Flags().IntP("most", "m", 3, "so `many`")
	var page strings.Builder
	if err := Write(&page, cmd); err != nil {
		t.Fatal(err)
	}
	want := `.TH "ODD" 1 "` + date + `" codeloops codeloops
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
