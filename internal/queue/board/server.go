package board

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/wording/hint"
)

// oldest is the first version that reports its time and has the other features used here.
const oldest = "2.10"

// A server is the NATS server behind a board.
type server struct{ conn *nats.Conn }

// fits rejects a server that is too old.
func (s server) fits() error {
	var major, minor int
	version := s.conn.ConnectedServerVersion()
	_, _ = fmt.Sscanf(version, "%d.%d", &major, &minor) // what is no number is too old
	if major < 2 || major == 2 && minor < 10 {
		return hint.Errorf("use "+oldest+" or later, or codeloops queue serve", "the server is NATS %s, which is too old", version)
	}
	return nil
}

// refused translates an error of the server for people.
func (s server) refused(err error) error {
	last, own := s.conn.LastError(), s.conn.Opts.InProcessServer != nil // the hub is this process
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) || errors.Is(err, nats.ErrNoResponders) && len(s.conn.Servers()) == 1:
		return hint.Errorf("start it with -js, or use codeloops queue serve; a full disk also switches JetStream off",
			"the server has no JetStream: %w", err)
	case errors.Is(last, nats.ErrPermissionViolation) && Unreachable(err):
		return hint.Errorf("docs/queue.md lists the rights that it needs", "the account at the server lacks a right: %w", last)
	case errors.Is(err, nats.ErrConnectionClosed):
		return hint.Add(&silentError{"the connection to the hub was closed before everything was reported to it", err},
			"a task that could not be given back is given to the next worker when its lease is over")
	case Unreachable(err) && own:
		return hint.Add(&silentError{"the store of the queue cannot be read or written", err}, "is the disk full? If not, files of the store are damaged: "+whatToDo)
	case Unreachable(err):
		return hint.Add(&silentError{"the hub does not answer", err},
			"is its disk full, or is it gone? Its own output says so; a cluster that has lost a server takes some seconds to elect another leader")
	}
	return err
}

// A silentError replaces the text of an error that means only that no answer came.
type silentError struct {
	sentence string
	err      error
}

func (e *silentError) Error() string { return e.sentence }
func (e *silentError) Unwrap() error { return e.err }

// room is what a record needs beside its task: history and output of checks.
const room = 256 << 10

// holds rejects a task whose record could grow too large for the server.
func (s server) holds(id string, record []byte) error {
	if most := s.conn.MaxPayload(); int64(len(record))+min(room, most/2) > most {
		return hint.Errorf("move long text to a file in the repository, and refer to that; or set max_payload of the server to 8MB",
			"task %s has %d KiB, too much for the server, whose limit is %d KiB with the task's history", id, len(record)>>10, most>>10)
	}
	return nil
}
