package board

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

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
	var is [2]int
	version := s.conn.ConnectedServerVersion()
	for i, part := range strings.SplitN(version, ".", 3)[:2] {
		is[i], _ = strconv.Atoi(part)
	}
	if is[0] < 2 || is[0] == 2 && is[1] < 10 {
		return hint.Errorf("let it be "+oldest+" or later, or take codeloops hub", "the server is NATS %s, which is too old", version)
	}
	return nil
}

// election is how long to wait for a cluster to elect a leader, which takes some seconds.
const election = 30 * time.Second

// elected retries while a cluster may be electing a leader.
func (s server) elected(ctx context.Context, do func(context.Context) error) error {
	over := time.After(election)
	for {
		err := do(ctx)
		if err == nil || !Unreachable(err) || !s.clustered() {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-over:
			return err
		case <-time.After(away):
		}
	}
}

// clustered reports whether the server belongs to a cluster.
func (s server) clustered() bool { return len(s.conn.Servers()) > 1 }

// refused translates an error of the server for people.
func (s server) refused(err error) error {
	last := s.conn.LastError()
	switch {
	case Unreachable(err) && s.clustered() && !errors.Is(last, nats.ErrPermissionViolation):
		return hint.Add(&silentError{"the cluster does not answer", err},
			"one that has lost a server takes some seconds to choose another leader: try it again; it says where it runs what it lacks")
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) || errors.Is(err, nats.ErrNoResponders):
		return hint.Errorf("start it with -js, or take codeloops hub; one whose disk is full has none until there is room",
			"the server has no JetStream: %w", err)
	case errors.Is(last, nats.ErrPermissionViolation) && Unreachable(err):
		return hint.Errorf("docs/queue.md lists the rights that it needs", "the account at the server lacks a right: %w", last)
	case errors.Is(err, nats.ErrMaxPayload):
		return hint.Errorf("max_payload in the configuration of the server says how many: 8MB is what codeloops hub has",
			"the server takes %d KiB at once, and this is more: %w", s.conn.MaxPayload()>>10, err)
	case errors.Is(err, nats.ErrConnectionClosed):
		sentence := "the hub does not answer, and nobody waits for it any longer"
		if s.conn.Opts.InProcessServer != nil { // the hub is this process
			sentence = "it was ended before all was told to the queue"
		}
		return hint.Add(&silentError{sentence, err},
			"a task that could not be given back is given to the next worker when its lease is over")
	case Unreachable(err):
		return hint.Add(&silentError{"the hub does not answer", err}, "is its disk full, or has it gone? It says so where it runs")
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
		return hint.Errorf("write what is long to a file of the repository, and name that in the task; or set max_payload of the server to 8MB",
			"task %s takes %d KiB, and the server takes %d KiB with all that becomes of it", id, len(record)>>10, most>>10)
	}
	return nil
}
