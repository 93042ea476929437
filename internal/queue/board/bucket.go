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

	server   server
	all, one string // what errors call the whole bucket, and what precedes the key of a value there
}

// kept reads a value. A missing one is the zero value, with revision 0.
func kept[T any](ctx context.Context, b *bucket, key string) (value T, revision uint64, err error) {
	e, err := b.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) || errors.Is(err, jetstream.ErrInvalidKey) {
		return value, 0, nil
	}
	if err != nil {
		return value, 0, fmt.Errorf("read %s: %w", b.one+key, b.server.refused(err))
	}
	value, err = decoded[T](b, e)
	return value, e.Revision(), err
}

func decoded[T any](b *bucket, e jetstream.KeyValueEntry) (value T, err error) {
	if err := json.Unmarshal(e.Value(), &value); err != nil {
		return value, fmt.Errorf("read %s: %w", b.one+e.Key(), err)
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
			err = fmt.Errorf("write %s: %w", b.one+key, b.server.refused(err))
		}
		return value, revision, err
	}
}

// whatToDo is the advice for a damaged store.
const whatToDo = "put the hub's store back from a backup; results are on the branches codeloops/ID of their repositories; to begin anew, move the store away"

// info asks the hub about the bucket. It is an error if that has lost its values: each one leaves a message, also a removed one.
func (b *bucket) info(ctx context.Context) (*jetstream.StreamInfo, error) {
	is, err := b.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", b.all, err)
	}
	info := is.(*jetstream.KeyValueBucketStatus).StreamInfo() //nolint:forcetypeassert // as its documentation says
	if info.State.Msgs == 0 && info.State.LastSeq > 0 {
		return nil, hint.Errorf(whatToDo, "the hub has lost %s: there was something in it, and files of its store are gone or damaged", b.all)
	}
	return info, nil
}

// ErrAway says that the connection to the hub was lost, and changes may have been missed.
var ErrAway = errors.New("the hub was away")

// errWhole ends a listing once all values have been told.
var errWhole = errors.New("that is all")

// patience is how long the hub may be silent during a listing.
const patience = 10 * time.Second

// list tells of all values, of some of them again if the connection is lost meanwhile.
func (b *bucket) list(ctx context.Context, told func(jetstream.KeyValueEntry) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(patience, func() { cancel(fmt.Errorf("read %s: %w", b.all, nats.ErrTimeout)) })
	defer late.Stop()
	err := ErrAway
	for errors.Is(err, ErrAway) {
		err = b.watch(ctx, func(e jetstream.KeyValueEntry) error {
			if e == nil {
				return errWhole
			}
			late.Reset(patience)
			return told(e)
		})
	}
	if errors.Is(err, errWhole) {
		return nil
	}
	return err
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
	defer w.Stop()        //nolint:errcheck // nobody reads further updates
	var seen, last uint64 // the last revision told, and in the bucket when it was asked
	all := false
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e, ok := <-w.Updates():
			if !ok {
				return hint.Errorf("is the hub still running?", "%s can no longer be read", b.all)
			}
			if e != nil {
				seen, err = e.Revision(), told(e)
			}
			if err == nil && !all {
				if all, err = b.whole(ctx, e, seen, &last); all {
					err = told(nil)
				}
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

// whole reports whether all values have been told, the last one with revision seen. The watcher's own marker, nil, and the
// server's count of what is pending come too early: a value that changes meanwhile is subtracted before its new revision is
// added. Values come in order of revision, so they are complete when the last one told is the last in the bucket.
func (b *bucket) whole(ctx context.Context, e jetstream.KeyValueEntry, seen uint64, last *uint64) (bool, error) {
	if e != nil && (*last == 0 || seen < *last) {
		return false, nil
	}
	info, err := b.info(ctx)
	if err != nil {
		return false, err
	}
	*last = info.State.LastSeq
	return seen >= *last, nil
}
