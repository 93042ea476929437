package board

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	json "github.com/go-json-experiment/json/v1"
	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue"
)

// Keys of what is shared beside the records.
const (
	budgets = "budget."
	limits  = "limit."
)

func limitKey(home, agent string) string {
	sum := sha256.Sum256([]byte(agent)) // whose name may be anything
	return limits + home + "." + hex.EncodeToString(sum[:8])
}

// kept reads a value of what is shared, and its revision, which is 0 where there is none.
func (b *Board) kept(ctx context.Context, key string, to any) (revision uint64, err error) {
	e, err := b.shared.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, nil
	}
	if err == nil {
		err = json.Unmarshal(e.Value(), to)
	}
	if err != nil {
		return 0, fmt.Errorf("read %s of the queue: %w", key, err)
	}
	return e.Revision(), nil
}

// keep writes such a value in place of the one of that revision.
func (b *Board) keep(ctx context.Context, key string, value any, revision uint64) (raced bool, err error) {
	text, err := json.Marshal(value)
	if err == nil && revision == 0 {
		_, err = b.shared.Create(ctx, key, text)
	} else if err == nil {
		_, err = b.shared.Update(ctx, key, text, revision)
	}
	if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("write %s of the queue: %w", key, err)
	}
	return false, nil
}

// Budget is that of the tasks of a repository; one without any limit where nobody has set one.
func (b *Board) Budget(ctx context.Context, of queue.Repository) (budget queue.Budget, err error) {
	_, err = b.kept(ctx, budgets+of.Key(), &budget)
	budget.Repository = of
	return budget, err
}

// ChangeBudget changes a budget by its revision, as [Board.Change] does a record.
func (b *Board) ChangeBudget(ctx context.Context, of queue.Repository, change func(*queue.Budget) error) (queue.Budget, error) {
	for {
		budget := queue.Budget{}
		revision, err := b.kept(ctx, budgets+of.Key(), &budget)
		if err != nil {
			return budget, err
		}
		budget.Repository = of
		if err := change(&budget); err != nil {
			return budget, err
		}
		again, err := b.keep(ctx, budgets+of.Key(), budget, revision)
		if err != nil || !again {
			return budget, err
		}
	}
}

// Holds are the budgets and limits that there are now, for a home.
func (b *Board) Holds(ctx context.Context, home string) (*queue.Holds, error) {
	all := &queue.Holds{}
	err := b.followShared(ctx, home, func(h *queue.Holds, whole bool) error {
		if all = h; whole {
			return errWhole
		}
		return nil
	})
	if errors.Is(err, errWhole) {
		err = nil
	}
	return all, err
}

// FollowHolds tells of all budgets and limits, for a home, once they are known and then each time that
// one changes. What it tells is not changed afterwards. It returns as [Board.Follow] does.
func (b *Board) FollowHolds(ctx context.Context, home string, changed func(*queue.Holds)) error {
	return b.followShared(ctx, home, func(h *queue.Holds, whole bool) error {
		if whole {
			changed(h)
		}
		return nil
	})
}

func (b *Board) followShared(ctx context.Context, home string, changed func(*queue.Holds, bool) error) error {
	h, whole := &queue.Holds{}, false
	return b.watch(ctx, b.shared, "the budgets", func(e jetstream.KeyValueEntry) (err error) {
		if e == nil {
			whole = true
		} else if h, err = with(h, e, home); err != nil {
			return err
		}
		return changed(h, whole)
	})
}

// with is what holds tasks back once something has changed of what is shared.
func with(h *queue.Holds, e jetstream.KeyValueEntry, home string) (*queue.Holds, error) {
	h = h.Clone()
	var err error
	switch key := e.Key(); {
	case e.Operation() != jetstream.KeyValuePut:
		maps.DeleteFunc(h.Limits, func(agent string, _ queue.Limit) bool { return limitKey(home, agent) == key })
	case strings.HasPrefix(key, budgets):
		var budget queue.Budget
		err = json.Unmarshal(e.Value(), &budget)
		h.Budgets[strings.TrimPrefix(key, budgets)] = budget
	case strings.HasPrefix(key, limits+home+"."):
		var l queue.Limit
		err = json.Unmarshal(e.Value(), &l)
		l.Until = e.Created().Add(time.Duration(l.Seconds * float64(time.Second))).Local()
		h.Limits[l.Agent] = l
	}
	if err != nil {
		return h, fmt.Errorf("read %s of the queue: %w", e.Key(), err)
	}
	return h, nil
}

// Limited takes down that an agent of a home has said that it is at a limit, which lasts that long, or, 0,
// nobody knows how long.
func (b *Board) Limited(ctx context.Context, home, agent string, pause time.Duration, reason string) (l queue.Limit, err error) {
	key := limitKey(home, agent)
	for {
		l = queue.Limit{}
		revision, err := b.kept(ctx, key, &l)
		if err != nil {
			return l, err
		}
		l.Home, l.Agent = home, agent
		l = l.Again(b.Now(), pause, reason)
		again, err := b.keep(ctx, key, l, revision)
		if err != nil || !again {
			return l, err
		}
	}
}

// Unlimited takes down that an agent works again.
func (b *Board) Unlimited(ctx context.Context, home, agent string) error {
	if err := b.shared.Purge(ctx, limitKey(home, agent)); err != nil {
		return fmt.Errorf("write the end of a limit: %w", err)
	}
	return nil
}
