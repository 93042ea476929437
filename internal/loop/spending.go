package loop

// Usage is what a turn used. Unknown figures are nil.
type Usage struct {
	Tokens  *Tokens  `json:"tokens"`
	CostUSD *float64 `json:"cost_usd"`
	Rounds  *int     `json:"rounds"` // how many requests the model got

	// The agent did not report these figures: they are estimated from the length of the texts and
	// from the user's prices.
	TokensEstimated bool `json:"tokens_estimated,omitzero"`
	CostEstimated   bool `json:"cost_estimated,omitzero"`
}

// Tokens are token counts. Input excludes tokens that were read from a cache.
type Tokens struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	Reasoning  int64 `json:"reasoning"`
}

// All returns the number of tokens that are paid for: input, cache and output.
func (t Tokens) All() int64 { return t.Input + t.CacheRead + t.CacheWrite + t.Output }

// A Basis says how reliable a figure is. A sum is as reliable as its worst part.
type Basis string

// The bases. NoBasis is the basis of an empty sum.
const (
	NoBasis   Basis = ""
	Reported  Basis = "reported"  // by the agents
	Estimated Basis = "estimated" // from the length of texts and from prices
	Unknown   Basis = "unknown"   // a part is missing: the sum is too low
)

// And returns the basis of a sum of two figures.
func (b Basis) And(other Basis) Basis {
	for _, worst := range []Basis{Unknown, Estimated, Reported} {
		if b == worst || other == worst {
			return worst
		}
	}
	return NoBasis
}

func basis(known, estimated bool) Basis {
	switch {
	case !known:
		return Unknown
	case estimated:
		return Estimated
	}
	return Reported
}

// TokensBasis says how reliable the token count is.
func (u Usage) TokensBasis() Basis { return basis(u.Tokens != nil, u.TokensEstimated) }

// CostBasis says how reliable the cost is.
func (u Usage) CostBasis() Basis { return basis(u.CostUSD != nil, u.CostEstimated) }

// Spent is what turns have cost.
type Spent struct {
	Tokens      int64   `json:"tokens"` // as in [Tokens.All]
	TokensBasis Basis   `json:"tokens_basis"`
	CostUSD     float64 `json:"cost_usd"`
	CostBasis   Basis   `json:"cost_basis"`
}

// Plus returns the sum of s and t.
func (s Spent) Plus(t Spent) Spent {
	return Spent{
		Tokens: s.Tokens + t.Tokens, TokensBasis: s.TokensBasis.And(t.TokensBasis),
		CostUSD: s.CostUSD + t.CostUSD, CostBasis: s.CostBasis.And(t.CostBasis),
	}
}

// Spending is what turns have cost, by role.
type Spending struct {
	Actor  Spent `json:"actor"`
	Critic Spent `json:"critic"`
	Others Spent `json:"others,omitzero"` // a strategy's own roles
}

// Total returns what all roles have cost.
func (s Spending) Total() Spent { return s.Actor.Plus(s.Critic).Plus(s.Others) }

// Add adds the cost of a turn.
func (s *Spending) Add(role Role, t Turn) { s.add(role, costOf(t)) }

func (s *Spending) add(role Role, spent Spent) {
	switch role {
	case RoleActor:
		s.Actor = s.Actor.Plus(spent)
	case RoleCritic:
		s.Critic = s.Critic.Plus(spent)
	default:
		s.Others = s.Others.Plus(spent)
	}
}

// costOf returns the cost of a turn including its misses. A miss whose agent reports no cost
// counts as free.
func costOf(t Turn) (spent Spent) {
	for _, m := range t.Misses {
		spent = spent.Plus(m.Usage.known())
	}
	if !t.Blocked() {
		spent = spent.Plus(t.Usage.known()).Plus(Spent{TokensBasis: t.Usage.TokensBasis(), CostBasis: t.Usage.CostBasis()})
	}
	return spent
}

// known returns the known part of a turn's cost.
func (u Usage) known() Spent {
	var s Spent
	if u.Tokens != nil {
		s.Tokens, s.TokensBasis = u.Tokens.All(), u.TokensBasis()
	}
	if u.CostUSD != nil {
		s.CostUSD, s.CostBasis = *u.CostUSD, u.CostBasis()
	}
	return s
}
