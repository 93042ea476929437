// Package board keeps the records of a backlog and hands its tasks to workers, on JetStream.
//
// A bucket holds one record for each task, which is changed by revision. A work queue holds the
// tasks that are offered: a message that nobody acknowledges is given to another worker, and the
// record counts how often. Another one holds the results that wait for their merge, of which each
// repository's are taken one at a time.
package board

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	json "github.com/go-json-experiment/json/v1"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue"
	"codeloops/internal/wording/hint"
)

// schema is the version of everything that is kept. Another one is refused.
const schema = "1"

// What is kept, and where.
const (
	records  = "codeloops-tasks"
	settings = "codeloops-queue"
	offers   = "CODELOOPS-OFFERS"
	results  = "CODELOOPS-RESULTS"

	offerSubject  = "codeloops.offer."
	resultSubject = "codeloops.result."
)

// Leases of messages.
const (
	// AckWait is how long a worker may be silent before its task is given to another.
	AckWait = 30 * time.Second
	// Beat is how often a worker says that it is there.
	Beat = 10 * time.Second
	// MostLost is how many workers may be lost with a task, and how many mergers with its result.
	MostLost = 3
	// window is how long a message that is sent twice is known to be the same.
	window = time.Hour
)

// Options may be shorter in tests.
type Options struct {
	AckWait  time.Duration // of a new board; 0 is [AckWait]
	Beat     time.Duration // 0 is [Beat]
	Replicas int           // of a new board: how many servers of a cluster keep it; 0 is one
	Now      func() time.Time
}

// A Board is the backlog as one process sees it. It is safe for concurrent use.
type Board struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	records jetstream.KeyValue
	shared  jetstream.KeyValue // what is no record: budgets, limits
	options Options

	mu         sync.Mutex
	clock      clock
	consumers  map[string]jetstream.Consumer // by name
	reconnects uint64                        // that are known
	since      time.Time                     // when the last one was noticed; zero: nothing was taken yet
}

// Open makes what a board needs, unless it is there.
func Open(ctx context.Context, conn *nats.Conn, o Options) (*Board, error) {
	if o.AckWait == 0 {
		o.AckWait = AckWait
	}
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // for tests
	}
	if o.Beat == 0 {
		o.Beat = Beat
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("open the backlog: %w", err)
	}
	b := &Board{conn: conn, js: js, options: o, consumers: map[string]jetstream.Consumer{}}
	if err := b.fits(); err != nil {
		return nil, err
	}
	b.records, err = js.KeyValue(ctx, records)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		err = b.create(ctx)
	}
	if err == nil {
		err = errors.Join(b.known(ctx), b.look(ctx))
	}
	if err != nil {
		return nil, fmt.Errorf("open the backlog: %w", b.refused(err))
	}
	return b, nil
}

// create makes the streams. The records come last: whoever finds them finds all.
func (b *Board) create(ctx context.Context) error {
	for _, s := range []jetstream.StreamConfig{
		{Name: offers, Subjects: []string{offerSubject + ">"}, Retention: jetstream.WorkQueuePolicy, Duplicates: window},
		{Name: results, Subjects: []string{resultSubject + ">"}, Retention: jetstream.WorkQueuePolicy, Duplicates: window},
	} {
		s.Storage, s.Replicas = jetstream.FileStorage, b.options.Replicas
		if _, err := b.js.CreateOrUpdateStream(ctx, s); err != nil {
			return err
		}
	}
	kept, err := b.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: settings, Storage: jetstream.FileStorage, Replicas: b.options.Replicas})
	if err != nil {
		return err
	}
	if _, err := kept.Create(ctx, "schema", []byte(schema)); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return err
	}
	b.records, err = b.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: records, Storage: jetstream.FileStorage, Replicas: b.options.Replicas})
	return err
}

// known refuses a backlog that another version has written.
func (b *Board) known(ctx context.Context) error {
	kept, err := b.js.KeyValue(ctx, settings)
	if err != nil {
		return err
	}
	b.shared = kept
	e, err := kept.Get(ctx, "schema")
	if err != nil {
		return err
	}
	if was := string(e.Value()); was != schema {
		return hint.Errorf("use the version of codeloops that the hub has, here as well",
			"the backlog is of version %s, and this codeloops knows version %s", was, schema)
	}
	return nil
}

// ErrThere says that a task has been added already.
var ErrThere = errors.New("the task is in the queue already")

// ErrNone says that there is no such task.
var ErrNone = errors.New("there is no such task")

// Add puts a new task on the board.
func (b *Board) Add(ctx context.Context, t queue.Task) (queue.Record, error) {
	r := queue.Record{Task: t, State: queue.Waiting, Since: t.Added}
	r.Note(t.Added, "")
	text, err := json.Marshal(r)
	if err != nil {
		return r, fmt.Errorf("add task %s: %w", t.ID, err)
	}
	if err := b.holds(t.ID, text); err != nil {
		return r, err
	}
	r.Revision, err = b.records.Create(ctx, t.ID, text)
	if errors.Is(err, jetstream.ErrKeyExists) {
		return r, ErrThere
	}
	if err != nil {
		return r, fmt.Errorf("add task %s: %w", t.ID, b.refused(err))
	}
	return r, nil
}

