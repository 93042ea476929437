package sessionview

import (
	"math"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/render"
)

// Spent is what a session has cost, as far as its agents report it.
type Spent struct {
	CostUSD *float64 `json:"cost_usd"`               // nil: no agent reports it
	Partly  bool     `json:"cost_partial,omitempty"` // the cost of some turn is unknown
	Tokens  *int64   `json:"tokens"`                 // input, cache and output; nil: no agent reports them
}

// spentBy adds up what a session has cost.
func spentBy(t *progress.Tally) (s Spent) {
	if t == nil {
		return s
	}
	sum := t.Actor.Usage.Plus(t.Critic.Usage)
	if sum.Priced > 0 {
		// Sums of rounded numbers are not round.
		s.CostUSD, s.Partly = new(math.Round(sum.CostUSD*1e6)/1e6), sum.Priced < t.Actor.Turns+t.Critic.Turns
	}
	if sum.Counted > 0 {
		s.Tokens = new(sum.Tokens.All())
	}
	s.others(t.Spent.Others)
	return s
}

// others adds the cost of the strategy's own turns.
func (s *Spent) others(o loop.Spent) {
	s.Partly = s.Partly || s.CostUSD != nil && o.CostBasis == loop.Unknown
	if o.CostUSD > 0 || o.CostBasis == loop.Reported || o.CostBasis == loop.Estimated {
		s.Partly = s.Partly || s.CostUSD == nil
		s.CostUSD = plus(s.CostUSD, new(math.Round(o.CostUSD*1e6)/1e6))
	}
	if o.Tokens > 0 {
		s.Tokens = plus(s.Tokens, &o.Tokens)
	}
}

// Cost writes what a session has cost: "-" if unknown, with a leading "≥" if the cost of some turn
// is unknown. t is nil if nothing is known of the session.
func Cost(t *progress.Tally) string {
	spent := spentBy(t)
	if spent.CostUSD == nil {
		return "-"
	}
	text := render.Dollars(*spent.CostUSD)
	if spent.Partly {
		return "≥" + text
	}
	return text
}

// Told says how reliable the figures of a session's cost are, at the end of a sentence.
func Told(t *progress.Tally) string {
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
