package board

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Lines are where the messages of work queues are asked for: consumers that all processes share, each of
// which is made where it is missing.
type lines struct {
	js   jetstream.JetStream
	wait time.Duration // for whoever was given a message to say so, or that it goes on

	mu   sync.Mutex
	made map[string]jetstream.Consumer // by name
}

// consumer is one of a stream.
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

// soon is how long a message is waited for. A server that is asked not to wait does so all the same
// where there are messages which may not be delivered yet: results, while another one is merged.
const soon = 50 * time.Millisecond

// next is a message that is there; nil where there is none.
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

// A reunion is when the hub was reached, or found again, as far as it was noticed.
type reunion struct {
	conn *nats.Conn

	mu         sync.Mutex
	reconnects uint64    // that are known
	since      time.Time // when the last one was noticed; zero: nobody has looked yet
}

// ago is how long ago that was.
func (r *reunion) ago(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.conn.Stats().Reconnects; r.since.IsZero() || n != r.reconnects {
		r.since, r.reconnects = now, n
	}
	return now.Sub(r.since)
}

// early is how long nobody is taken for lost, since the hub was reached: all who are there have
// found it again by then, and said so.
func early(beat time.Duration) time.Duration { return beat / 2 }
