package pricing_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/agent"
	"codeloops/internal/agent/pricing"
	"codeloops/internal/loop"
)

// told is an agent that always gives the same reply.
type told struct {
	reply agent.Reply
	err   error
}

func (t told) Run(context.Context, agent.Request) (agent.Reply, error) { return t.reply, t.err }

func TestUsage(t *testing.T) {
	t.Parallel()
	prices := pricing.Prices{Input: 3, Output: 15}
	reported := loop.Tokens{Input: 1000, Output: 100, CacheRead: 10_000, CacheWrite: 400, Reasoning: 50}
	silent := loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}, Execution: loop.Execution{Stdout: loop.Output{Text: "end", Total: 4001}}}
	for name, c := range map[string]struct {
		turn   loop.Turn
		prices pricing.Prices
		want   loop.Usage
	}{
		"all reported": {
			loop.Turn{Try: loop.Try{Usage: loop.Usage{Tokens: &reported, CostUSD: new(0.5)}}},
			prices,
			loop.Usage{Tokens: &reported, CostUSD: new(0.5)},
		},
		"no cost": {
			loop.Turn{Try: loop.Try{Usage: loop.Usage{Tokens: &reported}}},
			prices,
			loop.Usage{Tokens: &reported, CostUSD: new(0.009), CostEstimated: true},
		},
		"$0 for tokens": {
			loop.Turn{Try: loop.Try{Usage: loop.Usage{Tokens: &reported, CostUSD: new(0.0)}}},
			prices,
			loop.Usage{Tokens: &reported, CostUSD: new(0.009), CostEstimated: true},
		},
		"$0 for tokens, no prices": {
			loop.Turn{Try: loop.Try{Usage: loop.Usage{Tokens: &reported, CostUSD: new(0.0)}}},
			pricing.Prices{},
			loop.Usage{Tokens: &reported},
		},
		"$0 for nothing": {
			loop.Turn{Try: loop.Try{Usage: loop.Usage{Tokens: &loop.Tokens{}, CostUSD: new(0.0)}}},
			prices,
			loop.Usage{Tokens: &loop.Tokens{}, CostUSD: new(0.0)},
		},
		"no prices": {
			loop.Turn{Try: loop.Try{Usage: loop.Usage{Tokens: &reported}}},
			pricing.Prices{},
			loop.Usage{Tokens: &reported},
		},
		"nothing": {
			silent, prices,
			loop.Usage{
				Tokens: &loop.Tokens{Input: 250, Output: 1001}, CostUSD: new(0.015765),
				TokensEstimated: true, CostEstimated: true,
			},
		},
		"a price without tokens": {
			loop.Turn{Execution: loop.Execution{Stdout: silent.Stdout}, Try: loop.Try{Usage: loop.Usage{CostUSD: new(0.25), Rounds: new(2)}}},
			prices,
			loop.Usage{
				Tokens: &loop.Tokens{Input: 250, Output: 1001}, CostUSD: new(0.25), Rounds: new(2),
				TokensEstimated: true,
			},
		},
		"never answered": {
			loop.Turn{Try: loop.Try{Ending: loop.EndOverloaded}},
			prices,
			loop.Usage{Tokens: &loop.Tokens{}, CostUSD: new(0.0), TokensEstimated: true, CostEstimated: true},
		},
		"blocked": {loop.Turn{Try: loop.Try{Ending: loop.EndAuth}}, prices, loop.Usage{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := pricing.Estimator{Player: told{reply: agent.Reply{Turn: c.turn}}, Prices: c.prices}
			reply, err := a.Run(t.Context(), agent.Request{Prompt: strings.Repeat("x", 1000)})
			got := reply.Usage
			if got.CostUSD != nil {
				got.CostUSD = new(math.Round(*got.CostUSD*1e9) / 1e9)
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

// TestErrorsPass: the player's error is returned, without an estimate.
func TestErrorsPass(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	a := pricing.Estimator{Player: told{err: broken}}
	if reply, err := a.Run(t.Context(), agent.Request{}); !errors.Is(err, broken) || reply.Usage != (loop.Usage{}) {
		t.Errorf("got %+v, %v", reply, err)
	}
}
