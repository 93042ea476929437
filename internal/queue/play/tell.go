package play

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/run"
	"codeloops/internal/session"
	"codeloops/internal/session/door"
)

// A teller sends the session of a task to whoever asks, on any machine, while it runs here. Each reader is served
// from the log, so a slow one does not delay the run. It is a [loop.Sink] only to learn that the session has
// begun.
type teller struct {
	conn *nats.Conn
	plan *run.Plan

	task  string
	locks string          // the user's directory for them
	ctx   context.Context //nolint:containedctx // a sink gets none
	stop  context.CancelFunc

	sub     *nats.Subscription // nil until the session begins
	telling sync.WaitGroup
}

// ending is how long readers get to read the end.
const ending = 2 * time.Second

// logOf is the subject on which a task's log is requested.
func logOf(task string) string { return "codeloops.log." + task }

func newTeller(ctx context.Context, conn *nats.Conn, task, locks string, plan *run.Plan) *teller {
	t := &teller{conn: conn, plan: plan, task: task, locks: locks}
	t.ctx, t.stop = context.WithCancel(context.WithoutCancel(ctx))
	return t
}

// Handle begins to serve readers once the session has begun.
func (t *teller) Handle(loop.Stamp, loop.Event) error {
	if t.sub != nil || t.plan.ID() == "" {
		return nil
	}
	store, err := session.NewStore(filepath.Dir(t.plan.Log()))
	if err != nil {
		return nil //nolint:nilerr // the next event tries again
	}
	id := t.plan.ID()
	t.sub, _ = t.conn.Subscribe(logOf(t.task), func(m *nats.Msg) { // nil on errors: the next event tries again
		t.telling.Go(func() {
			for entry, err := range store.Follow(t.ctx, id, (&door.Client{Locks: t.locks, Session: id}).Doing) {
				if err == nil { // not an unreadable line, or the end
					_ = m.Respond(session.Encode(entry.At, entry.Event)) // what is too large for the server is left out
				}
			}
		})
	})
	return nil
}

// close gives readers a moment for the end.
func (t *teller) close() {
	if t.sub != nil {
		_ = t.sub.Unsubscribe() // fails only when the connection is closed
	}
	defer time.AfterFunc(ending, t.stop).Stop()
	t.telling.Wait()
	t.stop()
}

// Follow returns the events of a task's session from the worker that runs it, on any machine: first the past ones,
// then each as it comes. When a worker is lost it continues with the next one, which may repeat events. When
// nobody works on the task any more, rest returns the events of a session as known here.
func Follow(ctx context.Context, conn *nats.Conn, on *board.Board, task string, rest func(id string) iter.Seq2[session.Entry, error]) iter.Seq2[session.Entry, error] {
	return func(yield func(session.Entry, error) bool) {
		told := map[int]time.Time{} // times of events, by number
		tell := func(entry session.Entry, err error) (more bool) {
			if err == nil && told[entry.At.Seq].Equal(entry.At.Time) {
				return true
			}
			told[entry.At.Seq] = entry.At.Time
			_, over := entry.Event.(loop.Finished)
			return yield(entry, err) && !over
		}
		inbox := conn.NewRespInbox()
		sub, err := conn.SubscribeSync(inbox)
		if err != nil {
			yield(session.Entry{}, err)
			return
		}
		defer sub.Unsubscribe()             //nolint:errcheck // nothing more is read
		for asked, more := 0, true; more; { // the attempt whose worker was asked last
			r, err := on.Get(ctx, task)
			coming := r.Parcel > 0 && (r.State == queue.Finished || r.State.Over()) // on its way home, where rest will find it
			if r.State == queue.Running && r.Attempt != asked && err == nil {
				err = conn.PublishRequest(logOf(task), inbox, nil)
			}
			switch {
			case errors.Join(err, context.Cause(ctx)) != nil:
				yield(session.Entry{}, errors.Join(err, context.Cause(ctx)))
				return
			case r.State != queue.Running && !coming:
				rest(r.Progress.Session)(tell)
				return
			}
			asked, more = hear(ctx, sub, &r, tell)
		}
	}
}

// hear tells the events that come, until none has come for a while: perhaps somebody else works on the task by then. It
// returns the attempt whose worker has been asked; 0 if that was not there yet.
func hear(ctx context.Context, sub *nats.Subscription, r *queue.Record, tell func(session.Entry, error) bool) (asked int, more bool) {
	for {
		once, cancel := context.WithTimeout(ctx, pauseForOthers)
		m, err := sub.NextMsgWithContext(once)
		cancel()
		if err != nil {
			return r.Attempt, true
		}
		if len(m.Data) == 0 {
			time.Sleep(pauseForOthers)
			return 0, true
		}
		for entry, err := range session.NewReader(bytes.NewReader(m.Data), "the log of task "+r.Task.ID).Entries() {
			if !tell(entry, err) {
				return 0, false
			}
		}
	}
}

// pauseForOthers is how often it is looked whether somebody else works on a task.
const pauseForOthers = time.Second
