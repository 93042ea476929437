package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"codeloops/internal/browse"
	"codeloops/internal/export"
	"codeloops/internal/loop"
	"codeloops/internal/redact"
	"codeloops/internal/session"
)

type exportOptions struct {
	format string
	output string
	force  bool
}

func newSessionsExportCmd(l *logs) *cobra.Command {
	o := &exportOptions{}
	cmd := &cobra.Command{
		Use:   "export [ID|FILE]",
		Short: "Write a session as one file to hand on: HTML, Markdown, JSON",
		Long: `Write a session as one file to hand on.

  html      a page with everything in it, readable on a phone, that loads nothing
            from anywhere
  markdown  for the description of a pull request: without the diff
  json      the lines of the log in one document (docs/session-format.md)

On a terminal the file is ID.html, ID.md or ID.json in the working directory;
elsewhere it goes to standard output. A file that is there already is left alone
unless you say --force. Values of secret variables are taken out once more: those
that were not secret, or not set, when the session ran may stand in its log.

` + refHelp + `

` + sessionsExit,
		Example: `  codeloops sessions export
  codeloops sessions export latest -o report.html
  codeloops sessions export --format markdown | gh pr create --title "…" --body-file -`,
		Args:              oneRef,
		ValidArgsFunction: l.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.settle(cmd.Flags()); err != nil {
				return err
			}
			return runSessionsExport(cmd.Context(), l, o, first(args))
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.format, "format", string(export.HTML), "html, markdown or json (default: what the name of the file says, else html)")
	f.Lookup("format").DefValue = ""
	f.StringVarP(&o.output, "output", "o", "", "write to `file`; - is standard output")
	f.BoolVar(&o.force, "force", false, "replace a file that is there already")
	return cmd
}

// settle checks the format, or takes the one that the file's name tells.
func (o *exportOptions) settle(flags *pflag.FlagSet) error {
	if flags.Changed("output") && o.output == "" {
		return usagef("- is standard output", "--output needs the name of a file")
	}
	if f, ok := export.FormatOf(o.output); ok && !flags.Changed("format") {
		o.format = string(f)
	}
	return oneOf("--format", o.format, export.Formats())
}

func runSessionsExport(ctx context.Context, l *logs, o *exportOptions, ref string) error {
	one, err := l.find(ctx, ref, "Export which session?")
	if err != nil {
		return err
	}
	a := l.app
	one = redactedOverview(one, a.secrets)
	write := func(w io.Writer) error {
		return l.read(ctx, one, func(entries browse.Entries) error {
			return export.Write(w, redacted(entries, a.secrets), export.Options{
				Format: export.Format(o.format), Session: one, Zone: a.now().Location(), Bad: l.tell,
			})
		})
	}
	name := o.output
	if name == "" && a.OutTTY {
		name = filepath.Base(one.ID) + export.Format(o.format).Ending()
	}
	if name == "" || name == "-" {
		return a.print(write)
	}
	size, err := l.writeNew(resolve(a.dir, name), o.force, write)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Out, "wrote %s (%s)\n", name, bytesText(size))
	return unlessGone(err)
}

// writeNew writes a file beside its place and puts it there when it is whole.
func (l *logs) writeNew(path string, force bool, write func(io.Writer) error) (size int64, err error) {
	there := &hintedError{fmt.Errorf("%s is there already", path), "give it another name with -o, or replace it with --force"}
	if _, err := os.Lstat(path); err == nil && !force {
		return 0, there
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return 0, fmt.Errorf("write the export: %w", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it has another name by then
	safe := l.app.secrets.Writer(f)
	err = errors.Join(write(safe), safe.Close())
	if st, statErr := f.Stat(); statErr == nil {
		size = st.Size()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	if force {
		err = os.Rename(f.Name(), path)
	} else if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) { // nobody else's file is replaced
		return 0, there
	} else if err != nil { // a file system without links
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return 0, fmt.Errorf("write the export: %w", err)
	}
	return size, nil
}

// redacted takes the values of secrets out of the lines of a log.
func redacted(entries browse.Entries, secrets *redact.Redactor) browse.Entries {
	return func(yield func(session.Entry, error) bool) {
		for entry, err := range entries {
			if err == nil {
				err = secrets.Sink(taken{&entry}).Handle(entry.At, entry.Event)
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

// taken is a sink that keeps the event it is handed.
type taken struct{ entry *session.Entry }

// Handle implements [loop.Sink].
func (t taken) Handle(_ loop.Stamp, e loop.Event) error {
	t.entry.Event = e
	return nil
}

// redactedOverview takes the values of secrets out of what a list tells.
func redactedOverview(one session.Overview, secrets *redact.Redactor) session.Overview {
	for _, text := range []*string{&one.Session.Prompt, &one.Session.WorkingDir} {
		*text = secrets.String(*text)
	}
	if one.Outcome != nil {
		end := *one.Outcome
		end.Summary, end.ActorError = secrets.String(end.Summary), secrets.String(end.ActorError)
		one.Outcome = &end
	}
	return one
}
