package proc

import (
	"errors"
	"syscall"
)

// A message is what a host and its keeper tell each other, in the form of package gob, on
// the stream socket between them. With a start come the child's stdin, stdout and stderr
// (SCM_RIGHTS, unix(7)).
type message struct {
	Kind  kind
	Start *order        // of a start
	Errno syscall.Errno // of a failure
	Why   string        // of a view that was not laid
	PIDs  []int         // of a started command, its own; of one that has exited, those that outlive it
	Ended *ended        // of a command's end
	Spent bool          // the keeper that says how a command ended can run no other one
}

// A kind is what a message is about.
type kind byte

const (
	msgStart     kind = 'S' // host
	msgTerminate kind = 'T' // host
	msgKill      kind = 'K' // host
	msgSweep     kind = 'W' // host, after msgExited: the outputs are cut, what is left may be told to end
	msgFailed    kind = 'F' // keeper
	msgUnlaid    kind = 'O' // keeper: there are no overlays
	msgStarted   kind = 'P' // keeper
	msgExited    kind = 'X' // keeper
	msgEnded     kind = 'E' // keeper
)

// An order is a spawn as it is told.
type order struct {
	Path, Dir string
	Argv, Env []string
	View      View
}

// An ended command is one of which nothing runs but the survivors.
type ended struct {
	ExitCode             int
	Signal               string
	Stopped              bool
	Leftovers, Survivors []Process
}

var errMessage = errors.New("malformed message between host and keeper")

func startOf(s spawn) message {
	return message{Kind: msgStart, Start: &order{Path: s.path, Dir: s.Dir, Argv: s.Argv, Env: s.Env, View: s.View}}
}

func (o *order) spawn() spawn {
	return spawn{path: o.Path, Invocation: Invocation{Dir: o.Dir, Argv: o.Argv, Env: o.Env}, View: o.View}
}

// report turns a keeper's last message into one on the program at path.
func (m message) report(path string) (report, error) {
	switch {
	case m.Kind == msgFailed:
		return report{spent: m.Spent, err: startError(path, m.Errno)}, nil
	case m.Kind == msgUnlaid:
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
