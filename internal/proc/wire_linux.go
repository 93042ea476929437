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
	Ended *ended        // for msgEnded
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

// An ended command has no running processes but the survivors.
type ended struct {
	ExitCode             int
	Signal               string
	Stopped              bool
	Leftovers, Survivors []Process
}

var errMessage = errors.New("malformed message between host and keeper")

// report turns a keeper's last message into a report on the program at path.
func (m message) report(path string) (report, error) {
	switch {
	case m.Kind == msgFailed:
		return report{spent: m.Spent, err: startError(path, m.Errno)}, nil
	case m.Kind == msgUnmounted:
		return report{spent: m.Spent, err: &OverlayError{Err: errors.New(m.Why)}}, nil
	case m.Kind == msgEnded && m.Ended != nil:
		r := report{exitCode: m.Ended.ExitCode, signal: m.Ended.Signal, stopped: m.Ended.Stopped, leftovers: m.Ended.Leftovers, spent: m.Spent}
		if len(m.Ended.Survivors) > 0 {
			r.err = &SurvivorError{Processes: m.Ended.Survivors}
		}
		return r, nil
	}
	return report{}, errMessage
}
