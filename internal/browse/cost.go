package browse

import (
	"fmt"
	"math"
	"strconv"

	"codeloops/internal/loop"
	"codeloops/internal/metrics"
	"codeloops/internal/render"
	"codeloops/internal/session"
)

// Spent is what a session has cost, as far as its agents tell.
type Spent struct {
	CostUSD *float64 // nil: none of them tells
	Partly  bool     // some turn's cost is not known
	Tokens  *int64   // input, cache and output; nil: none of them tells
}

// SpentBy adds up what a session has cost.
func SpentBy(o session.Overview) Spent { return spentBy(o.Tally) }

func spentBy(t *metrics.Tally) (s Spent) {
	if t == nil {
		return s
	}
	sum := t.ActorUsage.Plus(t.CriticUsage)
	if sum.Priced > 0 {
		// Sums of what has a few decimals have many.
		s.CostUSD, s.Partly = new(math.Round(sum.CostUSD*1e6)/1e6), sum.Priced < t.ActorTurns+t.Asks
	}
	if sum.Counted > 0 {
		k := sum.Tokens
		s.Tokens = new(k.Input + k.CacheRead + k.CacheWrite + k.Output)
	}
	return s
}

// Cost is what a session has cost: "-" when nobody knows, with "≥" ahead when some turn's cost is not known. Nil is a session of which
// nothing is known.
func Cost(t *metrics.Tally) string {
	spent := spentBy(t)
	if spent.CostUSD == nil {
		return "-"
	}
	text := dollars(*spent.CostUSD)
	if spent.Partly {
		return "≥" + text
	}
	return text
}

// Told is how good the figures of a session's cost are, for a sentence that has
// told them.
func Told(t *metrics.Tally) string {
	if t == nil {
		return ""
	}
	sum, spent := t.Spent.Total(), spentBy(t)
	basis := loop.NoBasis
	if spent.CostUSD != nil {
		basis = basis.And(sum.CostBasis)
	}
	if spent.Tokens != nil {
		basis = basis.And(sum.TokensBasis)
	}
	return render.Told(basis)
}

func dollars(usd float64) string {
	if usd > 0 && usd < 0.005 {
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", usd)
}

// tokens writes a count of tokens as a person would say it.
func tokens(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
