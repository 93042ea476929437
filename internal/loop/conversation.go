package loop

// A Conversation is an agent's own session over several turns.
type Conversation struct {
	ID    string   // the agent's own name for it; "" is none
	Agent AgentRef // whose it is
	Spent Usage    // what its turns have used, as far as it is known
}

// After returns the conversation that can be carried on when t is over: its
// own, or c where t did not get far enough to tell. One that has become too long
// for the model is given up, and so is one that could not be carried on.
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
	return Conversation{ID: t.Conversation, Agent: t.Agent, Spent: c.Spent.plus(t.Usage)}
}

// plus adds up what is known of both.
func (u Usage) plus(v Usage) Usage {
	return Usage{
		Tokens:  both(u.Tokens, v.Tokens, Tokens.Plus),
		CostUSD: both(u.CostUSD, v.CostUSD, func(a, b float64) float64 { return a + b }),
		Rounds:  both(u.Rounds, v.Rounds, func(a, b int) int { return a + b }),
	}
}

// Less returns what of u is not in v, as far as both are known, and nothing
// below zero. Rounds stay: no agent adds them up over its turns.
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
		left := max(0, *u.CostUSD-*v.CostUSD)
		u.CostUSD = &left
	}
	return u
}

func both[T any](a, b *T, sum func(T, T) T) *T {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	s := sum(*a, *b)
	return &s
}

// Plus adds up both.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{
		Input: t.Input + o.Input, Output: t.Output + o.Output,
		CacheRead: t.CacheRead + o.CacheRead, CacheWrite: t.CacheWrite + o.CacheWrite,
		Reasoning: t.Reasoning + o.Reasoning,
	}
}
