package board

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue"
)

// ErrMoved says that the board has changed since it was read.
var ErrMoved = errors.New("something has changed on the board meanwhile")

// Offer offers a task to the workers of its repository, unless the board has changed since revision seen, at which
// r was chosen. Of several processes that choose at the same time one wins, and the others get [ErrMoved].
func (b *Board) Offer(ctx context.Context, r queue.Record, seen uint64, now time.Time) error {
	r.Offers++
	if err := r.Move(queue.Offered, now, ""); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("offer task %s: %w", r.Task.ID, err)
	}
	_, err = b.js.Publish(ctx, "$KV."+records+"."+r.Task.ID, text, jetstream.WithExpectLastSequence(seen))
	if e, ok := errors.AsType[*jetstream.APIError](err); ok && e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return ErrMoved
	}
	if err != nil {
		return fmt.Errorf("offer task %s: %w", r.Task.ID, err)
	}
	return b.Send(ctx, &r)
}

// Send sends the message that belongs to a record's state: an offer, or a result to be merged unless that was
// postponed. Messages have IDs, so anyone may send it again for a process that was killed.
func (b *Board) Send(ctx context.Context, r *queue.Record) error {
	var subject string
	switch {
	case r.State == queue.Offered:
		subject = offerSubject
	case r.AwaitsMerge() && !b.Now().Before(r.NotBefore):
		subject = resultSubject
	default:
		return nil
	}
	subject += r.Task.Repository.Key() + "." + r.Task.ID
	which := numberOf(r)
	if _, err := b.js.Publish(ctx, subject, []byte(which), jetstream.WithMsgID(r.Task.ID+"."+string(r.State)+"."+which)); err != nil {
		return fmt.Errorf("hand over task %s: %w", r.Task.ID, b.server.refused(err))
	}
	return nil
}

// numberOf tells the messages of a record apart, also those of a task that was removed and added again.
func numberOf(r *queue.Record) string { return fmt.Sprintf("%d.%d", r.Task.Added.UnixNano(), r.Offers) }

// Take begins an attempt at a task offered in a repository; nil where there is none.
// One that the worker is not able to work on is left to others.
func (b *Board) Take(ctx context.Context, of queue.Repository, w queue.Worker, able func(id string) bool, at time.Time) (*Job, error) {
	c, err := b.lines.consumer(ctx, offers, "workers-"+of.Key(), jetstream.ConsumerConfig{FilterSubject: offerSubject + of.Key() + ".*"})
	if err != nil {
		return nil, fmt.Errorf("look for work: %w", b.server.refused(err))
	}
	return b.take(ctx, c, at, func(r *queue.Record, number string) error {
		if numberOf(r) != number || r.State != queue.Offered && r.State != queue.Running {
			return errOutdated
		}
		if !able(r.Task.ID) {
			return errUnable
		}
		if r.State == queue.Running && r.Taken >= MostLost {
			return r.Move(queue.Dead, at, fmt.Sprintf("its workers were lost %d times, the last one was %s", r.Taken, r.Worker.Name))
		}
		return r.Begin(w, at)
	})
}

