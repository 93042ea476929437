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

// A teller sends the session of a task to whoever asks, on any machine, while it runs here. Each reader is served
// from the log, so a slow one does not delay the run. It is a [loop.Sink] only to learn that the session has
// begun.
type teller struct {
	conn *nats.Conn
	plan *run.Plan

	task string
	ctx  context.Context //nolint:containedctx // a sink gets none
	stop context.CancelFunc

	sub     *nats.Subscription // nil until the session begins
	telling sync.WaitGroup
	mu      sync.Mutex
	readers int
}

// piece is the most bytes of a message, most the number of readers, and ending how long they get to read the end.
const (
	piece  = 256 << 10
	most   = 16
	ending = 2 * time.Second
)

// logOf is the subject on which a task's log is requested.
func logOf(task string) string { return "codeloops.log." + task }

func newTeller(ctx context.Context, conn *nats.Conn, task string, plan *run.Plan) *teller {
	t := &teller{conn: conn, plan: plan, task: task}
	t.ctx, t.stop = context.WithCancel(context.WithoutCancel(ctx))
	return t
}

// Handle begins to serve readers once the session has begun.
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
	if err == nil { // otherwise the next event tries again
		t.sub = sub
	}
	return nil
}

// close sends readers the end, as long as they keep reading.
func (t *teller) close() {
	if t.sub != nil {
		_ = t.sub.Unsubscribe() // fails only when the connection is closed
	}
	defer time.AfterFunc(ending, t.stop).Stop()
	t.telling.Wait()
	t.stop()
}

func (t *teller) admit(n int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n > 0 && t.readers == most {
		return false // the reader asks again
	}
	t.readers += n
	return true
}

// tell sends one reader the session, to its end.
func (t *teller) tell(m *nats.Msg, dir, id string) {
	store, err := session.NewStore(dir)
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(t.ctx)
	to := &listener{conn: t.conn, to: m.Reply}
	var beating sync.WaitGroup
	defer beating.Wait()
	defer cancel()
	beating.Go(func() { to.beat(ctx, cancel) })
	for entry, err := range store.Follow(ctx, id, 0) {
		if err != nil {
			continue // an unreadable line, or the end
		}
		if to.send(session.Encode(entry.At, entry.Event)) != nil {
			return // the reader is gone
		}
	}
	_ = to.end()
}

// A listener is a reader, which acknowledges each piece.
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

// beat sends heartbeats while there are no events.
func (l *listener) beat(ctx context.Context, gone func()) {
	t := time.NewTicker(answerBeat)
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

// over is the header of the last message.
const over = "Over"

func (l *listener) end() error {
	m := nats.NewMsg(l.to)
	m.Header.Set(over, "true")
	_, err := l.conn.RequestMsg(m, silence)
	return err
}

// Follow returns the events of a task's session from the worker that runs it, on any machine: first the past ones,
// then each as it comes. When a worker is lost it continues with the next one, which may repeat events. When
// nobody works on the task any more, rest returns the events of a session as known here.
func Follow(ctx context.Context, conn *nats.Conn, on *board.Board, task string, rest func(id string) iter.Seq2[session.Entry, error]) iter.Seq2[session.Entry, error] {
	return func(yield func(session.Entry, error) bool) {
		told := map[int]time.Time{} // times of events, by number
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
			coming := r.Parcels.Count > 0 && (r.State == queue.Finished || r.State.Over()) // on its way home, where rest will find it
			if r.State != queue.Running && r.State != queue.Offered && !coming {
				tell(rest(r.Progress.Session))
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second): // it takes a while until a lost worker is replaced
			}
		}
	}
}

// listen yields the events that one worker sends.
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

// hear writes what a worker sends, until it ends or goes silent.
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
