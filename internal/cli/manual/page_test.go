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

// TestMarkdown formats every Markdown element that the documentation uses.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	const page = "# Title\n\nSome `words` and a [link](other.md#part), **bold** or *leaning*,\nthat go on.\n\n- one\n- two, which is longer than a line of\n  forty columns\n\n" +
		"    a block   stays\n\n```sh\ncodeloops \\\n\n  demo\n```\n\n| a | b |\n|---|---|\n| `x` | y \\| z |\n\nname | says\n---|---\na name | what is far too long for forty columns in one line\n\n" +
		"name | kind | says\n---|---|---\na_rather_long_name | another_of_them | what it is\n"
	const want = `Title

Some words and a link (other.md), bold
or leaning, that go on.

- one
- two, which is longer than a line of
  forty columns

    a block   stays

    codeloops \
    
      demo

a  b
x  y | z

name    says

a name  what is far too long for forty
        columns in one line

a_rather_long_name
    kind: another_of_them
    says: what it is
`
	if got := (Screen{40, strings.TrimSpace}).Markdown(page); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestHelp formats help texts at two widths.
func TestHelp(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{
		Use: "odd", Long: "It does something that takes more than one line\nto tell.", Example: "  odd --most 3\n",
		Annotations: Exits(Exit{0, "it did"}, Exit{2, "it did not, for one reason or another"}), Run: func(*cobra.Command, []string) {},
	}
	cmd.Flags().IntP("most", "m", 3, "so `many`, and not one more than that")
	cmd.Flags().String("kind", "", "which it is: `this|that`; this is usual")
	cmd.Flags().Int("none", 0, "a `number`")
	Group("Amount", cmd.Flags(), "most", "none")
	for columns, want := range map[int]string{
		80: `It does something that takes more than one line to tell.

Usage:
  odd [flags]

Examples:
  odd --most 3

Amount:
  -m, --most many             so many, and not one more than that (default 3)
      --none number           a number

Other options:
  -h, --help                  help for odd
      --kind this|that        which it is; this is usual

Exit status:
  0    it did
  2    it did not, for one reason or another

and more
`,
		40: `It does something that takes more than
one line to tell.

Usage:
  odd [flags]

Examples:
  odd --most 3

Amount:
  -m, --most many
      so many, and not one more than
      that (default 3)
      --none number
      a number

Other options:
  -h, --help
      help for odd
      --kind this|that
      which it is; this is usual

Exit status:
  0    it did
  2    it did not, for one reason or
       another

and more
`,
	} {
		var b strings.Builder
		if err := (Screen{columns, strings.TrimSpace}).Help(&b, cmd, "and more"); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("at %d columns:\n%s\nwant\n%s", columns, b.String(), want)
		}
	}
}
