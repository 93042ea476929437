package loop

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
		u.Tokens = &Tokens{
			Input:      max(0, u.Tokens.Input-v.Tokens.Input),
			Output:     max(0, u.Tokens.Output-v.Tokens.Output),
			CacheRead:  max(0, u.Tokens.CacheRead-v.Tokens.CacheRead),
			CacheWrite: max(0, u.Tokens.CacheWrite-v.Tokens.CacheWrite),
			Reasoning:  max(0, u.Tokens.Reasoning-v.Tokens.Reasoning),
		}
	}
	if u.CostUSD != nil && v.CostUSD != nil {
		u.CostUSD = new(max(0, *u.CostUSD-*v.CostUSD))
	}
	return u
}

func addKnown[T any](a, b *T, sum func(T, T) T) *T {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return new(sum(*a, *b))
}

// Plus returns the sum of t and o.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{
		Input: t.Input + o.Input, Output: t.Output + o.Output,
		CacheRead: t.CacheRead + o.CacheRead, CacheWrite: t.CacheWrite + o.CacheWrite,
		Reasoning: t.Reasoning + o.Reasoning,
	}
}
