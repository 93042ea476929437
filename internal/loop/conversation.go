package loop

import "cmp"

// A Conversation is an agent's own session over several turns.
type Conversation struct {
	ID    string   // the agent's own name for it; "": none
	Agent AgentRef // whose it is
	Spent Usage    // what its turns have used, as far as known
}

// After returns the conversation that can be continued after t: t's own, or c if t did not get
// far enough to report one. A conversation that is too long for the model, or that could not be
// continued, is given up.
func (c Conversation) After(t Turn) Conversation {
	switch {
	case t.Ending == EndContextTooLong:
		return Conversation{}
	case t.Conversation == "" && (t.Blocked() || t.Resumed && t.Ending != EndFailed):
		return c
	case t.Conversation == "":
		return Conversation{}
	case !t.Resumed:
		c = Conversation{}
	}
	return Conversation{ID: t.Conversation, Agent: t.Agent, Spent: c.Spent.Plus(t.Usage)}
}

// Plus adds up what is known of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Tokens:  addKnown(u.Tokens, v.Tokens, Tokens.Plus),
		CostUSD: addKnown(u.CostUSD, v.CostUSD, func(a, b float64) float64 { return a + b }),
		Rounds:  addKnown(u.Rounds, v.Rounds, func(a, b int) int { return a + b }),
	}
}

// Less subtracts v from u where both are known, stopping at zero. Rounds stay as they are,
// because no agent accumulates them over its turns.
func (u Usage) Less(v Usage) Usage {
	if u.Tokens != nil && v.Tokens != nil {
		u.Tokens = new(u.Tokens.with(*v.Tokens, func(a, b int64) int64 { return max(0, a-b) }))
	}
	if u.CostUSD != nil && v.CostUSD != nil {
		u.CostUSD = new(max(0, *u.CostUSD-*v.CostUSD))
	}
	return u
}

func addKnown[T any](a, b *T, sum func(T, T) T) *T {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return new(sum(*a, *b))
}

// Plus returns the sum of t and o.
func (t Tokens) Plus(o Tokens) Tokens {
	return t.with(o, func(a, b int64) int64 { return a + b })
}

// with calculates each count from those of t and o.
func (t Tokens) with(o Tokens, of func(a, b int64) int64) Tokens {
	return Tokens{
		Input: of(t.Input, o.Input), Output: of(t.Output, o.Output),
		CacheRead: of(t.CacheRead, o.CacheRead), CacheWrite: of(t.CacheWrite, o.CacheWrite),
		Reasoning: of(t.Reasoning, o.Reasoning),
	}
}