// TakeResult takes a result that waits for its merge in a repository; nil where there is none. Results are taken
// one at a time, in order.
func (b *Board) TakeResult(ctx context.Context, of queue.Repository, at time.Time) (*Job, error) {
	c, err := b.lines.consumer(ctx, results, "merger-"+of.Key(), jetstream.ConsumerConfig{
		FilterSubject: resultSubject + of.Key() + ".*", MaxAckPending: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("look for results: %w", b.server.refused(err))
	}
	return b.take(ctx, c, at, func(r *queue.Record, number string) error {
		if numberOf(r) != number || r.State != queue.Finished {
			return errOutdated
		}
		if r.Taken >= MostLost {
			return r.Move(queue.NeedsHuman, at, fmt.Sprintf("the merger was lost %d times", r.Taken))
		}
		r.Taken++
		return nil
	})
}

// errOutdated says that a message is outdated.
var errOutdated = errors.New("the task is no longer offered")

// errUnable says that the worker lacks what the task needs.
var errUnable = errors.New("the worker cannot work on it")

// errTooEarly says that the worker of a task may not have had time for a heartbeat since the hub came back.
var errTooEarly = errors.New("the hub has only just come back")

// take takes the first message whose record can be begun; nil where there is none.
func (b *Board) take(ctx context.Context, c jetstream.Consumer, now time.Time, begin func(r *queue.Record, number string) error) (*Job, error) {
	for {
		b.contact.ago(now) // also before asking, as a message may take a while
		m, err := next(c)
		if err != nil {
			return nil, fmt.Errorf("ask for work: %w", b.server.refused(err))
		}
		if m == nil {
			return nil, nil
		}
		left := settling(b.options.Beat) - b.contact.ago(now)
		subject := m.Subject()
		id := subject[strings.LastIndexByte(subject, '.')+1:]
		// Not even Ctrl+C interrupts this: nobody would give back an attempt whose beginning is written but unknown.
		r, err := b.Change(context.WithoutCancel(ctx), id, func(r *queue.Record) error {
			if r.Taken > 0 && left > 0 {
				return errTooEarly
			}
			return begin(r, string(m.Data()))
		})
		switch {
		case errors.Is(err, errTooEarly):
			_ = m.NakWithDelay(left) // on failure it is redelivered after the lease
			return nil, nil
		case errors.Is(err, errUnable):
			_ = m.NakWithDelay(time.Second) // on failure it is redelivered after the lease
			return nil, nil
		case errors.Is(err, errOutdated) || errors.Is(err, ErrNone):
			if err := b.Send(ctx, &r); err != nil { // the worker that finished it may have been killed before
				return nil, err
			}
			_ = m.TermWithReason(errOutdated.Error()) // on failure it is redelivered and dropped
		case err != nil:
			_ = m.Nak() // on failure it is redelivered after the lease
			return nil, err
		case r.State.Over(): // too many workers were lost
			_ = m.TermWithReason(r.Why) // on failure it is redelivered and dropped
		default:
			return newJob(ctx, b, m, r), nil
		}
	}
}

// Lines fetch the messages of work queues, through consumers that all processes share. A missing consumer is
// created.
type lines struct {
	js   jetstream.JetStream
	wait time.Duration // until a message that was not acknowledged is delivered again

	mu   sync.Mutex
	made map[string]jetstream.Consumer // by name
}

// consumer returns a consumer of a stream.
func (l *lines) consumer(ctx context.Context, stream, name string, c jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if have, ok := l.made[name]; ok {
		return have, nil
	}
	c.Durable, c.AckPolicy, c.AckWait = name, jetstream.AckExplicitPolicy, l.wait
	if c.MaxAckPending == 0 {
		c.MaxAckPending = -1
	}
	made, err := l.js.CreateOrUpdateConsumer(ctx, stream, c)
	if err == nil {
		l.made[name] = made
	}
	return made, err
}

// soon is how long to wait for a message. Without a wait, a server that may deliver only one result at a time
// would still make the caller wait for its default.
const soon = 50 * time.Millisecond

// next returns a message; nil where there is none.
func next(c jetstream.Consumer) (jetstream.Msg, error) {
	var batch jetstream.MessageBatch
	var err error
	if c.CachedInfo().Config.MaxAckPending == 1 {
		batch, err = c.Fetch(1, jetstream.FetchMaxWait(soon))
	} else {
		batch, err = c.FetchNoWait(1)
	}
	if err != nil {
		return nil, err
	}
	m, ok := <-batch.Messages()
	if !ok {
		return nil, batch.Error()
	}
	return m, nil
}

// A contact notices when the hub was reached, or reached again.
type contact struct {
	conn *nats.Conn

	mu         sync.Mutex
	reconnects uint64    // seen so far
	since      time.Time // when the last one was noticed; zero is never
}

// ago is how long ago that was.
func (r *contact) ago(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.conn.Stats().Reconnects; r.since.IsZero() || n != r.reconnects {
		r.since, r.reconnects = now, n
	}
	return now.Sub(r.since)
}

// settling is how long after a reconnect nobody is considered lost: by then, every live worker has sent a heartbeat. The
// one that it sends when it reconnects may come before the task is offered to others, and is then of no use.
func settling(beat time.Duration) time.Duration { return beat + beat/4 }
