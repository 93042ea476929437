package render

import (
	"io"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// events writes every event as the line that the session log has for it, and
// what agents print besides.
type events struct{ w io.Writer }

func (s events) Handle(at loop.Stamp, e loop.Event) error {
	_, err := s.w.Write(session.Encode(at, e))
	return err
}
