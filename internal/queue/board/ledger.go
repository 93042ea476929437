package board

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue"
	"codeloops/internal/wording/hint"
)

// A Ledger keeps what holds tasks back that is no matter of one of them: the budgets of repositories and
// the limits of agents. It is safe for concurrent use.
type Ledger struct {
	kept *bucket
	now  func() time.Time // at the hub
}

// openLedger opens that of a board, and refuses one that another version has written.
func openLedger(ctx context.Context, b *Board) (*Ledger, error) {
	kept, err := b.js.KeyValue(ctx, settings)
	if err != nil {
		return nil, err
	}
	e, err := kept.Get(ctx, schemaKey)
	if err != nil {
		return nil, err
	}
	if was := string(e.Value()); was != schema {
		return nil, hint.Errorf("use the version of codeloops that the hub has, here as well",
			"the backlog is of version %s, and this codeloops knows version %s", was, schema)
	}
	return &Ledger{&bucket{kept, b.server, "the budgets", func(key string) string { return key + " of the queue" }}, b.Now}, nil
}

// Keys of what is kept.
const (
	budgets = "budget."
	limits  = "limit."
)

func limitKey(home, agent string) string {
	sum := sha256.Sum256([]byte(agent)) // whose name may be anything
	return limits + home + "." + hex.EncodeToString(sum[:8])
}

// Budget is that of the tasks of a repository; one without any limit where nobody has set one.
func (l *Ledger) Budget(ctx context.Context, of queue.Repository) (budget queue.Budget, err error) {
	budget, _, err = kept[queue.Budget](ctx, l.kept, budgets+of.Key())
	budget.Repository = of
	return budget, err
}

// ChangeBudget changes a budget by its revision, as [Board.Change] does a record.
func (l *Ledger) ChangeBudget(ctx context.Context, of queue.Repository, change func(*queue.Budget) error) (queue.Budget, error) {
	budget, _, err := changed(ctx, l.kept, budgets+of.Key(), func(b *queue.Budget, _ uint64) error {
		b.Repository = of
		return change(b)
	})
	return budget, err
}

// Holds are the budgets and limits that there are now, for a home.
func (l *Ledger) Holds(ctx context.Context, home string) (all *queue.Holds, err error) {
	err = l.kept.list(ctx, func() { all = &queue.Holds{} }, func(e jetstream.KeyValueEntry) (err error) {
		all, err = l.with(all, e, home)
		return err
	})
	return all, err
}

// FollowHolds tells of all budgets and limits, for a home, once they are known and then each time that
// one changes. What it tells is not changed afterwards. It returns as [Board.Follow] does.
func (l *Ledger) FollowHolds(ctx context.Context, home string, changed func(*queue.Holds)) error {
	h, whole := &queue.Holds{}, false
	return l.kept.watch(ctx, func(e jetstream.KeyValueEntry) (err error) {
		if e == nil {
			whole = true
		} else if h, err = l.with(h, e, home); err != nil {
			return err
		}
		if whole {
			changed(h)
		}
		return nil
	})
}

// with is what holds tasks back once something has changed.
func (l *Ledger) with(h *queue.Holds, e jetstream.KeyValueEntry, home string) (*queue.Holds, error) {
	h = h.Clone()
	var err error
	switch key := e.Key(); {
	case e.Operation() != jetstream.KeyValuePut:
		maps.DeleteFunc(h.Limits, func(agent string, _ queue.Limit) bool { return limitKey(home, agent) == key })
	case strings.HasPrefix(key, budgets):
		h.Budgets[strings.TrimPrefix(key, budgets)], err = decoded[queue.Budget](l.kept, e)
	case strings.HasPrefix(key, limits+home+"."):
		var limit queue.Limit
		limit, err = decoded[queue.Limit](l.kept, e)
		limit.Until = e.Created().Add(time.Duration(limit.Seconds * float64(time.Second))).Local()
		h.Limits[limit.Agent] = limit
	}
	return h, err
}

// Limited takes down that an agent of a home has said that it is at a limit, which lasts that long, or, 0,
// nobody knows how long.
func (l *Ledger) Limited(ctx context.Context, home, agent string, pause time.Duration, reason string) (queue.Limit, error) {
	limit, _, err := changed(ctx, l.kept, limitKey(home, agent), func(limit *queue.Limit, _ uint64) error {
		limit.Home, limit.Agent = home, agent
		*limit = limit.Again(l.now(), pause, reason)
		return nil
	})
	return limit, err
}

// Unlimited takes down that an agent works again.
func (l *Ledger) Unlimited(ctx context.Context, home, agent string) error {
	if err := l.kept.Purge(ctx, limitKey(home, agent)); err != nil {
		return fmt.Errorf("write the end of a limit: %w", err)
	}
	return nil
}
