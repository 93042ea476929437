package proc

import (
	"errors"
	"syscall"
)

// A message goes between a host and its keeper, as gob, on the stream socket between
// them. A start message comes with the child's stdin, stdout and stderr (SCM_RIGHTS,
// unix(7)).
type message struct {
	Kind  kind
	Start *spawn        // for msgStart, without its input
	Errno syscall.Errno // for msgFailed
	Why   string        // for msgUnmounted
	PIDs  []int         // for msgStarted the command's own; for msgExited those that outlived it
	Ended *report       // for msgEnded
	Spent bool          // the keeper cannot run another command
}

type kind byte

const (
	// From the host.
	msgStart     kind = 'S'
	msgTerminate kind = 'T'
	msgKill      kind = 'K'
	msgSweep     kind = 'W' // after msgExited: the outputs are cut, the leftovers may be ended

	// From the keeper.
	msgFailed    kind = 'F'
	msgUnmounted kind = 'O' // the view could not be mounted
	msgStarted   kind = 'P'
	msgExited    kind = 'X'
	msgEnded     kind = 'E'
)

var errMessage = errors.New("malformed message between host and keeper")

// report turns a keeper's last message into a report on the program at path.
func (m message) report(path string) (r report, err error) {
	switch {
	case m.Kind == msgFailed:
		r.err = startError(path, m.Errno)
	case m.Kind == msgUnmounted:
		r.err = &OverlayError{Err: errors.New(m.Why)}
	case m.Kind == msgEnded && m.Ended != nil:
		r = *m.Ended
	default:
		err = errMessage
	}
	r.spent = m.Spent
	return r, err
}
