package browse

import (
	"fmt"

	"codeloops/internal/metrics"
)

// Cost is what a session has cost, as its agents report it: "-" when none does,
// with "≥" ahead when some turn's cost is not known. Nil is a session of which
// nothing is known.
func Cost(t *metrics.Tally) string {
	if t == nil {
		return "-"
	}
	sum := t.ActorUsage.Plus(t.CriticUsage)
	if sum.Priced == 0 {
		return "-"
	}
	text := fmt.Sprintf("$%.2f", sum.CostUSD)
	if sum.CostUSD > 0 && sum.CostUSD < 0.005 {
		text = "<$0.01"
	}
	if sum.Priced < t.ActorTurns+t.Asks {
		return "≥" + text
	}
	return text
}
