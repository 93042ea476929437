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

// oldest is the first version of the server that says what time it is there, and knows the rest.
const oldest = "2.10"

// fits refuses a server that is too old.
func (b *Board) fits() error {
	var is [2]int
	version := b.conn.ConnectedServerVersion()
	for i, part := range strings.SplitN(version, ".", 3)[:2] {
		is[i], _ = strconv.Atoi(part)
	}
	if is[0] < 2 || is[0] == 2 && is[1] < 10 {
		return hint.Errorf("let it be "+oldest+" or later, or take codeloops hub", "the server is NATS %s, which is too old", version)
	}
	return nil
}

// refused says what a server did not do.
func (b *Board) refused(err error) error {
	last := b.conn.LastError()
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) || errors.Is(err, nats.ErrNoResponders):
		return hint.Errorf("start it with -js, or take codeloops hub; one whose disk is full has none until there is room",
			"the server has no JetStream: %w", err)
	case errors.Is(last, nats.ErrPermissionViolation) && Unreachable(err):
		return hint.Errorf("docs/queue.md lists the rights that it needs", "the account at the server lacks a right: %w", last)
	case errors.Is(err, nats.ErrMaxPayload):
		return hint.Errorf("max_payload in the configuration of the server says how many: 8MB is what codeloops hub has",
			"the server takes %d KiB at once, and this is more: %w", b.conn.MaxPayload()>>10, err)
	case Unreachable(err):
		return hint.Errorf("is its disk full, or has it gone? It says so where it runs", "the hub does not answer: %w", err)
	}
	return err
}

// A clock is the time of the hub. The clocks of several machines are never compared: whatever is
// written has the time of the one hub that they share.
type clock struct {
	there, here time.Time // at the same moment
}

// look asks the hub what time it is.
func (b *Board) look(ctx context.Context) error {
	s, err := b.js.Stream(ctx, "KV_"+records)
	if err != nil {
		return err
	}
	asked := b.options.Now()
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	here := b.options.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock = clock{info.TimeStamp, asked.Add(here.Sub(asked) / 2)}
	return nil
}

// Now is the time at the hub.
func (b *Board) Now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock.there.Add(b.options.Now().Sub(b.clock.here)) // which the clock's being set does not change
}

// Ahead is how far the clock of this machine was ahead of the hub's when that was last asked.
func (b *Board) Ahead() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock.here.Sub(b.clock.there)
}

// room is what a record needs beside its task: its course, and what checks have printed.
const room = 256 << 10

// holds refuses a task that the server could not keep to its end.
func (b *Board) holds(id string, record []byte) error {
	if most := b.conn.MaxPayload(); int64(len(record))+min(room, most/2) > most {
		return hint.Errorf("write what is long to a file of the repository, and name that in the task; or set max_payload of the server to 8MB",
			"task %s takes %d KiB, and the server takes %d KiB with all that becomes of it", id, len(record)>>10, most>>10)
	}
	return nil
}
