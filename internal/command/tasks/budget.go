package tasks

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/manual"
	"codeloops/internal/config"
	"codeloops/internal/queue"
	"codeloops/internal/wording/hint"
)

// budgetFlags are the flags of a queue's budget.
type budgetFlags struct{ cost, tokens, time string }

func (f *budgetFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.cost, "budget-cost", "", "limit for all tasks of this repository together, in US `dollars`; 0 is no limit. It is kept with the queue (--max-cost limits each added task)")
	flags.StringVar(&f.tokens, "budget-tokens", "", "the same limit in tokens: `n`, such as 500k or 2M")
	flags.StringVar(&f.time, "budget-time", "", "the same limit on the working `time` of the agents, summed over all turns, such as 8h")
	manual.Group("Queue", flags, "budget-cost", "budget-tokens", "budget-time")
}

// changes parses the flags that are set.
func (f *budgetFlags) changes(set func(flag string) bool) (all []func(limit *queue.Amount), err error) {
	for _, part := range []struct {
		flag, said, like, example string
		read                      func(string) (float64, error)
		most                      float64 // that people can read
		to                        func(limit *queue.Amount, to float64)
	}{
		{"budget-cost", f.cost, "a number of US dollars", "20", number, 1e9, func(a *queue.Amount, to float64) { a.Dollars = to }},
		{"budget-tokens", f.tokens, "a number of tokens, such as 500k or 2M", "500k", tokens, 1e12, func(a *queue.Amount, to float64) { a.Tokens = to }},
		{"budget-time", f.time, "a span of time, such as 8h", "8h", seconds, 1e12, func(a *queue.Amount, to float64) { a.Seconds = to }},
	} {
		if !set(part.flag) {
			continue
		}
		n, err := part.read(part.said)
		if err != nil || !(n >= 0 && n <= part.most) {
			return nil, hint.Errorf("such as --"+part.flag+" "+part.example+"; 0 is no limit", "--%s must be %s, not %q", part.flag, part.like, part.said)
		}
		all = append(all, func(limit *queue.Amount) { part.to(limit, n) })
	}
	return all, nil
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

// overBudget says that tasks are left because of the budget, and how to go on; "" where it suffices.
func overBudget(b queue.Budget) string {
	why, _ := b.Over()
	if why == "" {
		return ""
	}
	return fmt.Sprintf("over budget: %s\nto go on: codeloops queue run, with a higher --budget-cost, --budget-tokens or --budget-time\n", why)
}
