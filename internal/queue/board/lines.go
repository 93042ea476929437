package board

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

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

// A reunion notices when the hub was reached, or reached again.
type reunion struct {
	conn *nats.Conn

	mu         sync.Mutex
	reconnects uint64    // seen so far
	since      time.Time // when the last one was noticed; zero is never
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

// early is how long after a reconnect nobody is considered lost: by then, every live worker has sent a heartbeat.
func early(beat time.Duration) time.Duration { return beat / 2 }
