package sessions

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/session/intake"
	"codeloops/internal/wording"
)

func newSessionsImportCmd(l *command.Logs) *cobra.Command {
	return &cobra.Command{
		Use:         "import FILE…",
		Annotations: command.Exits("all of it was imported, or was there already", ""),
		Short:       "Take over sessions from other places, and from the original tool",
		Long: `Take over sessions from other places, and from the original tool: logs, and its
database codeloops.db, for which the program sqlite3 is needed. A session that is
there already is not imported again. Values of secret variables are removed. The
files stay as they are.`,
		Example: `  codeloops sessions import ~/.local/share/codeloops/codeloops.db
  codeloops sessions import old/*.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := l.Store()
			if err != nil {
				return err
			}
			c := l.Console
			known := 0
			for _, name := range args {
				for log, err := range intake.Logs(cmd.Context(), c.Environ, c.Path(name)) {
					if err != nil {
						return err
					}
					id, fresh, err := store.Import(log, name, c.Secrets.Event, l.Tell)
					if err != nil {
						return err
					}
					if !fresh {
						known++
						continue
					}
					if err := c.Print(func(w io.Writer) error { _, err := fmt.Fprintln(w, id); return err }); err != nil {
						return err
					}
				}
			}
			if known > 0 {
				c.Tell("there already: " + wording.Count(known, "session"))
			}
			return nil
		},
	}
}