// Get reads one record. The error is [ErrNone] when there is none.
func (b *Board) Get(ctx context.Context, id string) (queue.Record, error) {
	e, err := b.records.Get(ctx, id)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return queue.Record{}, fmt.Errorf("%w: %s", ErrNone, id)
	}
	if err != nil {
		return queue.Record{}, fmt.Errorf("read task %s: %w", id, err)
	}
	return decode(e)
}

func decode(e jetstream.KeyValueEntry) (r queue.Record, err error) {
	if err := json.Unmarshal(e.Value(), &r); err != nil {
		return r, fmt.Errorf("read task %s: %w", e.Key(), err)
	}
	r.Revision = e.Revision()
	return r, nil
}

// Change changes a record by its revision. When somebody else has changed it in between, change
// is called again with what is there then; its error ends it.
func (b *Board) Change(ctx context.Context, id string, change func(*queue.Record) error) (queue.Record, error) {
	for {
		r, err := b.Get(ctx, id)
		if err != nil {
			return r, err
		}
		if err := change(&r); err != nil {
			return r, err
		}
		again, err := b.put(ctx, &r)
		if err != nil || !again {
			return r, err
		}
	}
}

// put writes a record in place of the one that was read. raced says that it was another one.
func (b *Board) put(ctx context.Context, r *queue.Record) (raced bool, err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return false, fmt.Errorf("write task %s: %w", r.Task.ID, err)
	}
	revision, err := b.records.Update(ctx, r.Task.ID, text, r.Revision)
	if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("write task %s: %w", r.Task.ID, err)
	}
	r.Revision = revision
	return false, nil
}

// Remove takes a record off the board that is still the one that was read.
func (b *Board) Remove(ctx context.Context, r queue.Record) error {
	if err := b.records.Purge(ctx, r.Task.ID, jetstream.LastRevision(r.Revision)); err != nil {
		return hint.Errorf("try it again", "task %s could not be removed: something has become of it meanwhile: %w", r.Task.ID, err)
	}
	return nil
}

// All reads the whole backlog.
func (b *Board) All(ctx context.Context) (queue.Backlog, error) {
	all := queue.Backlog{}
	err := b.watch(ctx, b.records, "the backlog", func(e jetstream.KeyValueEntry) error {
		if e == nil {
			return errWhole
		}
		r, err := decode(e)
		all[r.Task.ID] = &r
		return err
	}, jetstream.IgnoreDeletes())
	switch {
	case errors.Is(err, ErrAway): // what was read by then may be a part
		return b.All(ctx)
	case !errors.Is(err, errWhole):
		return nil, err
	}
	return all, nil
}

// errWhole says that all there was has been told.
var errWhole = errors.New("that is all")

// watch tells of all values of a bucket, then, with nil, that these were all, and then of each change. It
// returns when ctx is done, with its cause, when told returns an error, with that, and with [ErrAway] when
// the hub has come back after it was away.
func (b *Board) watch(ctx context.Context, of jetstream.KeyValue, what string, told func(jetstream.KeyValueEntry) error, o ...jetstream.WatchOpt) error {
	w, err := of.WatchAll(ctx, o...)
	if err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	defer w.Stop() //nolint:errcheck // what it sends is read by nobody
	back := b.conn.StatusChanged(nats.CONNECTED)
	defer b.conn.RemoveStatusListener(back)
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-back:
			return ErrAway
		case e, ok := <-w.Updates():
			if !ok {
				return hint.Errorf("is the hub still running?", "%s can no longer be read", what)
			}
			if err := told(e); err != nil {
				return err
			}
		}
	}
}

// A Change is one record of a board that has changed, or was there at first.
type Change struct {
	ID     string        // "": nothing has; what was there at first has been told
	Record *queue.Record // nil: it was removed
	Seen   uint64        // revision of the board
}

// ErrAway says that the hub was away: what has changed meanwhile is not known.
var ErrAway = errors.New("the hub was away")

// Follow tells of all records, then that these were all, and then of each change. It returns
// when ctx is done, with its cause, when changed returns an error, with that, and with
// [ErrAway] when the hub has come back after it was away.
func (b *Board) Follow(ctx context.Context, changed func(Change) error) error {
	if err := b.look(ctx); err != nil { // a machine that was asleep has lost the hub, and its clock
		return fmt.Errorf("follow the backlog: %w", err)
	}
	var c Change
	return b.watch(ctx, b.records, "the backlog", func(e jetstream.KeyValueEntry) error {
		c.ID, c.Record = "", nil
		if e != nil {
			c.ID, c.Seen = e.Key(), e.Revision()
			if e.Operation() == jetstream.KeyValuePut {
				r, err := decode(e)
				if err != nil {
					return err
				}
				c.Record = &r
			}
		}
		return changed(c)
	})
}
