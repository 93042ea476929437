package loop

// ProfileStrict is the profile of a run that takes nothing on trust.
const ProfileStrict = "strict"

// A Policy is what the rules of a run are set to, as far as it has to be known
// to come to the same end again from a log. The zero value is a run without
// rules of its own.
type Policy struct {
	Profile           string   // what the settings began with; "" is the default
	ApprovalThreshold *float64 // the score that approves, 0 to 1; nil: a score decides nothing
	RequireChange     bool     // DONE needs a change
	// OpenFindings is what becomes of a DONE that passes over open findings: "ask",
	// "refuse", or "" for nothing, as in logs that are older than the rule.
	OpenFindings string
	NoAutoRevise bool   // the actor is not sent to work again
	OnViolation  string // "revise": work that breaks a rule goes back to the actor; "" ends the run
	// CriticDecisions are the words that a critic may decide with; none: any.
	CriticDecisions []string
	// Critique is what a structured reply must keep; nil: replies are free.
	Critique *CritiquePolicy
	// Convergence is when a loop that makes no progress is warned and ended; nil:
	// never.
	Convergence *ConvergencePolicy
	// Panel: several critics judge in the place of one; nil: one does.
	Panel *PanelPolicy
}

// A ConvergencePolicy is how often the same sign that a loop makes no progress
// may show.
type ConvergencePolicy struct {
	WarnAfter  int      // 0: never
	StopAfter  int      // 0: never
	Similarity *float64 // 0 to 1, from when on two texts say the same; nil: as the code has it
}

// A CritiquePolicy is what a critic's structured reply must keep.
type CritiquePolicy struct {
	RiskTypes          []string // that it may name
	HighRiskTypes      []string // those of them that only a person may decide on
	MaxRisks           int      // 0: no limit
	MaxRequiredChanges int      // 0: no limit
	// Fallback is what is done when the actor does not make the changes that are
	// required: "apply", or "" for nothing.
	Fallback string
}
