package sessions

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/command"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/screen/pager"
	"codeloops/internal/session"
	"codeloops/internal/session/export"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

type exportOptions struct {
	format string
	output string
	force  bool
}

func newSessionsExportCmd(l *command.Logs) *cobra.Command {
	o := &exportOptions{}
	cmd := &cobra.Command{
		Use:         "export [ID|FILE]",
		Annotations: command.Exits("the session was written", ""),
		Short:       "Write a session as one file to pass on: HTML, Markdown, JSON, a bundle",
		Long: `Write a session as one file to pass on.

  html      a page with everything in it, readable on a phone, that loads nothing
            from anywhere
  markdown  for the description of a pull request: without the diff
  json      the lines of the log in one document (codeloops help session-format)
  bundle    the log and the files of every checkpoint, to go on elsewhere:
            codeloops resume FILE --here, on another machine

On a terminal the file is ID.html, ID.md or ID.json in the working directory;
elsewhere it goes to standard output. An existing file is replaced only with
--force. Values of secret variables are removed once more: the log may hold some
that were not secret, or not set, when the session ran.

` + refHelp,
		Example: `  codeloops sessions export
  codeloops sessions export latest -o report.html
  codeloops sessions export latest -o session.bundle
  codeloops sessions export --format markdown | gh pr create --title "…" --body-file -`,
		PreRunE: func(cmd *cobra.Command, _ []string) error { return o.setFormat(cmd.Flags()) },
	}
	onSession(cmd, l, "Export which session?", func(ctx context.Context, one session.Overview) error {
		return runSessionsExport(ctx, l, o, one)
	})
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.format, "format", string(export.HTML), "format of the file: `html|markdown|json|bundle` (default: what the name of the file says, else html)")
	f.StringVarP(&o.output, "output", "o", "", "write to `file`; - is standard output")
	f.BoolVar(&o.force, "force", false, "replace an existing file")
	return cmd
}

// setFormat checks the format, or derives it from the file's name.
func (o *exportOptions) setFormat(flags *pflag.FlagSet) error {
	if flags.Changed("output") && o.output == "" {
		return hint.Errorf("- is standard output", "--output needs the name of a file")
	}
	if f, ok := export.FormatOf(o.output); ok && !flags.Changed("format") {
		o.format = string(f)
	}
	if strings.EqualFold(filepath.Ext(o.output), "."+bundle) && !flags.Changed("format") {
		o.format = bundle
	}
	return lookup.OneOf("--format", o.format, append(export.Formats(), bundle))
}

// bundle is the format to go on with elsewhere.
const bundle = "bundle"

// exportBundle writes a bundle, which is for no terminal.
func exportBundle(ctx context.Context, l *command.Logs, o *exportOptions, one session.Overview) error {
	c := l.Console
	if o.output == "" || o.output == "-" {
		return hint.Errorf("name it: -o session.bundle", "a bundle is written to a file")
	}
	name := c.Path(o.output)
	if _, err := os.Lstat(name); err == nil && !o.force {
		return hint.Errorf("choose another name with -o, or replace it with --force", "%s exists already", o.output)
	}
	if err := c.Bundles(func(room *parcel.Room) error { return room.Export(ctx, one.Path, name) }); err != nil {
		return err
	}
	st, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	_, err = fmt.Fprintf(c.Out, "wrote %s (%s)\n", o.output, wording.Bytes(st.Size()))
	return pager.UnlessGone(err)
}

func runSessionsExport(ctx context.Context, l *command.Logs, o *exportOptions, one session.Overview) error {
	if o.format == bundle {
		return exportBundle(ctx, l, o, one)
	}
	c := l.Console
	one = export.RedactedOverview(one, c.Secrets)
	write := func(w io.Writer) error {
		return lookup.Read(ctx, one, l.Tell, func(entries sessionview.Entries) error {
			return export.Write(w, export.Redacted(entries, c.Secrets), export.Options{
				Format: export.Format(o.format), Session: one, Zone: c.Now().Location(),
			})
		})
	}
	name := o.output
	if name == "" && c.OutTTY {
		name = filepath.Base(one.ID) + export.Format(o.format).Ending()
	}
	switch {
	case name != "" && name != "-":
	case export.Format(o.format) == export.JSON:
		return c.PrintJSON(write)
	default:
		return c.Print(write)
	}
	size, err := export.WriteFile(c.Path(name), o.force, c.Secrets, write)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Out, "wrote %s (%s)\n", name, wording.Bytes(size))
	return pager.UnlessGone(err)
}
