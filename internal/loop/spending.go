package loop

// Usage is what a turn cost. What is not known is nil.
type Usage struct {
	Tokens  *Tokens
	CostUSD *float64
	Rounds  *int // how often the model was asked

	// The agent did not report these: they follow from the length of the
	// texts, and from prices that the user gave.
	TokensEstimated bool
	CostEstimated   bool
}

// Tokens are counts of tokens. Input does not hold those read from a cache.
type Tokens struct {
	Input      int64
	Output     int64
	CacheRead  int64
	CacheWrite int64
	Reasoning  int64
}

// All returns the tokens that are paid for: input, cache and output.
func (t Tokens) All() int64 { return t.Input + t.CacheRead + t.CacheWrite + t.Output }

// A Basis says how good a figure is. A sum is as good as its worst part.
type Basis string

// The bases. NoBasis is that of a sum of nothing.
const (
	NoBasis   Basis = ""
	Reported  Basis = "reported"  // by the agents
	Estimated Basis = "estimated" // from the length of texts, and prices
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

// TokensBasis says how good the count of tokens is.
func (u Usage) TokensBasis() Basis { return basis(u.Tokens != nil, u.TokensEstimated) }

// CostBasis says how good the cost is.
func (u Usage) CostBasis() Basis { return basis(u.CostUSD != nil, u.CostEstimated) }

// Spent is what turns have cost.
type Spent struct {
	Tokens      int64 // as in [Tokens.All]
	CostUSD     float64
	TokensBasis Basis
	CostBasis   Basis
}

// Plus returns the sum of both.
func (s Spent) Plus(t Spent) Spent {
	return Spent{
		Tokens: s.Tokens + t.Tokens, TokensBasis: s.TokensBasis.And(t.TokensBasis),
		CostUSD: s.CostUSD + t.CostUSD, CostBasis: s.CostBasis.And(t.CostBasis),
	}
}

// Spending is what the turns of each role have cost.
type Spending struct {
	Actor  Spent
	Critic Spent
	Others Spent // roles of a strategy's own
}

// Total returns what all roles have cost.
func (s Spending) Total() Spent { return s.Actor.Plus(s.Critic).Plus(s.Others) }

// Add adds a turn.
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

// roleSpending is what the turns of each role have cost that is neither actor nor critic.
type roleSpending map[Role]Spent

func (s *roleSpending) add(role Role, spent Spent) {
	if role == RoleActor || role == RoleCritic {
		return
	}
	if *s == nil {
		*s = roleSpending{}
	}
	(*s)[role] = (*s)[role].Plus(spent)
}

// costOf returns what a turn has cost with its misses. A try that came to nothing and whose
// agent reports no cost has cost nothing.
func costOf(t Turn) (spent Spent) {
	for _, m := range t.Misses {
		spent = spent.Plus(m.Usage.known())
	}
	if !t.Blocked() {
		spent = spent.Plus(t.Usage.known()).Plus(Spent{TokensBasis: t.Usage.TokensBasis(), CostBasis: t.Usage.CostBasis()})
	}
	return spent
}

// known returns what is known of a turn's cost.
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
