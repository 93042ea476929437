package lookup

import (
	"context"
	"errors"

	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/wording/hint"
)

// Read passes the lines of a session's log to use, until ctx is done. bad is called with the
// errors of lines that cannot be read.
func Read(ctx context.Context, one session.Overview, bad func(error), use func(sessionview.Entries) error) error {
	err := use(func(yield func(session.Entry, error) bool) {
		for entry, err := range session.Sound(session.Read(one.Path), bad) {
			if ctx.Err() != nil {
				yield(session.Entry{}, context.Cause(ctx))
				return
			}
			if !yield(entry, err) {
				return
			}
		}
	})
	if missing, ok := errors.AsType[*sessionview.MissingError](err); ok {
		what := "`codeloops sessions show " + missing.ID + "` shows what there is"
		return hint.Add(err, what)
	}
	return err
}
