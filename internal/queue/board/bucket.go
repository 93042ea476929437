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

// A bucket stores values. Every change names the revision that it is based on, so concurrent changes are noticed.
type bucket struct {
	jetstream.KeyValue

	server server
	all    string                  // names the whole bucket in errors
	one    func(key string) string // names one value
}

// kept reads a value. A missing one is the zero value, with revision 0.
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

// changed changes a value. If somebody else changes it at the same time, change is called again with the new
// value; an error of change ends it.
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

// whatToDo is the advice for a damaged store.
const whatToDo = "put the hub's store back from a backup; results are on the branches codeloops/ID of their repositories; to begin anew, move the store away"

// lost returns an error for a bucket that has lost its values: each one leaves a message, also a removed one.
func (b *bucket) lost(is jetstream.StreamState) error {
	if is.Msgs > 0 || is.LastSeq == 0 {
		return nil
	}
	return hint.Errorf(whatToDo, "the hub has lost %s: there was something in it, and files of its store are gone or damaged", b.all)
}

// ErrAway says that the connection to the hub was lost, and changes may have been missed.
var ErrAway = errors.New("the hub was away")

// errWhole ends a listing once all values have been told.
var errWhole = errors.New("that is all")

// patience is how long the hub may be silent during a listing.
const patience = 10 * time.Second

// list tells of all values. begin is called before the first one, and again when the connection was lost and the
// listing starts over.
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

// watch tells of all values, including removed ones, then of nil, and then of each change. It returns the cause
// when ctx is done, the error that told returns, and [ErrAway] when the hub was away and has come back.
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
	if ctx.Err() != nil { // also when the request was lost
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", b.all, b.server.refused(err))
	}
	defer w.Stop() //nolint:errcheck // nobody reads further updates
	all := listing{bucket: b}
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

// A listing detects when all values of a bucket have been told. The watcher's own marker and the server's pending
// count both come too early: a value that changes meanwhile is subtracted before its new revision is added. Values
// come in order of revision, so the listing is complete when the last one told is the last in the stream.
type listing struct {
	bucket *bucket
	seen   uint64 // last revision told
	last   uint64 // last revision in the bucket when it was asked
	whole  bool
}

// call notes a value, and tells nil once all have been told.
func (r *listing) call(ctx context.Context, e jetstream.KeyValueEntry, told func(jetstream.KeyValueEntry) error) error {
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
	if is, ok := is.(*jetstream.KeyValueBucketStatus); ok {
		state := is.StreamInfo().State
		if err := r.bucket.lost(state); err != nil {
			return err
		}
		r.last = state.LastSeq
	}
	if r.seen < r.last {
		return nil
	}
	r.whole = true
	return told(nil)
}
