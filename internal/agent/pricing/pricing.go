// Package pricing estimates the cost of turns whose agent reports none.
package pricing

import (
	"context"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
)

// Prices are in US dollars per million tokens. The zero value means unknown.
type Prices struct {
	Input  float64
	Output float64
}

// An Estimator is an [agent.Player] that adds missing tokens and costs to its turns, and
// marks them as estimates. It is as safe for concurrent use as its Player.
//
// Missing tokens are estimated from the length of the prompt and of the output. The
// estimate is low, because it does not include what the agent read and thought. A missing
// cost is estimated if there are prices. Tokens read from a cache cost a tenth, those
// written to it a quarter more, as the large services charge.
type Estimator struct {
	Player agent.Player
	Prices Prices
}

// bytesPerToken is the usual ratio for English text and source code.
const bytesPerToken = 4

// Run plays a turn.
func (e *Estimator) Run(ctx context.Context, r agent.Request) (agent.Reply, error) {
	reply, err := e.Player.Run(ctx, r)
	if err != nil || reply.Blocked() {
		return reply, err
	}
	u := &reply.Usage
	switch {
	case u.Tokens != nil:
	case unanswered(reply):
		u.Tokens = &loop.Tokens{}
		u.TokensEstimated = true
	default:
		u.Tokens = &loop.Tokens{Input: tokens(int64(len(r.Prompt))), Output: tokens(printed(reply))}
		u.TokensEstimated = true
	}
	if u.CostUSD != nil && *u.CostUSD == 0 && !u.TokensEstimated && u.Tokens.All() > 0 {
		u.CostUSD = nil // CLIs say $0 of a model that they have no price for
	}
	if u.CostUSD == nil && e.Prices != (Prices{}) {
		cost := e.Prices.of(*u.Tokens)
		u.CostUSD, u.CostEstimated = &cost, true
	}
	return reply, nil
}

// unanswered reports whether a turn failed before the model said anything.
func unanswered(r agent.Reply) bool {
	return (r.Ending == loop.EndFailed || r.Ending.Stuck()) && printed(r) == 0
}

func printed(r agent.Reply) int64 {
	return max(r.Stdout.Total, int64(len(r.Stdout.Text)), int64(len(r.Text)))
}

func tokens(bytes int64) int64 { return (bytes + bytesPerToken - 1) / bytesPerToken }

func (p Prices) of(t loop.Tokens) float64 {
	const million, cached, caching = 1e6, 0.1, 1.25
	input := float64(t.Input) + cached*float64(t.CacheRead) + caching*float64(t.CacheWrite)
	return (input*p.Input + float64(t.Output)*p.Output) / million
}
