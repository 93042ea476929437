package loop

// ProfileStrict is the profile of a run that takes nothing on trust.
const ProfileStrict = "strict"

// A Policy holds the settings of the rules that decide how a run ends, so that a log can be
// replayed to the same end. The zero value is a run without rules.
type Policy struct {
	Profile           string   // the profile that the settings started from; "" is the default
	ApprovalThreshold *float64 // the score that approves, 0 to 1; nil: scores decide nothing
	RequireChange     bool     // DONE needs a change
	// OpenFindings says what happens to a DONE that ignores open findings: "ask", "refuse", or ""
	// for nothing (logs older than the rule).
	OpenFindings string
	// LateFindings says how often late findings alone may prolong a run: "once", "never", or "" for
	// any number of times (logs older than the rule).
	LateFindings string
	NoAutoRevise bool   // the actor is not sent back to work
	OnViolation  string // "revise": work that breaks a rule goes back to the actor; "" ends the run
	// CriticDecisions are the decisions that a critic may make; empty: any.
	CriticDecisions []string
	// Critique holds the limits of a structured reply; nil: replies are free text.
	Critique *CritiquePolicy
	// Convergence says when a loop that makes no progress is warned and ended; nil: never.
	Convergence *ConvergencePolicy
	// Panel has several critics judge instead of one; nil: one critic.
	Panel *PanelPolicy
}

// A ConvergencePolicy says how often the same sign of no progress may appear.
type ConvergencePolicy struct {
	WarnAfter  int      // 0: never
	StopAfter  int      // 0: never
	Similarity *float64 // of two texts that counted as equal; only in older logs
}

// A CritiquePolicy limits a critic's structured reply.
type CritiquePolicy struct {
	RiskTypes          []string // risk types that a critic may name
	HighRiskTypes      []string // those of them that only a person may decide on
	MaxRisks           int      // 0: no limit
	MaxRequiredChanges int      // 0: no limit
	// Fallback says what happens if the actor does not make the required changes: "apply" them,
	// or "" for nothing.
	Fallback string
}
