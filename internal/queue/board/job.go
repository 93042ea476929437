package board

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue"
)

// A Job is a task that a worker has taken, or a result that the merger has. Until it is released, it sends
// heartbeats.
type Job struct {
	queue.Record // as this job last read or wrote it

	mu      sync.Mutex   // guards Record, which several goroutines may change
	given   queue.Record // as it was when it was taken, for goroutines that do not own the job
	board   *Board
	stop    context.CancelFunc
	stopped chan struct{}
}

func newJob(ctx context.Context, b *Board, r queue.Record) *Job {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	j := &Job{Record: r, given: r, board: b, stop: stop, stopped: make(chan struct{})}
	go j.beat(ctx)
	return j
}

// beat sends heartbeats until the job is released, and one at once when the hub comes back.
func (j *Job) beat(ctx context.Context) {
	defer close(j.stopped)
	t := time.NewTicker(j.board.options.Beat)
	defer t.Stop()
	back := j.board.server.conn.StatusChanged(nats.CONNECTED)
	defer j.board.server.conn.RemoveStatusListener(back)
	for {
		select {
		case <-ctx.Done():
			return
		case <-back:
		case <-t.C:
		}
		_ = j.board.server.conn.Publish(beats+j.given.Task.ID, []byte(beatOf(&j.given))) // if the hub is away, the next one does
	}
}

// Stale says why this job no longer counts, given the current record, which is nil for a removed task; nil where
// it still counts. The error is a [queue.ErrStale].
func (j *Job) Stale(r *queue.Record) error {
	what := ""
	switch {
	case r == nil:
		what = "the task was removed"
	case r.State == queue.Cancelled:
		return fmt.Errorf("attempt %d at task %s ends: %w", j.given.Attempt, j.given.Task.ID, queue.ErrCancelled)
	case r.Attempt != j.given.Attempt:
		what = fmt.Sprintf("attempt %d has begun", r.Attempt)
	case r.State != j.given.State:
		what = "the task is " + string(r.State)
	case !r.Held.Equal(j.given.Held):
		what = "somebody else has taken it"
	default:
		return nil
	}
	return fmt.Errorf("attempt %d at task %s no longer counts, as %s: %w", j.given.Attempt, j.given.Task.ID, what, queue.ErrStale)
}

// Change changes the record. The error is [queue.ErrStale] when this job no longer counts: the task was given to
// another worker, cancelled or removed.
func (j *Job) Change(ctx context.Context, change func(*queue.Record) error) error {
	r, err := j.board.Change(ctx, j.given.Task.ID, func(r *queue.Record) error {
		if r.Revision < j.given.Revision {
			return errBehind
		}
		if err := j.Stale(r); err != nil {
			return err
		}
		return change(r)
	})
	if errors.Is(err, ErrNone) {
		err = j.Stale(nil)
	}
	if err == nil {
		j.mu.Lock()
		j.Record = r
		j.mu.Unlock()
	}
	return err
}

// End gives the task back, with change moving the record. It waits while the hub is away, but only briefly once ctx is
// done.
func (j *Job) End(ctx context.Context, change func(*queue.Record) error) error {
	defer j.Release()
	var moved time.Time
	if err := retry(ctx, func(ctx context.Context) error {
		err := j.Change(ctx, func(r *queue.Record) error {
			err := change(r)
			moved = r.Since
			return err
		})
		if errors.Is(err, queue.ErrStale) && !moved.IsZero() { // a hub that was killed may have stored an earlier try without answering
			r, unread := j.board.Get(ctx, j.given.Task.ID)
			if unread == nil && slices.ContainsFunc(r.Course, func(m queue.Moment) bool { return m.Attempt == j.given.Attempt && m.At.Equal(moved) }) {
				j.Record, err = r, nil
			}
		}
		return err
	}); err != nil {
		return fmt.Errorf("give task %s back: %w", j.Task.ID, err)
	}
	return nil
}

// Spend adds the cost of a turn to the budget, if there is one, whatever became of the job. It waits while the hub is
// away. If that was killed just then, the turn may count twice.
func (j *Job) Spend(ctx context.Context, cost queue.Amount) error {
	err := retry(ctx, func(ctx context.Context) error {
		return j.board.ChangeBudget(ctx, j.given.Task.Repository, func(b *queue.Budget) error {
			if !b.Any() {
				return errNoBudget
			}
			b.Spend(cost)
			return nil
		})
	})
	if errors.Is(err, errNoBudget) {
		return nil
	}
	return err
}

// errNoBudget says that there is none.
var errNoBudget = errors.New("there is no budget")

// grace is the timeout of one request, graceAfter how long to keep trying once ctx is done, and away the pause
// between tries.
const (
	grace      = 10 * time.Second
	graceAfter = 3 * grace
	away       = 200 * time.Millisecond
)

// retry retries until the hub answers, or ctx has been done for a while.
func retry(ctx context.Context, do func(context.Context) error) error {
	wanted, give := context.WithCancel(context.WithoutCancel(ctx))
	defer give()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(graceAfter, give) })()
	var last error
	for {
		once, cancel := context.WithTimeout(wanted, grace)
		err := do(once)
		cancel()
		if err == nil || errors.Is(err, nats.ErrConnectionClosed) || wanted.Err() == nil && !Unreachable(err) {
			return err
		}
		if last == nil || wanted.Err() == nil { // later errors say only that it was cancelled
			last = err
		}
		if wanted.Err() != nil {
			return last
		}
		time.Sleep(away)
	}
}

// errBehind is the answer of a cluster member that has not seen the last changes yet.
var errBehind = errors.New("a server of the cluster is behind the others")

// Unreachable reports whether an error means that the hub did not answer.
func Unreachable(err error) bool {
	for _, one := range []error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrReconnectBufExceeded,
		nats.ErrConnectionReconnecting, nats.ErrNoServers, nats.ErrStaleConnection, jetstream.ErrNoStreamResponse,
		jetstream.ErrJetStreamNotEnabled, // as when its disk is full
		errBehind,
	} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// Of is the ID of the task.
func (j *Job) Of() string { return j.given.Task.ID }

// Release ends the job. Unless it was given back, another worker gets the task when the lease is over.
func (j *Job) Release() {
	j.stop()
	<-j.stopped
}
