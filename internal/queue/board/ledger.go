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

// A Ledger stores the budgets of repositories and the limits of agents. It is safe for concurrent use.
type Ledger struct {
	kept *bucket
	now  func() time.Time // the hub's time
}

// openLedger opens a board's ledger, and rejects the data of another version.
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
		return nil, hint.Errorf("use the same version of codeloops as the hub",
			"the backlog has version %s, but this codeloops needs version %s", was, schema)
	}
	return &Ledger{&bucket{kept, b.server, "the budgets", func(key string) string { return key + " of the queue" }}, b.Now}, nil
}

// Prefixes of keys.
const (
	budgets = "budget."
	limits  = "limit."
)

func limitKey(home, agent string) string {
	sum := sha256.Sum256([]byte(agent)) // a name may hold any character
	return limits + home + "." + hex.EncodeToString(sum[:8])
}

// Budget returns the budget of a repository, without limits where none is set.
func (l *Ledger) Budget(ctx context.Context, of queue.Repository) (budget queue.Budget, err error) {
	budget, _, err = kept[queue.Budget](ctx, l.kept, budgets+of.Key())
	budget.Repository = of
	return budget, err
}

// ChangeBudget changes a budget, as [Board.Change] does a record.
func (l *Ledger) ChangeBudget(ctx context.Context, of queue.Repository, change func(*queue.Budget) error) (queue.Budget, error) {
	budget, _, err := changed(ctx, l.kept, budgets+of.Key(), func(b *queue.Budget, _ uint64) error {
		b.Repository = of
		return change(b)
	})
	return budget, err
}

// Holds returns the current budgets, and the limits of a home.
func (l *Ledger) Holds(ctx context.Context, home string) (all *queue.Holds, err error) {
	err = l.kept.list(ctx, func() { all = &queue.Holds{} }, func(e jetstream.KeyValueEntry) (err error) {
		all, err = l.with(all, e, home)
		return err
	})
	return all, err
}

// FollowHolds calls changed with all budgets and the limits of a home, once all are known and then after each
// change. The value is not modified afterwards. It returns as [Board.Follow] does.
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

// with applies an entry to a copy.
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

// Limited records that an agent of a home has reached a limit, for a pause; 0 is unknown.
func (l *Ledger) Limited(ctx context.Context, home, agent string, pause time.Duration, reason string) (queue.Limit, error) {
	limit, _, err := changed(ctx, l.kept, limitKey(home, agent), func(limit *queue.Limit, _ uint64) error {
		limit.Home, limit.Agent = home, agent
		*limit = limit.Again(l.now(), pause, reason)
		return nil
	})
	return limit, err
}

// Unlimited records that an agent works again.
func (l *Ledger) Unlimited(ctx context.Context, home, agent string) error {
	if err := l.kept.Purge(ctx, limitKey(home, agent)); err != nil {
		return fmt.Errorf("write the end of a limit: %w", err)
	}
	return nil
}
