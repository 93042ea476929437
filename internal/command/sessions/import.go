package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/session/intake"
	"codeloops/internal/session/putback"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

func newSessionsImportCmd(l *command.Logs) *cobra.Command {
	return &cobra.Command{
		Use:         "import FILE…",
		Annotations: command.Exits("all of it was imported, or was there already", ""),
		Short:       "Take over sessions from other places, and from the original tool",
		Long: `Take over sessions from other places, and from the original tool: logs, and its
database codeloops.db, for which the program sqlite3 is needed. A session that is
there already is not imported again. Values of secret variables are removed. The
files stay as they are.

A bundle (codeloops sessions export -o FILE.bundle) becomes a session of the current
work tree, with its checkpoints; codeloops sessions restore puts its files there.`,
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
				if parcel.IsBundle(c.Path(name)) {
					id, err := unbundle(cmd.Context(), c, store, name)
					if err == nil {
						err = c.Print(func(w io.Writer) error { _, err := fmt.Fprintln(w, id); return err })
					}
					if err != nil {
						return err
					}
					continue
				}
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

// unbundle stores the session of a bundle as one of the current work tree.
func unbundle(ctx context.Context, c *command.Console, store *session.Store, file string) (id string, err error) {
	dir, err := worktree.RealDir(c.Dir)
	if err != nil {
		return "", err
	}
	err = c.Bundles(func(room *parcel.Room) error {
		id, err = room.Import(ctx, c.Path(file), store, dir)
		return err
	})
	return id, err
}

// TakeUp stores the session of a file, puts the files of the current work tree to what they were at its end, and returns its
// ID. The replaced files are kept. With yes it does not ask.
func (r *Restorer) TakeUp(ctx context.Context, store *session.Store, file string, yes bool) (id string, err error) {
	switch {
	case file == "":
		return "", hint.Errorf("name the file: codeloops resume FILE --here", "there is no file to take a session from")
	case !parcel.IsBundle(r.Path(file)):
		return "", hint.Errorf("codeloops sessions export -o FILE.bundle writes one, where the session ran", "%s is no session that can be taken up here", file)
	}
	if id, err = unbundle(ctx, r.Console, store, file); err != nil {
		return "", err
	}
	var settled session.Settled
	if err = settled.Read(store.Path(id)); err == nil {
		err = r.catchUp(ctx, store, &settled, yes)
	}
	if err != nil { // as if it had not been taken up, so that the same command can be given again
		err = errors.Join(err, store.Remove(id))
	}
	return id, err
}

// catchUp puts the files of the work tree to what they were at the end of a session.
func (r *Restorer) catchUp(ctx context.Context, store *session.Store, s *session.Settled, yes bool) error {
	g := putback.Goal{
		Dir: r.Dir, Checkpoint: s.Checkpoint, Began: s.Session.Checkpoint, Name: "the end of session " + s.Session.ID,
		Session: s.Session.ID, Kept: s.Session.Checkpoints,
	}
	told, err := r.desk(yes).To(ctx, store, g, func(string) error { return nil })
	for _, sentence := range told {
		r.Tell(sentence)
	}
	return err
}
