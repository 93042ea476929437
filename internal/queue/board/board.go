// Package board keeps the records of a backlog and hands its tasks to workers, on JetStream.
//
// A bucket holds one record for each task, which is changed by revision. Whoever takes a task, or a result that waits to
// be merged, writes that into its record, and sends heartbeats, which are not stored. Whoever has heard none for a whole
// lease takes it over, and the record counts how often.
package board

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	json "github.com/go-json-experiment/json/v1"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue"
	"codeloops/internal/wording/hint"
)

// schema is the version of the stored data. Any other is rejected.
const schema = "2"

// schemaKey is the key that holds it.
const schemaKey = "schema"

// Names of buckets.
const (
	records  = "codeloops-tasks"
	settings = "codeloops-queue"
)

// Leases of jobs.
const (
	// AckWait is how long a worker may be silent before its task is given to another.
	AckWait = 30 * time.Second
	// Beat is the interval of heartbeats.
	Beat = 10 * time.Second
	// MostLost is how many workers a task may lose, and how many mergers its result, before it is given up.
	MostLost = 3
)

// Options are set by tests; zero values are the defaults.
type Options struct {
	AckWait  time.Duration // 0 is [AckWait]
	Beat     time.Duration // 0 is [Beat]
	Replicas int           // of a new board: replicas in a cluster; 0 is one
	Now      func() time.Time
}

// A Board is one process's access to the backlog. It is safe for concurrent use.
type Board struct {
	server            server
	js                jetstream.JetStream
	records, settings *bucket
	options           Options
	ear               ear

	mu          sync.Mutex
	there, here time.Time // the clocks of the hub and of this machine at the same moment
}

// Open opens a board, and creates what it needs.
func Open(ctx context.Context, conn *nats.Conn, o Options) (*Board, error) {
	o.AckWait, o.Beat = cmp.Or(o.AckWait, AckWait), cmp.Or(o.Beat, Beat)
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // for tests
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, fmt.Errorf("open the backlog: %w", err)
	}
	b := &Board{server: server{conn}, js: js, options: o}
	if err := b.server.fits(); err != nil {
		return nil, err
	}
	for {
		was := conn.Stats().Reconnects
		if err = b.open(ctx); err == nil {
			return b, nil
		}
		if !Unreachable(err) || conn.Stats().Reconnects == was { // else the hub has changed hands, and an answer was lost
			return nil, fmt.Errorf("open the backlog: %w", b.server.refused(err))
		}
	}
}

func (b *Board) open(ctx context.Context) error {
	kept, err := b.js.KeyValue(ctx, records)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kept, err = b.create(ctx)
	}
	if err != nil {
		return err
	}
	b.records = &bucket{kept, b.server, "the backlog", "task "}
	kept, err = b.js.KeyValue(ctx, settings)
	if errors.Is(err, jetstream.ErrBucketNotFound) { // it is made before that of the records
		err = hint.Errorf(whatToDo, "the hub has lost the budgets: files of its store are gone")
	}
	if err != nil {
		return err
	}
	b.settings = &bucket{kept, b.server, "the budgets", "the setting "}
	return b.look(ctx)
}

// create makes the buckets. The records come last, so that whoever finds them finds everything.
func (b *Board) create(ctx context.Context) (jetstream.KeyValue, error) {
	kept, err := b.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: settings, Storage: jetstream.FileStorage, Replicas: b.options.Replicas})
	if err != nil {
		return nil, err
	}
	if _, err := kept.Create(ctx, schemaKey, []byte(schema)); err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return nil, err
	}
	return b.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: records, Storage: jetstream.FileStorage, Replicas: b.options.Replicas})
}

// look asks the hub for its version, which may be another one after it was away, and for the time.
func (b *Board) look(ctx context.Context) error {
	e, err := b.settings.Get(ctx, schemaKey)
	if err != nil {
		return err
	}
	if was := string(e.Value()); was != schema {
		return hint.Errorf("use the same version of codeloops as the hub, here or there",
			"the backlog has version %s, but this codeloops needs version %s", was, schema)
	}
	asked := b.options.Now()
	info, err := b.records.info(ctx)
	if err != nil {
		return err
	}
	took := b.options.Now().Sub(asked)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.there, b.here = info.TimeStamp, asked.Add(took/2)
	return nil
}

// Lease is how long a worker may be silent before its task is given to another.
func (b *Board) Lease() time.Duration { return b.options.AckWait }

// Now is the hub's time. Clocks of different machines are never compared: everything is written with the hub's time.
func (b *Board) Now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.there.Add(b.options.Now().Sub(b.here)) // Sub is monotonic, so setting the clock does not matter
}

// ErrThere says that the task has been added before.
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
	if err := b.server.holds(t.ID, text); err != nil {
		return r, err
	}
	r.Revision, err = b.records.Create(ctx, t.ID, text)
	if errors.Is(err, jetstream.ErrKeyExists) {
		return r, ErrThere
	}
	if err != nil {
		return r, fmt.Errorf("add task %s: %w", t.ID, b.server.refused(err))
	}
	return r, nil
}

