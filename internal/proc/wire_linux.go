package proc

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// A message is what a host and its keeper tell each other. On the stream socket between
// them each one is a frame: its length as 32 bits in network order, and what package gob
// makes of it. With a start come the child's stdin, stdout and stderr (SCM_RIGHTS,
// unix(7)).
type message struct {
	Kind  kind
	Start *order        // of a start
	Errno syscall.Errno // of a failure
	Why   string        // of a view that was not laid
	PIDs  []int         // of a started command, its own; of one that has exited, those that outlive it
	Ended *ended        // of a command's end
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

const (
	headerSize = 4
	maxPayload = 64 << 20
)

var errFrame = errors.New("malformed message between host and keeper")

func (m message) frame() []byte {
	var b bytes.Buffer
	b.Write(make([]byte, headerSize))
	_ = gob.NewEncoder(&b).Encode(m) // into memory
	frame := b.Bytes()
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-headerSize))
	return frame
}

// readMessage reads a message of which the header has been read.
func readMessage(header [headerSize]byte, r io.Reader) (m message, err error) {
	n := binary.BigEndian.Uint32(header[:])
	if n > maxPayload {
		return m, errFrame
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		return m, fmt.Errorf("read a message: %w", err)
	}
	if gob.NewDecoder(bytes.NewReader(payload)).Decode(&m) != nil || m.Kind == msgStart && (m.Start == nil || len(m.Start.Argv) == 0) {
		return m, errFrame
	}
	return m, nil
}

func startOf(s spawn) message {
	return message{Kind: msgStart, Start: &order{Path: s.path, Dir: s.Dir, Argv: s.Argv, Env: s.Env, View: s.View}}
}

func (o order) spawn() spawn {
	return spawn{path: o.Path, Invocation: Invocation{Dir: o.Dir, Argv: o.Argv, Env: o.Env}, View: o.View}
}

// report turns a keeper's last message into one on the program at path.
func (m message) report(path string) (report, error) {
	switch {
	case m.Kind == msgFailed:
		return report{err: startError(path, m.Errno)}, nil
	case m.Kind == msgUnlaid:
		return report{err: &OverlayError{Err: errors.New(m.Why)}}, nil
	case m.Kind == msgEnded && m.Ended != nil:
		r := report{exitCode: m.Ended.ExitCode, signal: m.Ended.Signal, stopped: m.Ended.Stopped, leftovers: m.Ended.Leftovers}
		if len(m.Ended.Survivors) > 0 {
			r.err = &SurvivorError{Processes: m.Ended.Survivors}
		}
		return r, nil
	}
	return report{}, errFrame
}
