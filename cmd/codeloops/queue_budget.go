package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/config"
	"codeloops/internal/queue"
	"codeloops/internal/wording"
)

// budgetFlags are those of the budget of a queue.
type budgetFlags struct{ cost, tokens, time string }

func (f *budgetFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.cost, "budget-cost", "", "all tasks of this repository together may cost this many US `dollars`; 0 is no limit. It is kept with the queue (--max-cost is about each task that is added)")
	flags.StringVar(&f.tokens, "budget-tokens", "", "the same in tokens: `n`, such as 500k or 2M")
	flags.StringVar(&f.time, "budget-time", "", "the same in the `time` that agents are at work, all turns added up, such as 8h")
	manual.Under("Queue", flags, "budget-cost", "budget-tokens", "budget-time")
}

// change is what the flags say.
func (f *budgetFlags) change() (c queue.BudgetChange, err error) {
	for _, part := range []struct {
		flag, said, like string
		read             func(string) (float64, error)
		to               **float64
	}{
		{"budget-cost", f.cost, "a number of US dollars", number, &c.Dollars},
		{"budget-tokens", f.tokens, "a number of tokens, such as 500k or 2M", tokens, &c.Tokens},
		{"budget-time", f.time, "a span of time, such as 8h", seconds, &c.Seconds},
	} {
		if part.said == "" {
			continue
		}
		n, err := part.read(part.said)
		if err != nil || !(n >= 0) || math.IsInf(n, 0) {
			return c, usagef("0 is no limit", "--%s must be %s, not %q", part.flag, part.like, part.said)
		}
		*part.to = &n
	}
	return c, nil
}

func number(text string) (float64, error) {
	return strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
}

func tokens(text string) (float64, error) {
	for unit, times := range map[string]float64{"k": 1e3, "M": 1e6} {
		if n, ok := strings.CutSuffix(text, unit); ok {
			value, err := strconv.ParseFloat(n, 64)
			return value * times, err
		}
	}
	n, err := strconv.ParseUint(text, 10, 53)
	return float64(n), err
}

func seconds(text string) (float64, error) {
	if text == "0" {
		return 0, nil
	}
	d, err := config.ParseDuration(text)
	return d.Seconds(), err
}

// spell is a limit as flags.
func spell(a queue.Amount) string {
	var all []string
	if a.Dollars > 0 {
		all = append(all, "--budget-cost "+strconv.FormatFloat(a.Dollars, 'f', -1, 64))
	}
	if a.Tokens > 0 {
		all = append(all, "--budget-tokens "+strconv.FormatFloat(a.Tokens, 'f', -1, 64))
	}
	if a.Seconds > 0 {
		all = append(all, "--budget-time "+wording.Shell((time.Duration(a.Seconds)*time.Second).String()))
	}
	return strings.Join(all, " ")
}

// overBudget says that tasks are left for want of budget, and how they go on.
func (b *backlog) overBudget(budget queue.Budget) {
	raise := spell(budget.Raise())
	if raise == "" {
		raise = spell(budget.Limit)
	}
	fmt.Fprintf(b.app.Err, "over budget: %s\nto go on: codeloops queue run %s\n", budget.Over, raise) //nolint:errcheck // a courtesy
}

// budgets are those of the tasks, without what is reserved for turns that nobody plays any more.
func (b *backlog) budgets(ctx context.Context, all queue.Backlog) (of []queue.Budget, holds *queue.Holds, err error) {
	if holds, err = b.on.Ledger.Holds(ctx, b.home.ID()); err != nil {
		return nil, nil, err
	}
	there := map[string]bool{}
	if here, err := b.repository(); err == nil {
		there[here.Key()] = true
	}
	for _, r := range all {
		there[r.Task.Repository.Key()] = true
	}
	for key, budget := range holds.Budgets {
		if !there[key] || !budget.Any() {
			continue
		}
		budget.Reserved = slices.Clone(budget.Reserved)
		budget.Release(func(r queue.Reservation) bool { return !r.Stands(all[r.Task]) })
		of = append(of, budget)
	}
	slices.SortFunc(of, func(x, y queue.Budget) int { return strings.Compare(x.Repository.Root, y.Repository.Root) })
	return of, holds, nil
}

// budgetHere is the budget of the repository where the user stands.
func (b *backlog) budgetHere(ctx context.Context) (queue.Budget, error) {
	here, err := b.repository()
	if err != nil {
		return queue.Budget{}, err
	}
	return b.on.Ledger.Budget(ctx, here)
}
