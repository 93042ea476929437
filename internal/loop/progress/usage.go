package progress

import "codeloops/internal/loop"

// A Usage is what the turns of one role came to, as far as agents tell. The
// sums hold what is known: a turn that was cut, or whose agent keeps silent,
// has cost something, too.
type Usage struct {
	Tokens  loop.Tokens
	CostUSD float64
	Rounds  int // how often the model was asked

	Counted int // turns whose tokens are known
	Priced  int // turns whose cost is known
}

// turn adds a turn, with the tries at it that came to nothing; those are no
// turns of their own.
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

// Plus returns the sum of both, of the two roles for example.
func (u Usage) Plus(v Usage) Usage {
	u.Tokens = u.Tokens.Plus(v.Tokens)
	u.CostUSD += v.CostUSD
	u.Rounds += v.Rounds
	u.Counted += v.Counted
	u.Priced += v.Priced
	return u
}
