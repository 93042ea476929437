package board

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue"
	"codeloops/internal/wording/hint"
)

// A Ledger stores the budgets of repositories. It is safe for concurrent use.
type Ledger struct{ kept *bucket }

// openLedger opens a board's ledger.
func openLedger(ctx context.Context, b *Board) (*Ledger, error) {
	kept, err := b.js.KeyValue(ctx, settings)
	if errors.Is(err, jetstream.ErrBucketNotFound) { // it is made before that of the records
		err = hint.Errorf(whatToDo, "the hub has lost the budgets: files of its store are gone")
	}
	if err != nil {
		return nil, err
	}
	return &Ledger{&bucket{kept, b.server, "the budgets", func(key string) string { return key + " of the queue" }}}, nil
}

// fits rejects the data of another version, which a hub may have got while this process was connected to it.
func (l *Ledger) fits(ctx context.Context) error {
	e, err := l.kept.Get(ctx, schemaKey)
	if err != nil {
		return err
	}
	if was := string(e.Value()); was != schema {
		return hint.Errorf("use the same version of codeloops as the hub, here or there",
			"the backlog has version %s, but this codeloops needs version %s", was, schema)
	}
	return nil
}

// budgets is the prefix of the keys of budgets.
const budgets = "budget."

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

// Budgets returns the current budgets.
func (l *Ledger) Budgets(ctx context.Context) (all queue.Budgets, err error) {
	err = l.kept.list(ctx, func() { all = queue.Budgets{} }, func(e jetstream.KeyValueEntry) error { return l.read(all, e) })
	return all, err
}

// FollowBudgets calls changed with all budgets, once all are known and then after each change. The value is not modified
// afterwards. It returns as [Board.Follow] does.
func (l *Ledger) FollowBudgets(ctx context.Context, changed func(queue.Budgets)) error {
	all, whole := queue.Budgets{}, false
	return l.kept.watch(ctx, func(e jetstream.KeyValueEntry) error {
		if e == nil {
			whole = true
		} else if err := l.read(all, e); err != nil {
			return err
		}
		if whole {
			changed(maps.Clone(all))
		}
		return nil
	})
}

// read adds what an entry says of a budget.
func (l *Ledger) read(all queue.Budgets, e jetstream.KeyValueEntry) (err error) {
	if key, is := strings.CutPrefix(e.Key(), budgets); is {
		all[key], err = decoded[queue.Budget](l.kept, e)
	}
	return err
}
