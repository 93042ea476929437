package board

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	json "github.com/go-json-experiment/json/v1"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue"
)

// ErrMoved says that the board has changed since it was read.
var ErrMoved = errors.New("something has changed on the board meanwhile")

// Take begins an attempt at a task that waits, or whose worker is lost; or it takes a result that waits for its merge, or
// whose merger is lost. It does so only if the board has not changed since revision seen, at which r was chosen: of several
// processes that choose at the same time one wins, and the others get [ErrMoved]. The job is nil where too many were lost.
func (b *Board) Take(ctx context.Context, r queue.Record, seen uint64, w queue.Worker) (*Job, error) {
	if !b.free(ctx, &r) {
		return nil, ErrMoved
	}
	var err error
	switch {
	case r.Taken < MostLost:
		err = r.Begin(w, b.Now())
	case r.State == queue.Finished:
		err = r.Move(queue.NeedsHuman, b.Now(), fmt.Sprintf("the merger was lost %d times", r.Taken))
	default:
		err = r.Move(queue.Dead, b.Now(), fmt.Sprintf("its workers were lost %d times, the last one was %s", r.Taken, r.Worker.Name))
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("take task %s: %w", r.Task.ID, err)
	}
	// Not even Ctrl+C interrupts this: nobody would give back an attempt whose beginning is written but unknown.
	ack, err := b.js.Publish(context.WithoutCancel(ctx), "$KV."+records+"."+r.Task.ID, text, jetstream.WithExpectLastSequence(seen))
	if e, ok := errors.AsType[*jetstream.APIError](err); ok && e.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return nil, ErrMoved
	}
	if err != nil {
		return nil, fmt.Errorf("take task %s: %w", r.Task.ID, b.server.refused(err))
	}
	if r.Revision = ack.Sequence; r.State.Over() {
		return nil, nil //nolint:nilnil // too many were lost
	}
	return newJob(ctx, b, r), nil
}

// settling is how long heartbeats that have arrived may take to be heard.
const settling = 100 * time.Millisecond

// free reports whether nobody has what a record is about: it was not handed out, or who has it is lost, also after all that
// the hub had to tell has arrived. This process, or the hub, may have stood still.
func (b *Board) free(ctx context.Context, r *queue.Record) bool {
	if r.Taken == 0 {
		return true
	}
	once, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if b.server.conn.FlushWithContext(once) != nil {
		return false
	}
	time.Sleep(settling)
	return b.Lost(r)
}

// beats is the prefix of the subjects of heartbeats.
const beats = "codeloops.beat."

// beatOf names a job in heartbeats, apart from all others of its task.
func beatOf(r *queue.Record) string { return fmt.Sprintf("%s.%d", r.Task.ID, r.Held.UnixNano()) }

// An ear hears the heartbeats of jobs. Nothing about them is stored: only who has listened for a whole lease, and
// heard none, may believe that a worker is lost.
type ear struct {
	mu         sync.Mutex
	since      time.Time // when it began to listen, on this connection; zero is not at all
	reconnects uint64
	heard      map[string]time.Time // by job
}

// Listen begins to hear heartbeats, until end is called. Without it, nobody counts as lost.
func (b *Board) Listen() (end func(), err error) {
	e := &b.ear
	e.mu.Lock()
	defer e.mu.Unlock()
	sub, err := b.server.conn.Subscribe(beats+"*", func(m *nats.Msg) {
		e.mu.Lock()
		defer e.mu.Unlock()
		now := b.options.Now()
		maps.DeleteFunc(e.heard, func(_ string, at time.Time) bool { return now.Sub(at) > 2*b.Lease() })
		e.heard[string(m.Data)] = now
	})
	if err != nil {
		return nil, fmt.Errorf("listen for heartbeats: %w", err)
	}
	e.since, e.heard = b.options.Now(), map[string]time.Time{}
	return func() { _ = sub.Unsubscribe() }, nil // fails only when the connection is closed
}

// Lost reports whether nobody works on a task, or merges a result, that was handed out: its heartbeats have not come for
// a whole lease.
func (b *Board) Lost(r *queue.Record) bool {
	e := &b.ear
	e.mu.Lock()
	defer e.mu.Unlock()
	now := b.options.Now()
	if n := b.server.conn.Stats().Reconnects; n != e.reconnects || !b.server.conn.IsConnected() {
		e.since, e.reconnects = now, n // what came meanwhile is not known
	}
	quiet := e.since
	if at := e.heard[beatOf(r)]; at.After(quiet) {
		quiet = at
	}
	return !e.since.IsZero() && now.Sub(quiet) > b.Lease() && b.Now().Sub(r.Held) > b.Lease()
}
