package board

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

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
	case r.State == queue.Finished && !r.Task.Unmerged && !b.Now().Before(r.NotBefore):
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
func (b *Board) Take(ctx context.Context, of queue.Repository, w queue.Worker, at time.Time) (*Job, error) {
	c, err := b.lines.consumer(ctx, offers, "workers-"+of.Key(), jetstream.ConsumerConfig{FilterSubject: offerSubject + of.Key() + ".*"})
	if err != nil {
		return nil, fmt.Errorf("look for work: %w", b.server.refused(err))
	}
	return b.take(ctx, c, at, func(r *queue.Record, number string) error {
		if numberOf(r) != number || r.State != queue.Offered && r.State != queue.Running {
			return errVain
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
			return errVain
		}
		if r.Taken >= MostLost {
			return r.Move(queue.NeedsHuman, at, fmt.Sprintf("the merger was lost %d times", r.Taken))
		}
		r.Taken++
		return nil
	})
}

// errVain says that a message is outdated.
var errVain = errors.New("the task is no longer offered")

// errEarly says that the worker of a task may not have had time for a heartbeat since the hub came back.
var errEarly = errors.New("the hub has only just come back")

// take takes the first message whose record can be begun; nil where there is none.
func (b *Board) take(ctx context.Context, c jetstream.Consumer, now time.Time, begin func(r *queue.Record, number string) error) (*Job, error) {
	for {
		b.reunion.ago(now) // also before asking, as a message may take a while
		m, err := next(c)
		if err != nil {
			return nil, fmt.Errorf("ask for work: %w", b.server.refused(err))
		}
		if m == nil {
			return nil, nil
		}
		left := early(b.options.Beat) - b.reunion.ago(now)
		r, err := b.begin(ctx, m, func(r *queue.Record, number string) error {
			if r.Taken > 0 && left > 0 {
				return errEarly
			}
			return begin(r, number)
		})
		switch {
		case errors.Is(err, errEarly):
			_ = m.NakWithDelay(left) // on failure it is redelivered after the lease
			return nil, nil
		case errors.Is(err, errVain):
			if err := b.Send(ctx, &r); err != nil { // the worker that finished it may have been killed before
				return nil, err
			}
			_ = m.TermWithReason(errVain.Error()) // on failure it is redelivered and dropped
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

// begin changes the record that a message names.
func (b *Board) begin(ctx context.Context, m jetstream.Msg, begin func(r *queue.Record, number string) error) (queue.Record, error) {
	r, err := b.Change(ctx, taskOf(m.Subject()), func(r *queue.Record) error { return begin(r, string(m.Data())) })
	if errors.Is(err, ErrNone) {
		err = errVain
	}
	return r, err
}

// taskOf is the last token of a subject.
func taskOf(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }
