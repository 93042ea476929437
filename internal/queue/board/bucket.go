package board

import (
	"context"
	"errors"
	"fmt"
	"time"

	json "github.com/go-json-experiment/json/v1"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/wording/hint"
)

// A bucket keeps values, each of which is changed by its revision alone: whoever changes one has seen what
// it changes.
type bucket struct {
	jetstream.KeyValue

	server server
	all    string                  // what all of it is, for people
	one    func(key string) string // and one value
}

// kept reads a value. Where there is none it is the zero value, of revision 0.
func kept[T any](ctx context.Context, b *bucket, key string) (value T, revision uint64, err error) {
	e, err := b.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return value, 0, nil
	}
	if err != nil {
		return value, 0, fmt.Errorf("read %s: %w", b.one(key), b.server.refused(err))
	}
	value, err = decoded[T](b, e)
	return value, e.Revision(), err
}

func decoded[T any](b *bucket, e jetstream.KeyValueEntry) (value T, err error) {
	if err := json.Unmarshal(e.Value(), &value); err != nil {
		return value, fmt.Errorf("read %s: %w", b.one(e.Key()), err)
	}
	return value, nil
}

// changed changes a value by its revision. When somebody else has changed it in between, change is called
// again with what is there then; its error ends it.
func changed[T any](ctx context.Context, b *bucket, key string, change func(value *T, revision uint64) error) (T, uint64, error) {
	for {
		value, revision, err := kept[T](ctx, b, key)
		if err == nil {
			err = change(&value, revision)
		}
		if err != nil {
			return value, revision, err
		}
		text, err := json.Marshal(value)
		switch {
		case err != nil:
		case revision == 0:
			revision, err = b.Create(ctx, key, text)
		default:
			revision, err = b.Update(ctx, key, text, revision)
		}
		if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			continue
		}
		if err != nil {
			err = fmt.Errorf("write %s: %w", b.one(key), b.server.refused(err))
		}
		return value, revision, err
	}
}

// ErrAway says that the hub was away: what has changed meanwhile is not known.
var ErrAway = errors.New("the hub was away")

// errWhole says that all there was has been told.
var errWhole = errors.New("that is all")

// patience is how long a hub may say nothing while it is asked for all values.
const patience = 10 * time.Second

// list tells of all values. begin is called before the first of them, and again where the hub was away
// meanwhile and all are told once more: what was told by then may be a part.
func (b *bucket) list(ctx context.Context, begin func(), told func(jetstream.KeyValueEntry) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(patience, func() { cancel(fmt.Errorf("read %s: %w", b.all, nats.ErrTimeout)) })
	defer late.Stop()
	for {
		begin()
		err := b.watch(ctx, func(e jetstream.KeyValueEntry) error {
			if e == nil {
				return errWhole
			}
			late.Reset(patience)
			return told(e)
		})
		switch {
		case errors.Is(err, errWhole):
			return nil
		case !errors.Is(err, ErrAway):
			return err
		}
	}
}

// watch tells of all values, also of those that were removed, then, with nil, that these were all, and then
// of each change. It returns when ctx is done, with its cause, when told returns an error, with that, and
// with [ErrAway] when the hub has come back after it was away.
func (b *bucket) watch(ctx context.Context, told func(jetstream.KeyValueEntry) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	back := b.server.conn.StatusChanged(nats.CONNECTED)
	defer b.server.conn.RemoveStatusListener(back) // which closes it
	go func() {
		if _, is := <-back; is {
			cancel(ErrAway)
		}
	}()
	w, err := b.WatchAll(ctx)
	if ctx.Err() != nil { // also where the question was lost
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", b.all, b.server.refused(err))
	}
	defer w.Stop() //nolint:errcheck // what it sends is read by nobody
	all := roll{bucket: b}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e, ok := <-w.Updates():
			if !ok {
				return hint.Errorf("is the hub still running?", "%s can no longer be read", b.all)
			}
			if e != nil {
				err = told(e)
			}
			if err == nil {
				err = all.call(ctx, e, told)
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				return err
			}
		}
	}
}

// A roll knows when all values of a bucket have been told. The watcher says so itself, and the server how
// much is still to come with each value, and both too early: a value that changes meanwhile is one less,
// and not yet one more. Values come in the order of their revisions. So all were told once the last one
// that was is the last that there is.
type roll struct {
	bucket *bucket
	seen   uint64 // revision of the value that was told last
	last   uint64 // that there was when the bucket was asked
	whole  bool
}

// call takes down what has been told, and tells, with nil, when that was all.
func (r *roll) call(ctx context.Context, e jetstream.KeyValueEntry, told func(jetstream.KeyValueEntry) error) error {
	if e != nil {
		r.seen = e.Revision()
	}
	if r.whole || r.seen < r.last || e != nil && e.Delta() > 0 && r.last == 0 {
		return nil
	}
	is, err := r.bucket.Status(ctx)
	if err != nil {
		return fmt.Errorf("read %s: %w", r.bucket.all, err)
	}
	r.last = 0
	if is, ok := is.(*jetstream.KeyValueBucketStatus); ok && is.Values() > 0 {
		r.last = is.StreamInfo().State.LastSeq
	}
	if r.seen < r.last {
		return nil
	}
	r.whole = true
	return told(nil)
}