// Get reads one record. The error is [ErrNone] when there is none.
func (b *Board) Get(ctx context.Context, id string) (r queue.Record, err error) {
	if r, r.Revision, err = kept[queue.Record](ctx, b.records, id); err == nil && r.Revision == 0 {
		err = fmt.Errorf("%w: %s", ErrNone, id)
	}
	return r, err
}

// Change changes a record. If somebody else changes it at the same time, change is called again with the new
// record; an error of change ends it.
func (b *Board) Change(ctx context.Context, id string, change func(*queue.Record) error) (r queue.Record, err error) {
	r, r.Revision, err = changed(ctx, b.records, id, func(r *queue.Record, revision uint64) error {
		if r.Revision = revision; revision == 0 {
			return fmt.Errorf("%w: %s", ErrNone, id)
		}
		return change(r)
	})
	return r, err
}

// Remove removes a record, unless it has changed since it was read.
func (b *Board) Remove(ctx context.Context, r queue.Record) error {
	if err := b.records.Purge(ctx, r.Task.ID, jetstream.LastRevision(r.Revision)); err != nil {
		return hint.Errorf("try it again", "task %s could not be removed, as it has changed meanwhile: %w", r.Task.ID, err)
	}
	return nil
}

// All reads the whole backlog; one that could be read only in part is an error.
func (b *Board) All(ctx context.Context) (queue.Backlog, error) {
	all := queue.Backlog{}
	err := b.records.list(ctx, func(e jetstream.KeyValueEntry) error {
		r, err := b.record(e)
		if all[e.Key()] = r; r == nil {
			delete(all, e.Key())
		}
		return err
	})
	if err != nil {
		return nil, b.server.refused(err)
	}
	return all, nil
}

// record decodes an entry; nil where the record was removed.
func (b *Board) record(e jetstream.KeyValueEntry) (*queue.Record, error) {
	if e.Operation() != jetstream.KeyValuePut {
		return nil, nil //nolint:nilnil // a removed record is no error
	}
	r, err := decoded[queue.Record](b.records, e)
	if err != nil {
		return nil, err
	}
	r.Revision = e.Revision()
	return &r, nil
}

// An Update tells of one record that exists or has changed.
type Update struct {
	ID     string        // "": all records that existed at first have been told
	Record *queue.Record // nil: it was removed
	Seen   uint64        // revision of the board
}

// Follow tells of all records, then that these were all, and then of each change. It returns the cause when ctx is
// done, and [ErrAway] when the hub was away and has come back.
func (b *Board) Follow(ctx context.Context, changed func(Update)) error {
	if err := b.look(ctx); err != nil { // after sleep, the machine has lost its connection, and its clock may be off
		return fmt.Errorf("follow the backlog: %w", b.server.refused(err))
	}
	var c Update
	return b.records.watch(ctx, func(e jetstream.KeyValueEntry) (err error) {
		c.ID, c.Record = "", nil
		if e != nil {
			c.ID, c.Seen = e.Key(), e.Revision()
			if c.Record, err = b.record(e); err != nil {
				return err
			}
		}
		changed(c)
		return nil
	})
}

// budgets is the prefix of the keys of budgets.
const budgets = "budget."

// Budget returns the budget of a repository, without limits where none is set.
func (b *Board) Budget(ctx context.Context, of queue.Repository) (budget queue.Budget, err error) {
	budget, _, err = kept[queue.Budget](ctx, b.settings, budgets+of.Key())
	budget.Repository = of
	return budget, err
}

// ChangeBudget changes a budget, as [Board.Change] does a record.
func (b *Board) ChangeBudget(ctx context.Context, of queue.Repository, change func(*queue.Budget) error) error {
	_, _, err := changed(ctx, b.settings, budgets+of.Key(), func(b *queue.Budget, _ uint64) error {
		b.Repository = of
		return change(b)
	})
	return err
}

// Budgets returns the current budgets.
func (b *Board) Budgets(ctx context.Context) (queue.Budgets, error) {
	all := queue.Budgets{}
	return all, b.settings.list(ctx, func(e jetstream.KeyValueEntry) error { return b.budget(all, e) })
}

// FollowBudgets calls changed with all budgets, once all are known and then after each change. The value is not modified
// afterwards. It returns as [Board.Follow] does.
func (b *Board) FollowBudgets(ctx context.Context, changed func(queue.Budgets)) error {
	all, whole := queue.Budgets{}, false
	return b.settings.watch(ctx, func(e jetstream.KeyValueEntry) error {
		if e == nil {
			whole = true
		} else if err := b.budget(all, e); err != nil {
			return err
		}
		if whole {
			changed(maps.Clone(all))
		}
		return nil
	})
}

// budget adds what an entry says of a budget.
func (b *Board) budget(all queue.Budgets, e jetstream.KeyValueEntry) (err error) {
	if key, is := strings.CutPrefix(e.Key(), budgets); is {
		all[key], err = decoded[queue.Budget](b.settings, e)
	}
	return err
}
