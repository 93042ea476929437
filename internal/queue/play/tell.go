package play

import (
	"context"
	"errors"
	"io"
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
)

// A teller tells whoever asks, on whatever machine, of the session of a task while it is played here. Each
// of them is told as fast as they read, from a log that is written in any case: the run knows nothing of
// them. It is a [loop.Sink], which hears that the session has begun.
type teller struct {
	conn *nats.Conn
	plan *run.Plan

	task string
	ctx  context.Context //nolint:containedctx // a sink gets none
	stop context.CancelFunc

	sub     *nats.Subscription // nil: the session has not begun
	telling sync.WaitGroup
	mu      sync.Mutex
	readers int
}

// What one who reads is sent at once, how many may read, and how long the last of them are told the end.
const (
	piece  = 256 << 10
	most   = 16
	ending = 2 * time.Second
)

// logOf is where the log of a task is asked for.
func logOf(task string) string { return "codeloops.log." + task }

func newTeller(ctx context.Context, conn *nats.Conn, task string, plan *run.Plan) *teller {
	t := &teller{conn: conn, plan: plan, task: task}
	t.ctx, t.stop = context.WithCancel(context.WithoutCancel(ctx))
	return t
}

// Handle begins to tell when there is something to tell.
func (t *teller) Handle(loop.Stamp, loop.Event) error {
	if t.sub != nil || t.plan.ID() == "" {
		return nil
	}
	id, dir := t.plan.ID(), filepath.Dir(t.plan.Log())
	sub, err := t.conn.Subscribe(logOf(t.task), func(m *nats.Msg) {
		if t.admit(+1) {
			t.telling.Go(func() {
				defer t.admit(-1)
				t.tell(m, dir, id)
			})
		}
	})
	if err == nil { // else it is tried again
		t.sub = sub
	}
	return nil
}

// close tells those who read the end, as far as they read on.
func (t *teller) close() {
	if t.sub != nil {
		_ = t.sub.Unsubscribe() // the connection ends, else
	}
	defer time.AfterFunc(ending, t.stop).Stop()
	t.telling.Wait()
	t.stop()
}

func (t *teller) admit(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n > 0 && t.readers == most {
		return false // whoever asks does so again
	}
	t.readers += n
	return true
}

// tell tells one who reads of the session, to its end.
func (t *teller) tell(m *nats.Msg, dir, id string) {
	store, err := session.NewStore(dir)
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	to := &listener{conn: t.conn, to: m.Reply}
	var beating sync.WaitGroup
	defer beating.Wait()
	defer cancel()
	beating.Go(func() { to.beat(ctx, cancel) })
	for entry, err := range store.Follow(ctx, id, 0) {
		if err != nil {
			continue // a line that cannot be read, or the end
		}
		if to.send(session.Encode(entry.At, entry.Event)) != nil {
			return // nobody reads any more
		}
	}
	_ = to.end()
}

// A listener is one who reads, and says so of each piece.
type listener struct {
	conn *nats.Conn
	to   string

	mu sync.Mutex
}

func (l *listener) send(text []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		n := min(len(text), piece)
		if _, err := l.conn.Request(l.to, text[:n], silence); err != nil {
			return err
		}
		if text = text[n:]; len(text) == 0 {
			return nil
		}
	}
}

// beat says that the session goes on, also when there is nothing to tell.
func (l *listener) beat(ctx context.Context, gone func()) {
	t := time.NewTicker(atWork)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if l.send(nil) != nil {
				gone()
				return
			}
		}
	}
}

// over is the header of the message behind the last one.
const over = "Over"

func (l *listener) end() error {
	m := nats.NewMsg(l.to)
	m.Header.Set(over, "true")
	_, err := l.conn.RequestMsg(m, silence)
	return err
}

// Follow returns the events of the session of a task, as whoever works on it, on whatever machine, tells
// them: first those that have been, then each as it comes. It goes on with another worker where one is
// lost; what that had not sent is told twice then, as it was and as it is. When nobody works on the task
// any more, rest returns the events of a session, as far as they are known here.
func Follow(ctx context.Context, conn *nats.Conn, on *board.Board, task string, rest func(id string) iter.Seq2[session.Entry, error]) iter.Seq2[session.Entry, error] {
	return func(yield func(session.Entry, error) bool) {
		told := map[int]time.Time{} // when the event of a number was
		tell := func(from iter.Seq2[session.Entry, error]) (more bool) {
			for entry, err := range from {
				if err == nil && told[entry.At.Seq].Equal(entry.At.Time) {
					continue
				}
				told[entry.At.Seq] = entry.At.Time
				if _, over := entry.Event.(loop.Finished); !yield(entry, err) || over {
					return false
				}
			}
			return true
		}
		for tell(listen(ctx, conn, task)) {
			r, err := on.Get(ctx, task)
			if err = errors.Join(err, context.Cause(ctx)); err != nil {
				yield(session.Entry{}, err)
				return
			}
			coming := r.Parcels.Count > 0 && (r.State == queue.Finished || r.State.Over()) // home, where rest finds it
			if r.State != queue.Running && r.State != queue.Offered && !coming {
				tell(rest(r.Progress.Session))
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second): // a worker that was lost is missed after a while
			}
		}
	}
}

// listen yields what one worker tells.
func listen(ctx context.Context, conn *nats.Conn, task string) iter.Seq2[session.Entry, error] {
	return func(yield func(session.Entry, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		out, in := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = in.CloseWithError(hear(ctx, conn, task, in)) // never fails
		}()
		defer func() {
			cancel()
			_ = out.Close() // never fails
			<-done
		}()
		for entry, err := range session.NewReader(out, "the log of task "+task).Entries() {
			if err != nil {
				if _, bad := errors.AsType[*session.LineError](err); bad && ctx.Err() == nil && yield(session.Entry{}, err) {
					continue
				}
				return
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// hear writes what a worker tells, until it has no more to tell or is not heard of.
func hear(ctx context.Context, conn *nats.Conn, task string, to io.Writer) error {
	inbox := conn.NewRespInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer sub.Unsubscribe() //nolint:errcheck // nothing more is read
	if err := conn.PublishRequest(logOf(task), inbox, nil); err != nil {
		return err
	}
	for {
		once, cancel := context.WithTimeout(ctx, silence)
		m, err := sub.NextMsgWithContext(once)
		cancel()
		if err != nil || m.Header.Get("Status") == "503" {
			return err
		}
		if len(m.Data) > 0 {
			if _, err := to.Write(m.Data); err != nil {
				return err
			}
		}
		if err := m.Respond(nil); err != nil || m.Header.Get(over) != "" {
			return err
		}
	}
}
