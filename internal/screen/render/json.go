package render

import (
	"io"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// events writes every event as its line in the session log, and agents' output as well.
type events struct{ w io.Writer }

func (s events) Handle(at loop.Stamp, e loop.Event) error {
	_, err := s.w.Write(session.Encode(at, e))
	return err
}
