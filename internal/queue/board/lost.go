package board

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue"
)

// Bury says in the records of tasks, whose workers were lost as often as a task is offered,
// that they are dead. Any number of processes may do it.
func (b *Board) Bury(ctx context.Context, now func() time.Time) error {
	c, err := b.consumer(ctx, lost, "undertaker", jetstream.ConsumerConfig{})
	if err != nil {
		return fmt.Errorf("look for lost tasks: %w", err)
	}
	for {
		m, err := next(c)
		if m == nil || err != nil {
			return err
		}
		if err := b.bury(ctx, m, now()); err != nil {
			return err
		}
		_ = m.Ack() // else it comes again, and changes nothing
	}
}

// bury reads an advisory: https://docs.nats.io/using-nats/developer/develop_jetstream/consumers,
// type io.nats.jetstream.advisory.v1.max_deliver.
func (b *Board) bury(ctx context.Context, m jetstream.Msg, at time.Time) error {
	var a struct {
		Stream     string `json:"stream"`
		Sequence   uint64 `json:"stream_seq"`
		Deliveries int    `json:"deliveries"`
	}
	if err := json.Unmarshal(m.Data(), &a); err != nil {
		return nil //nolint:nilerr // nothing that could be read another time
	}
	s, err := b.js.Stream(ctx, a.Stream)
	if err != nil {
		return err
	}
	was, err := s.GetMsg(ctx, a.Sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = b.Change(ctx, taskOf(was.Subject), func(r *queue.Record) error {
		if string(was.Data) != strconv.Itoa(numberOf(r)) {
			return queue.ErrIllegal // it has been offered again since
		}
		why := fmt.Sprintf("its workers were lost %d times, the last one was %s", a.Deliveries, r.Worker.Name)
		if r.State == queue.Finished {
			return r.Move(queue.NeedsHuman, at, fmt.Sprintf("the merger was lost %d times", a.Deliveries))
		}
		return r.Move(queue.Dead, at, why)
	})
	if err != nil && !errors.Is(err, queue.ErrIllegal) && !errors.Is(err, ErrNone) {
		return err
	}
	return s.DeleteMsg(ctx, a.Sequence)
}
