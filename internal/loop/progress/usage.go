package progress

import "codeloops/internal/loop"

// A Usage is the sum of what one role's turns reported. It is a lower bound: interrupted turns
// and silent agents have costs, too.
type Usage struct {
	Tokens  loop.Tokens
	CostUSD float64
	Rounds  int // requests to the model

	Counted int // turns with known tokens
	Priced  int // turns with known cost
}

// turn adds a turn including its misses, which do not count as turns.
func (u *Usage) turn(t loop.Turn) {
	counted, priced := u.Counted, u.Priced
	for _, m := range t.Misses {
		u.add(m.Usage)
	}
	u.Counted, u.Priced = counted, priced
	u.add(t.Usage)
}

func (u *Usage) add(turn loop.Usage) {
	if t := turn.Tokens; t != nil {
		u.Counted++
		u.Tokens = u.Tokens.Plus(*t)
	}
	if turn.CostUSD != nil {
		u.Priced++
		u.CostUSD += *turn.CostUSD
	}
	if turn.Rounds != nil {
		u.Rounds += *turn.Rounds
	}
}

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	u.Tokens = u.Tokens.Plus(v.Tokens)
	u.CostUSD += v.CostUSD
	u.Rounds += v.Rounds
	u.Counted += v.Counted
	u.Priced += v.Priced
	return u
}
